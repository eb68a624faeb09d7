"""Tests of rltui.logs.discovery."""

"""Tests of rltui.logs.remote."""

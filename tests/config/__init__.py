"""Tests of rltui.config."""

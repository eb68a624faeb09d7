"""Tests of rltui.session."""

"""Tests of rltui.data."""

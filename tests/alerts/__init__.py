"""Tests of rltui.alerts."""

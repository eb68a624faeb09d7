"""Tests of rltui.rules."""

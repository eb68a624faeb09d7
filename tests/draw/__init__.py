"""Tests of rltui.draw."""

"""Tests of rltui.spans."""

"""Tests of rltui.panes."""

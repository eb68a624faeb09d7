"""Tests of rltui.cli: commands as people and scripts call them."""

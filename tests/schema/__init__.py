"""Tests of rltui.schema."""

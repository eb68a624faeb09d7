"""Tests of rltui.store."""

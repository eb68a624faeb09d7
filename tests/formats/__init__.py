"""Tests of rltui.logs.formats and rltui.logs.records."""

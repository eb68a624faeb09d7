"""Tests of rltui.metrics."""

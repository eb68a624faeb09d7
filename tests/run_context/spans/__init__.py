"""Tests of rltui.run_context.spans."""

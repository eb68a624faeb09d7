"""Tests of rltui.logs.follow."""

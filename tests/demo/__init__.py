"""Tests of rltui.demo."""

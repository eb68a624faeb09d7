"""Tests of rltui.screen, without and with a terminal."""

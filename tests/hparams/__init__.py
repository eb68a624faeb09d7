"""Tests of rltui.hparams."""

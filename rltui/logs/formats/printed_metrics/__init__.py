"""Metrics among the lines of a console."""

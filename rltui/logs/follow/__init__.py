"""Follows log files while they grow."""

"""Logs as programs write them, while they grow and where they fail."""

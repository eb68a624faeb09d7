"""Spans in files near the logs: what ran when within a step."""

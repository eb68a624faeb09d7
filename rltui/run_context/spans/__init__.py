"""Spans of steps beside the logs."""

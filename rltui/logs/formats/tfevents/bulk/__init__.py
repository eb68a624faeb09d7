"""Many records at once, as numpy columns."""

"""Consoles beside a run: their lines, and the failures that they tell of."""

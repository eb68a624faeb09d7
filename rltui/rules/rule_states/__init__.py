"""Rules evaluated over series."""

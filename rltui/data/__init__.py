"""TOML data files and how they are read."""

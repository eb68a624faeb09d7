"""Schemas of TOML files: fields, reading and checking files, and caching the result."""

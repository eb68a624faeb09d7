"""Helpers for all folders: array types, problems, sanitised text, paths, threads, regular expressions."""

"""Formats of lines: JSON lines, tables, samples; how lines are read from a file that grows."""

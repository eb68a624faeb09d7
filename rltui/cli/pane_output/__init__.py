"""Panes as text, ANSI, Markdown, SVG, PNG and JSON."""

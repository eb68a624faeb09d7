"""Panes without a terminal: text, ANSI, Markdown, SVG, PNG, JSON."""

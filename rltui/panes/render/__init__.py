"""Panes as lines of cells, text, Markdown, SVG and JSON."""

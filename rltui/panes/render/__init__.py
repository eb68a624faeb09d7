"""Output formats of panes and reports: lines of cells, text, Markdown, HTML, SVG, JSON."""

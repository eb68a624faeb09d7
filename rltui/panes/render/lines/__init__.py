"""Parts of a pane as lines of cells; special panes also as Markdown and JSON."""

"""Parts of a pane as lines of text with roles."""

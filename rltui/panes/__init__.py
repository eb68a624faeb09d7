"""What a pane shows, as data, and the same as text, Markdown, ANSI and SVG: no Textual in it."""

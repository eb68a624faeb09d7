"""Commands that show panes: in the terminal, of a recording, as a document."""

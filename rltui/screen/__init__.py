"""The monitor: one Textual widget of lines, the keys, and what is sent to the terminal."""

"""Everything that knows Textual's and the terminal's insides."""

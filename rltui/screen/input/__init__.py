"""Keys, mouse, and text that is typed."""

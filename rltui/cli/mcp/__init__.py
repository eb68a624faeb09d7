"""The server for agents over standard input and output (Model Context Protocol)."""

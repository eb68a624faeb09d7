"""Output about runs, as JSON documents and as text, of check, compare and runs."""

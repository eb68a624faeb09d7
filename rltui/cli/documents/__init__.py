"""Output about runs, as JSON documents and as text, of check and compare."""

"""Commands in this process and in one of their own."""

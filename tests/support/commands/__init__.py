"""Running commands in this process and in child processes."""

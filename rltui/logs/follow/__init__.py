"""Following log files while they grow."""

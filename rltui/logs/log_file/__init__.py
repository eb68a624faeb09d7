"""The state of one log file: its reader, format, identity and errors."""

"""The formats of log files, one module each."""

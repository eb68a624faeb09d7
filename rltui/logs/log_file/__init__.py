"""One log file between two looks: its reader, its format, its identity, its errors."""

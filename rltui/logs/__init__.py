"""Logs: files in, batches of scalars out. Everything that touches a log directory lives here."""

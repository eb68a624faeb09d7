"""Finds the logs below a LOGDIR, and assigns them to runs."""

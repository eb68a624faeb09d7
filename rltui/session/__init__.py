"""Everything known about the runs below LOGDIR."""

"""Which files below a LOGDIR are logs, and of which run."""

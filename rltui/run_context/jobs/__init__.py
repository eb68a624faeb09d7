"""The scheduler job that writes a run."""

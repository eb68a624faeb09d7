"""The job of a scheduler that writes a run."""

"""Hyperparameters of runs: the files and records they are read from, and their topics."""

"""Hyperparameters of runs: where they are read, and what they are about."""

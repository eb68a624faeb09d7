"""Attempts of a run: how a restart is detected, and which points it supersedes."""

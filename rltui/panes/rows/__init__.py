"""Rows of panes: one metric each, as a tree, and the few that matter."""

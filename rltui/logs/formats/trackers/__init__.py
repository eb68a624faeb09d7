"""Files and databases of experiment trackers."""

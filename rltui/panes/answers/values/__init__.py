"""Values of a run that answers are made of: recent ones, changes, distributions."""

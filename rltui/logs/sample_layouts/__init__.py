"""Files of samples: the paths at which frameworks write them, and their records."""

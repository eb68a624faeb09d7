"""Console output of runs: its lines, and the failures in it."""

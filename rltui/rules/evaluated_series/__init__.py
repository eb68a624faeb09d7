"""A series as rules see it: ticks, and the statistics computed from them."""

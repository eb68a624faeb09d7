"""A series as rules see it: ticks, and what is asked of them."""

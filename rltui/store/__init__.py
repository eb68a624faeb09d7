"""The points of each run in bounded memory: an exact recent window, buckets of older points, attempts."""

"""Damaged logs of every format: what breaks a reader is found by number and repeated by it."""

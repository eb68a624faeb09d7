"""Benchmarks: each module compares things in one round and prints the ratio. `python -m tests.bench`."""

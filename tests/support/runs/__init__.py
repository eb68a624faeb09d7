"""Runs from arrays, synthetic and labelled runs, and helpers to evaluate them."""

"""Comparison of a run with the baseline that the user chose: metrics at equal steps, and speed."""

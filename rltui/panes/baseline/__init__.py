"""A run beside the baseline that the user chose: metrics at equal steps, and speed."""

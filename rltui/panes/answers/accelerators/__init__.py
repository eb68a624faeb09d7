"""What the accelerators give, and what they are."""

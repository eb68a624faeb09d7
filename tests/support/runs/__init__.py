"""Runs: made of arrays, synthetic, labelled, and what is fed and asked of them."""

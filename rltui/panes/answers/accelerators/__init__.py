"""Answers on accelerators: which they are, their utilisation, what a run has used."""

"""Samples: the rollouts that trainers write next to their logs, as text with rewards."""

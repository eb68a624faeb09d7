"""Samples: the rollouts that trainers dump beside their logs, as text with rewards."""

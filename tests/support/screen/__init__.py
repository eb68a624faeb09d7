"""The screen: without a terminal, in one, and what is expected on it."""

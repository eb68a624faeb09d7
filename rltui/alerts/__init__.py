"""Alerts about findings; off unless the user's own configuration file enables them."""

"""rltui: a terminal monitor for reinforcement learning runs."""

__version__ = "0.1.0"

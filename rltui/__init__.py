"""rltui: a terminal monitor for reinforcement learning runs."""

__version__ = "0.2.0"

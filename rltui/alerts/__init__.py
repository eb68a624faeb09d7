"""Alerts out of the monitor: off by default, asked for only by the user's own configuration."""

from __future__ import annotations

from rltui.alerts.gate import Alert, Gate
from rltui.alerts.ledger import Ledger
from rltui.alerts.post import Post
from rltui.alerts.settings import Settings, settings_of

__all__ = ["Alert", "Gate", "Ledger", "Post", "Settings", "settings_of"]

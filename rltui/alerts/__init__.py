"""Alerts out of the monitor: off by default, asked for only by the user's own configuration."""

from __future__ import annotations

from rltui.alerts.alert_config import Settings, settings_of
from rltui.alerts.dispatcher import Post
from rltui.alerts.sent_log import Ledger
from rltui.alerts.throttle import Alert, Gate

__all__ = ["Alert", "Gate", "Ledger", "Post", "Settings", "settings_of"]

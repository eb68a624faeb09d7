"""Alerts out of the monitor: off by default, asked for only by the user's own configuration."""

from __future__ import annotations

from rltui.alerts.desk import Alerts
from rltui.alerts.gate import Alert, Gate
from rltui.alerts.settings import Settings, settings_of

__all__ = ["Alert", "Alerts", "Gate", "Settings", "settings_of"]

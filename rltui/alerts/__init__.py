"""Alerts out of the monitor: off by default, asked for only by the user's own configuration."""

from __future__ import annotations

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.finding_alert import Alert
from rltui.alerts.sent_log import SentLog
from rltui.alerts.throttle import Throttle

__all__ = ["Alert", "Dispatcher", "SentLog", "Throttle"]

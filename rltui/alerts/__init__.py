"""Alerts about findings; off unless the user's own configuration file enables them."""

from __future__ import annotations

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.finding_alert import Alert
from rltui.alerts.sent_log import SentLog
from rltui.alerts.throttle import Throttle

__all__ = ["Alert", "Dispatcher", "SentLog", "Throttle"]

"""Alerts out of the monitor: off by default, asked for only by the user's own configuration."""

from __future__ import annotations

from rltui.alerts.dispatcher import Dispatcher
from rltui.alerts.sent_log import SentLog
from rltui.alerts.throttle import Alert, Throttle
from rltui.config.model import AlertConfig

__all__ = ["Alert", "AlertConfig", "Dispatcher", "SentLog", "Throttle"]

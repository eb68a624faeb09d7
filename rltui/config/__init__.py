"""The user's configuration: `load_config(logdirs)`.

Display entries (names, panes and scales of metrics) may also be in `rltui.toml` next to the logs, which
takes precedence. Preferences, and entries that run or send something, are only read from the user's own
file. Invalid entries are reported and ignored.
"""

from __future__ import annotations

from rltui.config.config_files import load_config, read_file
from rltui.config.user_config import AlertConfig, Config, Threshold

__all__ = ["AlertConfig", "Config", "Threshold", "load_config", "read_file"]

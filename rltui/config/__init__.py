"""The user's own knowledge and wishes: `load_config(logdirs)`.

Two kinds of facts are kept apart. What a metric is called, where it goes and how it is scaled (display)
may also stand in `rltui.toml` beside the logs. What runs or sends something, and what a user likes, counts
only from the user's own file. The nearer file wins where both say something. Whatever is wrong is told and
left out.
"""

from __future__ import annotations

from rltui.config.config_files import beside, load_config, read_file
from rltui.config.config_schema import json_schema
from rltui.config.model import AlertConfig, Config, Environment, Threshold, UserPane

__all__ = [
    "AlertConfig",
    "Config",
    "Environment",
    "Threshold",
    "UserPane",
    "beside",
    "json_schema",
    "load_config",
    "read_file",
]

"""Finding, reading and merging configuration files."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.writable_paths import config_file, local_path
from rltui.config.user_config import AlertConfig, Config
from rltui.schema.toml_files import FileReport, parse

LOGDIR_CONFIG = "rltui.toml"  # name of the file next to the logs

ConfigValues = dict[str, Any]  # of one file, by the fields of Config


def load_config(logdirs: Sequence[Path | str] = ()) -> Config:
    """The configuration from the user's own file and the files next to the logs.

    Never raises; errors are in `problems`.
    """
    problems: list[Problem] = []
    layers: list[tuple[Path, ConfigValues | None]] = []
    own = config_file()
    if own is not None:
        required = bool(os.environ.get("RLTUI_CONFIG"))
        layers.append((own, read_file(own, problems, own=True, required=required)))
    folders = (
        Path(path) if os.path.isdir(path) else Path(path).parent  # noqa: PTH112 (never raises)
        for path in map(local_path, logdirs)
    )
    paths = dict.fromkeys(folder / LOGDIR_CONFIG for folder in folders)
    layers += [(path, read_file(path, problems, own=False)) for path in paths]
    return merged_config(layers, problems)


def merged_config(
    layers: Sequence[tuple[Path, ConfigValues | None]], problems: Sequence[Problem] = ()
) -> Config:
    """The configuration from the values of several files, later ones taking precedence."""
    merged: ConfigValues = {}
    files = []
    for path, values in layers:
        if values is not None:
            files.append(clean(str(path)))
            merged = _merged(merged, values)
    return Config(**merged, files=tuple(files), problems=tuple(problems))


def read_file(
    path: Path, problems: list[Problem], *, own: bool, required: bool = False
) -> ConfigValues | None:
    """The valid values of a file; None if the file does not exist or cannot be read or parsed.

    own: whether it is the user's own file. A file next to the logs may only contain display values.
    """
    report = FileReport(clean(str(path)), problems, "config", "error" if own else "warning", path)
    if not os.path.lexists(path):
        if required:
            report.add("named by RLTUI_CONFIG, but there is no such file", code="config-unreadable")
        return None
    # Imported here: 3 ms that a start without a file does not need.
    from rltui.config.config_schema import PRIVATE, file_field

    table = parse(path, report)
    if table is None:
        message = f"{problems[-1].message}; the defaults hold"
        problems[-1] = replace(problems[-1], code="config-unreadable", message=message)
        return None
    if not own:
        for key in [key for key in table if key in PRIVATE]:
            name = clean(str(config_file() or "config.toml"))
            report.fault((key,), f"is read only from your own file, {name}")
            del table[key]
    values = report.check(table, file_field(own=own)) or {}
    if _has_secret(values.get("alerts", AlertConfig())) and _is_accessible_to_others(path):
        message = "holds the address or a header of a webhook; chmod 600 it, or name a variable: $NAME"
        problems.append(Problem("warning", "config-readable-by-others", report.path, message))
    values["thresholds"] = tuple(
        threshold._replace(where=f"{report.path}: thresholds {number}")
        for number, threshold in enumerate(values.get("thresholds", ()), 1)
    )
    return values


def _has_secret(alerts: AlertConfig) -> bool:
    """Whether an address or a header is given literally, not as an environment variable."""
    return any(text and "$" not in text for text in (alerts.webhook, *alerts.headers.values()))


def _is_accessible_to_others(path: Path) -> bool:
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _merged(values: ConfigValues, nearer: ConfigValues) -> ConfigValues:
    """ConfigValues overridden by those of a nearer file; tables are merged by key, lists are concatenated."""
    merged = dict(values)
    for key, value in nearer.items():
        before = values.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            merged[key] = {**value, **{name: item for name, item in before.items() if name not in value}}
        elif isinstance(value, tuple) and isinstance(before, tuple):
            merged[key] = (*value, *before)
        else:
            merged[key] = value
    return merged

"""Configuration files: where they are, reading them without trusting them, and joining what they say."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from rltui.common.paths import config_file, local
from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.config.config_schema import DISPLAY, PRIVATE
from rltui.config.model import AlertConfig, Config
from rltui.schema.fields import TableField, as_dict
from rltui.schema.toml_files import FileReport, parse

NAME = "rltui.toml"  # beside the logs

Facts = dict[str, Any]  # what one file says, by the names of Config's fields


def beside(logdir: Path) -> Path:
    """The file beside the logs of a folder, or of the folder of one log file."""
    return (logdir if logdir.is_dir() else logdir.parent) / NAME


def load_config(logdirs: Sequence[Path | str] = ()) -> Config:
    """The user's own file and those beside the logs. Never raises; what is wrong is in `problems`."""
    problems: list[Problem] = []
    layers: list[tuple[Path, Facts | None]] = []
    own = config_file()
    if own is not None:
        named = bool(os.environ.get("RLTUI_CONFIG"))
        layers.append((own, read_file(own, problems, own=True, needed=named)))
    places = dict.fromkeys(beside(Path(local(logdir))) for logdir in logdirs)
    layers += [(place, read_file(place, problems, own=False)) for place in places]
    return joined(layers, problems)


def joined(layers: Sequence[tuple[Path, Facts | None]], problems: Sequence[Problem] = ()) -> Config:
    """One configuration of what several files say, the nearest last."""
    facts: Facts = {}
    files = []
    for path, more in layers:
        if more is not None:
            files.append(clean(str(path)))
            facts = _over(facts, more)
    return Config(**facts, files=tuple(files), problems=tuple(problems))


def read_file(path: Path, problems: list[Problem], *, own: bool, needed: bool = False) -> Facts | None:
    """What a file says, faulty parts left out; None where there is no such file or nothing of it can be read.

    `own` tells the user's own file from one beside the logs, which may hold display facts only.
    """
    report = FileReport(clean(str(path)), problems, "config", "error" if own else "warning", path)
    if not os.path.lexists(path):
        if needed:
            report.add("named by RLTUI_CONFIG, but there is no such file", code="config-unreadable")
        return None
    table = parse(path, report)
    if table is None:
        reason = f"{problems[-1].message}; the defaults hold"
        problems[-1] = replace(problems[-1], code="config-unreadable", message=reason)
        return None
    if not own:
        for key in [key for key in table if key in PRIVATE]:
            name = clean(str(config_file() or "config.toml"))
            report.fault((key,), f"is read only from your own file, {name}")
            del table[key]
    facts = report.check(table, TableField({**DISPLAY, **PRIVATE} if own else DISPLAY, as_dict)) or {}
    if _has_secret(facts.get("alerts", AlertConfig())) and _is_open(path):
        message = "holds the address or a header of a webhook; chmod 600 it, or name a variable: $NAME"
        problems.append(Problem("warning", "config-readable-by-others", report.path, message))
    facts["thresholds"] = tuple(
        threshold._replace(where=f"{report.path}: thresholds {number}")
        for number, threshold in enumerate(facts.get("thresholds", ()), 1)
    )
    return facts


def _has_secret(alerts: AlertConfig) -> bool:
    """Whether an address or a header stands there itself instead of a variable of the environment."""
    return any(text and "$" not in text for text in (alerts.webhook, *alerts.headers.values()))


def _is_open(path: Path) -> bool:
    """Whether others than the owner may do anything with a file."""
    return bool(path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO))


def _over(facts: Facts, more: Facts) -> Facts:
    """Facts with those of a nearer file laid over them: tables key by key, lists one after the other."""
    joint = dict(facts)
    for key, value in more.items():
        before = facts.get(key)
        if isinstance(value, dict) and isinstance(before, dict):
            joint[key] = {**value, **{name: each for name, each in before.items() if name not in value}}
        elif isinstance(value, tuple) and isinstance(before, tuple):
            joint[key] = (*value, *before)
        else:
            joint[key] = value
    return joint

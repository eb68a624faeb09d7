"""trackio: projects in SQLite databases `<project>.db`, and records that wait in `inbox/<writer>/<n>.jsonl`.

A row has the values of one step as JSON, with strings for NaN and infinities. On network file systems,
records are written to the inbox and deleted after they were imported. Traces are samples in files of their
own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING

import orjson

from rltui.common.display_text import QUOTE_LIMIT, clean
from rltui.common.problem import ProblemLevel
from rltui.common.regex import regex
from rltui.logs.formats.container import Container, NewRows, Part, Parts, TrackerAlert, whole_lines
from rltui.logs.formats.interface import LINE_CAP
from rltui.logs.formats.trackers.database_run import (
    DatabaseRun,
    Record,
    Rows,
    Schema,
    columns_of,
    unique_names,
)
from rltui.logs.records.parse_number import iso_time, step_of

if TYPE_CHECKING:
    import sqlite3

_MAX_ALERTS = 100  # of a run, the newest
_LEVELS: dict[str, ProblemLevel] = {"info": "info", "warn": "warning", "error": "error"}
_NOT_FINITE = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}


def numbers_of(values: Mapping[str, object]) -> dict[str, object]:
    """The values that give points: numbers, also nested ones, and strings for NaN and infinities."""
    found: dict[str, object] = {}
    for key, value in values.items():
        if isinstance(value, str):
            if value in _NOT_FINITE:
                found[key] = _NOT_FINITE[value]
        elif isinstance(value, dict):
            if "_type" not in value and (inner := numbers_of(value)):
                found[key] = inner
        elif type(value) in (int, float):
            found[key] = value
    return found


@lru_cache(maxsize=4096)
def _seconds(text: object) -> float:
    """Seconds since 1970 of a time, in UTC unless it has a time zone."""
    return iso_time(str(text), UTC)


def _record(values: bytes | str, timestamp: object, step: object) -> Record | None:
    try:
        found = orjson.loads(values)
    except ValueError:
        return None
    at = 0 if step is None else step_of(step)
    return (
        (at, _seconds(timestamp), numbers_of(found)) if isinstance(found, dict) and at is not None else None
    )


def _system_record(values: bytes | str, timestamp: object, step: object) -> Record | None:
    record = _record(values, timestamp, step)
    return None if record is None else (record[0], record[1], {"system": record[2]})


def _config(values: Mapping[str, object]) -> dict[str, object]:
    """A config without the keys added by trackio."""
    return {key: value for key, value in values.items() if not key.startswith("_")}


def parts_of_database(place: str, base: sqlite3.Connection) -> Parts | None:
    """The runs of a project; None if the database is one of another tracker."""
    columns = columns_of(base, "metrics")
    if not {"run_name", "metrics", "timestamp", "step"} <= columns:
        return None
    key = "run_id" if "run_id" in columns else "run_name"
    newest = (
        f"(SELECT step FROM metrics AS m WHERE m.{key} = r.{key} AND m.timestamp <= r.timestamp"
        " ORDER BY m.timestamp DESC, m.id DESC LIMIT 1)"
    )
    tables = [Rows("metrics", key, "length(metrics)", "metrics, timestamp, step", _record)]
    if {key, "metrics", "timestamp"} <= columns_of(base, "system_metrics"):
        of_system = f"metrics, timestamp, {newest}"
        tables.append(Rows("system_metrics", key, "length(metrics)", of_system, _system_record))
    has_configs = {key, "config"} <= columns_of(base, "configs")

    def about(base: sqlite3.Connection, run: str) -> tuple[dict[str, object], str]:
        """The config of a run; trackio stores no exit code."""
        sql = f"SELECT config FROM configs WHERE {key} = ?"
        row = base.execute(sql, (run,)).fetchone() if has_configs else None
        try:
            found = orjson.loads(row[0]) if row else {}
        except ValueError:
            return {}, ""
        return _config(found) if isinstance(found, dict) else {}, ""

    rows = base.execute(f"SELECT {key}, run_name FROM metrics GROUP BY {key} ORDER BY min(id)").fetchall()
    runs = [(run, str(name or "")) for run, name in rows if isinstance(run, str)]
    names = unique_names(runs)
    project = place.rpartition("/")[2].removesuffix(".db")
    has_alerts = {key, "title", "text", "level", "step"} <= columns_of(base, "alerts")
    schema = Schema("trackio", tuple(tables), about, _alerts_by(key) if has_alerts else None)
    return Parts(tuple(DatabaseRun(place, run, f"{project}/{names[run]}", schema) for run, _ in runs))


def _alerts_by(key: str) -> Callable[[sqlite3.Connection, str], list[TrackerAlert]]:
    """A function that reads the newest alerts of a run, written by `trackio.alert`."""

    def read(base: sqlite3.Connection, run: str) -> list[TrackerAlert]:
        sql = (
            f"SELECT rowid, level, title, text, step FROM alerts WHERE {key} = ? ORDER BY rowid DESC LIMIT ?"
        )
        return [
            TrackerAlert(
                rowid,
                _LEVELS.get(str(level).lower(), "warning"),
                clean(
                    f"alert at step {step}: " + ": ".join(str(each) for each in (title, text) if each),
                    QUOTE_LIMIT,
                ),
            )
            for rowid, level, title, text, step in reversed(base.execute(sql, (run, _MAX_ALERTS)).fetchall())
        ]

    return read


_INBOX = regex(r"/inbox/[^/]+/\d+\.jsonl\Z")


def _inbox_parts(place: str) -> Parts | None:
    """The runs of records in an inbox, lines of one writer; None for any other file."""
    runs: dict[str, tuple[str, str]] = {}
    others = False
    for line in whole_lines(place, 0, LINE_CAP).splitlines():
        entry = _entry(line)
        if entry is None:
            others = True
        else:
            project, name = str(entry.get("project") or ""), str(entry.get("run") or "")
            runs.setdefault(_key_of(entry), (project, name))
    if others and not runs:
        return None
    # The name of a run is that in the database, which is two folders up.
    named = {key: "/".join(filter(None, ("../..", *names))) for key, names in runs.items()}
    return Parts(tuple(InboxRun("trackio-inbox", (place,), key, run) for key, run in named.items()))


INBOX = Container(lambda place: bool(_INBOX.search(place)), _inbox_parts)


class InboxRun(Part[tuple[int, int]]):
    """A `Part`: the records of one run in a file of the inbox."""

    moves = True

    def read(self, cursor: tuple[int, int] | None, budget: int) -> NewRows[tuple[int, int]] | None:
        """Complete lines after `cursor`, an offset and the last step. Raises OSError."""
        offset, step = cursor or (0, 0)
        new = NewRows[tuple[int, int]]()
        data = whole_lines(self.place, offset, LINE_CAP)
        new.bytes_read = len(data)
        for line in data.splitlines():
            entry = _entry(line)
            if entry is None or _key_of(entry) != self.key:
                continue
            metrics, config = entry.get("metrics"), entry.get("config")
            if isinstance(config, dict):
                new.hparams.update(_config(config))
            if not isinstance(metrics, dict):
                continue
            wall = _seconds(str(entry.get("timestamp")))
            if entry["kind"] == "metric":
                found = step_of(entry.get("step"))
                step = step if found is None else found
                new.records.append((step, wall, numbers_of(metrics)))
            elif entry["kind"] == "system_metric":
                new.records.append((step, wall, {"system": numbers_of(metrics)}))
        new.cursor = (offset + new.bytes_read, step)
        return new


def _entry(line: bytes) -> dict[str, object] | None:
    """A record of the inbox; None for any other line."""
    try:
        entry = orjson.loads(line)
    except ValueError:
        return None
    return entry if isinstance(entry, dict) and "kind" in entry and "project" in entry else None


def _key_of(entry: Mapping[str, object]) -> str:
    return str(entry.get("run_id") or entry.get("run") or "")

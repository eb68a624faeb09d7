"""Traces in the database of trackio, as samples; those that also have a file are left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from rltui.logs.formats.trackers import sqlite_file
from rltui.logs.formats.trackers.database_run import columns_of, unique_names
from rltui.logs.sample_layouts.layouts import LayoutMatch, stored_trace
from rltui.logs.sample_layouts.sample import Sample

if TYPE_CHECKING:
    import sqlite3

_COLUMNS = {"id", "run_id", "run_name", "step", "key", "messages", "metadata"}


def may_be_database(name: str) -> bool:
    """Whether a base name may be that of a project's database."""
    return name.endswith(".db")


def runs_with_traces(path: str, shown: str) -> Iterator[tuple[str, str]]:
    """The runs of a database that have traces: path, path relative to LOGDIR; nothing if it cannot be read.

    path: that of the database with the run's id in brackets.
    """
    try:
        found = _runs(path, sqlite_file.file_stamps(path)) if sqlite_file.is_database(path) else ()
    except OSError:
        return
    project = Path(path).stem
    for run_id, name in found:
        yield f"{path}[{run_id}]", f"{shown}/{project}/{name}/traces"


@lru_cache(maxsize=64)
def _runs(path: str, stamp: tuple[int, ...]) -> tuple[tuple[str, str], ...]:
    """Ids and names of the runs with traces. stamp: of the present content, as a cache key."""

    def ask(base: sqlite3.Connection) -> tuple[tuple[str, str], ...]:
        if not columns_of(base, "traces") >= _COLUMNS:
            return ()
        runs = base.execute(
            "SELECT run_id, run_name FROM metrics GROUP BY run_id ORDER BY min(id)"
        ).fetchall()
        names = unique_names([(str(key), str(name or "")) for key, name in runs])
        with_traces = base.execute("SELECT DISTINCT run_id, run_name FROM traces").fetchall()
        return tuple((str(key), names.get(str(key), str(name or key))) for key, name in with_traces)

    return sqlite_file.read_database(path, ask) or ()


def file_stamps(path: str) -> tuple[int, int]:
    """Size and modification time of the database in a path of `runs_with_traces`. Raises OSError."""
    stamp = sqlite_file.file_stamps(_parts(path)[0])
    return stamp[0] + max(stamp[3], 0), max(stamp[1], stamp[4])


def traces_of(path: str, match: LayoutMatch) -> list[Sample]:
    """The traces of one run that are only in its database. Raises OSError."""
    database, run_id = _parts(path)
    folder = Path(database).parent / "traces" / Path(database).stem

    def ask(base: sqlite3.Connection) -> list[Sample]:
        columns = "id, run_name, step, key, messages, metadata"
        sql = f"SELECT {columns} FROM traces WHERE run_id = ? ORDER BY step, rowid"
        samples, files = [], dict[str, set[str]]()
        for identity, name, step, key, messages, metadata in base.execute(sql, (run_id,)):
            if name not in files:
                files[name] = _names_in(folder / str(name))
            if f"{str(identity).replace(':', '-')}.jsonl" in files[name]:
                continue
            sample = stored_trace(str(identity), step, str(key), messages, metadata, match)
            if sample is not None:
                samples.append(sample)
        return samples

    return sqlite_file.read_database(database, ask) or []


def _names_in(folder: Path) -> set[str]:
    try:
        return set(os.listdir(folder))  # noqa: PTH208 - only names are needed
    except OSError:
        return set()


def _parts(path: str) -> tuple[str, str]:
    """The database and the run's id."""
    database, _, run_id = path[:-1].rpartition("[")
    return database, run_id

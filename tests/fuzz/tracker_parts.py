"""Damaged databases and folders of trackers: nothing raises, and rows in pieces give the same points.

Databases are in memory: rows of any type under the real schema, and whole files with damaged bytes.
"""

from __future__ import annotations

import contextlib
import json
import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

import pytest

from rltui.logs.batch import concat
from rltui.logs.file_calls import Calls
from rltui.logs.formats.container import Part, PartFile
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers import mlflow, sqlite_file, trackio
from tests.fuzz.damage import damaged
from tests.support.logs.file_in_memory import points

T = TypeVar("T")
Row = tuple[str, tuple[object, ...]]  # table, values
Point = tuple[object, ...]

TRACKIO = (
    "CREATE TABLE metrics (id INTEGER PRIMARY KEY AUTOINCREMENT, run_id TEXT, timestamp TEXT, run_name TEXT,"
    " step INTEGER, metrics TEXT, log_id TEXT)",
    "CREATE TABLE system_metrics (id INTEGER PRIMARY KEY, run_id TEXT, timestamp TEXT, run_name TEXT,"
    " metrics TEXT)",
    "CREATE TABLE configs (id INTEGER PRIMARY KEY, run_id TEXT, run_name TEXT, config TEXT)",
    "CREATE TABLE alerts (id INTEGER PRIMARY KEY, run_id TEXT, level TEXT, title TEXT, text TEXT,"
    " step INTEGER)",
)
MLFLOW = (
    "CREATE TABLE experiments (experiment_id INTEGER, name TEXT)",
    "CREATE TABLE runs (run_uuid TEXT, name TEXT, status TEXT, start_time BIGINT, lifecycle_stage TEXT,"
    " experiment_id INTEGER)",
    "CREATE TABLE params (key TEXT, value TEXT, run_uuid TEXT)",
    "CREATE TABLE metrics (key TEXT, value DOUBLE, timestamp BIGINT, run_uuid TEXT, step BIGINT,"
    " is_nan BOOLEAN)",
)
ODD: tuple[object, ...] = (
    None, "", "x", b"\xff\x00", -(2**63), 2**63 - 1, 1.5, -1, 1e308, float("inf"), "NaN", "[]", "{}",
    '{"a": [1]}', "9" * 400, '{"loss": 1e999}', '{"a": {"b": 1}}', "2026-11-22T02:00:00",
    "\x1b[31m", "ä" * 50, "\ud800",
)  # fmt: skip


@cache
def _rows() -> Mapping[str, tuple[tuple[str, ...], tuple[Row, ...]]]:
    """The schema and the rows of a small database of each tracker, in the order in which they are written."""
    metrics: list[Row] = []
    for step in range(8):
        when = f"2026-11-22T02:00:{step:02}+00:00"
        said = json.dumps({"loss": 1 / (1 + step), "nan": "NaN", "deep": {"acc": step}})
        metrics += [
            ("metrics", (None, run * 32, when, f"grpo-{run}", step, said, f"l{step}")) for run in "ab"
        ]
        metrics.append(("system_metrics", (None, "a" * 32, when, "grpo-a", '{"gpu": 50.5}')))
    metrics.append(("configs", (None, "a" * 32, "grpo-a", '{"lr": 1e-5, "_Created": 1}')))
    metrics.append(("alerts", (None, "a" * 32, "warn", "loss", "is high", 3)))
    flow: list[Row] = [
        ("experiments", (1, "tiny")),
        ("runs", ("u1", "ppo", "FINISHED", 1763600000000, "active", 1)),
        ("runs", ("u2", "old", "KILLED", 1763600000001, "deleted", 1)),
        ("params", ("lr", "0.1", "u1")),
    ]
    for step in range(8):
        flow.append(("metrics", ("loss", step / 3, 1763600000000 + step, "u1", step, 0)))
        flow.append(("metrics", ("val/acc", 1.797e308, 1763600000000 + step, "u1", step, step % 2)))
    return {"trackio": (TRACKIO, tuple(metrics)), "mlflow": (MLFLOW, tuple(flow))}


def _filled(schema: tuple[str, ...], rows: tuple[Row, ...] | list[Row]) -> sqlite3.Connection:
    base = sqlite3.connect(":memory:", isolation_level=None)
    for table in schema:
        base.execute(table)
    _insert(base, rows)
    return base


def _insert(base: sqlite3.Connection, rows: tuple[Row, ...] | list[Row]) -> None:
    for table, values in rows:
        # What no writer could have written is left out.
        with contextlib.suppress(sqlite3.Error, UnicodeEncodeError, OverflowError):
            base.execute(f"INSERT INTO {table} VALUES ({','.join('?' * len(values))})", values)


def _parts(base: sqlite3.Connection) -> tuple[Part[Any], ...]:
    found = trackio.parts_of_database("/x/tiny.db", base) or mlflow.parts_of_database("/x/tiny.db", base)
    return found.parts if found is not None else ()


def _all_of(part: Part[Any]) -> list[Point]:
    reader, file = part.format.open(part.key), PartFile(part, part.key, Calls())
    batches = [reader.read(file, 100)]
    while len(batches[-1]):
        batches.append(reader.read(file, 100))
    return points(concat([*batches, reader.finish(file)]))


def attempt_rows(draw: random.Random) -> None:
    """Put values of any type into rows; read at once and as the rows are written."""
    schema, sound = _rows()[draw.choice(("trackio", "mlflow"))]
    rows = list(sound)
    first = len(rows)
    for _ in range(draw.randint(0, 3)):
        at = draw.randrange(len(rows))
        table, values = rows[at]
        column = draw.randrange(len(values))
        old = values[column]
        new: object = draw.choice(ODD)
        if isinstance(old, str) and draw.random() < 0.6:
            new = damaged(old.encode("utf-8", "replace"), draw)[0].decode("utf-8", "replace")
        rows[at] = (table, (*values[:column], new, *values[column + 1 :]))
        first = min(first, at)
    with pytest.MonkeyPatch.context() as patch:
        whole = _filled(schema, rows)
        patch.setattr(sqlite_file, "read_database", lambda _, work: _worked(whole, work))
        try:
            wanted = {part.key: _all_of(part) for part in _parts(whole)}
        except OSError:
            return  # SQLite refuses what was put in
        growing = _filled(schema, rows[: len(schema)])
        patch.setattr(sqlite_file, "read_database", lambda _, work: _worked(growing, work))
        begin, readers, found = len(schema), {}, dict[str, list[Point]]()
        for end in [*sorted(draw.randrange(begin, len(rows) + 1) for _ in range(3)), len(rows)]:
            _insert(growing, rows[begin:end])
            begin = end
            for part in _parts(growing):
                reader, file = readers.setdefault(
                    part.key, (part.format.open(part.key), PartFile(part, "", Calls()))
                )
                found.setdefault(part.key, []).extend(points(reader.read(file)))
        for key, rows_of in wanted.items():
            assert _told(found.get(key, [])) == _told(rows_of), "rows in pieces give other points"
        whole.close()
        growing.close()


def _told(found: list[Point]) -> list[str]:
    """Points in one order; those of the machine have the step that was the newest when they were read."""
    return sorted(repr(point) for point in found if not str(point[0]).startswith("system/"))


def _worked(base: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """As `read_database` does of a file."""
    try:
        return sqlite_file.run_on(base, work)
    except sqlite3.Error as error:
        raise OSError(5, f"SQLite says: {error}") from error


@cache
def _databases() -> tuple[bytes, ...]:
    found = []
    for schema, rows in _rows().values():
        base = sqlite3.connect(":memory:", isolation_level=None)
        base.execute("PRAGMA page_size = 512")
        for table in schema:
            base.execute(table)
        _insert(base, rows)
        found.append(base.serialize())
    return tuple(found)


def attempt_bytes(draw: random.Random) -> None:
    """Damage the bytes of a database: SQLite's own errors are the only ones."""
    data, _ = damaged(draw.choice(_databases()), draw, times=3)
    base = sqlite3.connect(":memory:")
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(sqlite_file, "read_database", lambda _, work: _worked(base, work))
            base.deserialize(data)
            for part in _worked(base, _parts):
                _all_of(part)
    except (OSError, sqlite3.Error, OverflowError, MemoryError):  # the last two of loading the bytes
        pass
    finally:
        base.close()


Files = dict[str, bytes]


@cache
def folders() -> tuple[tuple[str, Files], ...]:
    """The container and the files of a small folder of each tracker."""
    inbox = b"".join(
        json.dumps({"v": 1, "kind": kind, "project": "p", "run": run, "run_id": run * 8, "step": step,
                    "timestamp": f"2026-11-22T02:00:{step:02}+00:00",
                    "metrics": {"loss": step / 3, "nan": "NaN"}, "config": {"lr": 0.1}}).encode() + b"\n"
        for step in range(5) for run in "ab" for kind in ("metric", "system_metric")
    )  # fmt: skip
    meta = b"run_id: 2ccfa60e0000\nrun_name: ppo\nstatus: 3\nlifecycle_stage: active\n"
    table = b"".join(b"%d\t%.2f\n" % (at, at / 3) for at in range(9))
    timed = b"1763600000000\t1\t2\n1763600000001\t2\tnan\n"
    lines = b"".join(b"%d %.3f %d\n" % (1763600000000 + at, at / 7, at) for at in range(8))
    monitors = {
        f"{rank}.monitor.csv": b'#{"t_start": %.1f, "env_id": "Pong"}\nr,l,t\n' % (1.7e9 + rank / 10)
        + b"".join(b"%d.0,%d,%.2f\n" % (at, 5 + at, 2 - rank / 10 + at * 5) for at in range(1, 9))
        for rank in range(3)
    }
    return (
        ("plots", {"plots/metrics/loss.tsv": b"step\tloss\n" + table,
                   "plots/metrics/a/b.tsv": b"timestamp\tstep\tb\n" + timed}),
        ("e/r/meta.yaml", {"e/r/meta.yaml": meta, "e/meta.yaml": b"name: tiny\n", "e/r/metrics/loss": lines,
                           "e/r/metrics/val/acc": lines, "e/r/params/lr": b"0.1"}),
        ("inbox/w/1.jsonl", {"inbox/w/1.jsonl": inbox}),
        ("0.monitor.csv", monitors),
    )  # fmt: skip


WORDS = (
    b"\n", b"\t", b" ", b"nan", b"-inf", b"1e999", b"9" * 30, b"\0" * 9, b"{}", b"[", b"null", b'"', b",",
    b"#{", b"\r\n", b"-1", b"\xff\xfe", b'"step": null', b'"metrics": 3', b"status: [", b"run_id: 7",
    b"- ", b": ",
)  # fmt: skip


@cache
def _scratch() -> tempfile.TemporaryDirectory[str]:
    memory = Path("/dev/shm")
    return tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None, prefix="rltui-fuzz-")


def _write(folder: Path, files: Files) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)


def _listed(place: Path) -> Iterator[Part[Any]]:
    found = REGISTRY.parts(str(place))
    yield from found.parts if found is not None else ()


def attempt_folder(draw: random.Random) -> None:
    """Damage a file of a folder; read at once and as the files grow behind their first lines."""
    number = draw.randrange(len(folders()))
    container, sound = folders()[number]
    files = dict(sound)
    name = draw.choice(sorted(files))
    files[name], _ = damaged(files[name], draw, times=3, words=WORDS)
    folder = Path(_scratch().name) / str(number)
    _write(folder, files)
    try:
        parts = list(_listed(folder / container))
        wanted = [_all_of(part) for part in parts]
    except OSError:
        return
    heads = {
        each: draw.randint(_second_line(data), len(data)) if "metrics" in each or "." in each else len(data)
        for each, data in files.items()
    }
    _write(folder, {each: data[: heads[each]] for each, data in files.items()})
    readers = [(part.format.open(part.key), PartFile(part, part.key, Calls())) for part in parts]
    try:
        found = [points(reader.read(file)) for reader, file in readers]
        _write(folder, files)
        for each, (reader, file) in zip(found, readers, strict=True):
            while more := points(reader.read(file)):
                each += more
    except OSError:
        return
    for one, other in zip(found, wanted, strict=True):
        assert _told(one) == _told(other), "files that grow give other points"


def _second_line(data: bytes) -> int:
    """The end of the second line: what tells of how a file is laid out."""
    return (data.find(b"\n", data.find(b"\n") + 1) + 1) or len(data)


def attempt(draw: random.Random) -> None:
    """One damage of one of the kinds. Raises whatever a reader raises, AssertionError."""
    draw.choices((attempt_rows, attempt_bytes, attempt_folder), (4, 3, 3))[0](draw)

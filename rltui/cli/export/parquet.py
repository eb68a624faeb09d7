"""Points as one Parquet dataset partitioned by run, for what outgrows one machine.

    DATASET/run=<name>/part-<number>-<random>.parquet     name percent-encoded, as Hive readers expect
    DATASET/_rltui_export.json                            what has been written so far

A second export appends what is new of each log in new part files. A run is written again from its start
only where its history changed: a log was replaced, or points that are out were superseded since. Files
become visible by renaming, the list of them last; parts that it does not name are left over from an
interrupted export and removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np

from rltui import paths
from rltui.batch import Batch
from rltui.cli.commands.export import finish
from rltui.cli.export.output_file import refuse_inside
from rltui.cli.export.points import Exporter, Portion
from rltui.cli.output import fail, note
from rltui.text import clean

MANIFEST = "_rltui_export.json"
SCHEMA = 2
ROWS = 1 << 20  # points of a row group, and of a part that is written while the run is still being read
MARK = 256  # points at a log's start that tell whether it is still the same log
_PART = re.compile(r"part-\d{6}-[0-9a-f]{12}\.parquet(\.[0-9a-f]{12})?(\.part)?$")


@dataclass(slots=True)
class LogState:
    """What is out of one log: so many points, of which superseded; a mark of its first ones."""

    points: int = 0
    superseded: int = 0
    life: int = 0
    marked: int = 0
    mark: str = ""


@dataclass(slots=True)
class RunState:
    """What is out of one run."""

    parts: list[str] = field(default_factory=list)
    logs: dict[str, LogState] = field(default_factory=dict)


@dataclass(slots=True)
class Dataset:
    """The dataset's folder and its manifest."""

    place: Path
    filters: dict[str, Any]
    runs: dict[str, RunState] = field(default_factory=dict)

    def load(self) -> None:
        """Read the manifest. Ends the command with 2 when the folder holds something else."""
        path = self.place / MANIFEST
        try:
            document = json.loads(path.read_bytes())
            if document["schema"] != SCHEMA:
                fail(f"{clean(str(path))}: of another release; export into a new folder")
            if document["filters"] != self.filters:
                fail(f"{clean(str(path))}: made with other --metric or --all-sources; name a new folder")
            for name, run in document["runs"].items():
                logs = {path: LogState(**state) for path, state in run["logs"].items()}
                self.runs[name] = RunState(list(run["parts"]), logs)
        except FileNotFoundError:
            if self.place.is_dir() and any(self.place.iterdir()) and not self._interrupted():
                fail(f"{clean(str(self.place))}: is not empty and no export of ours; name another folder")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            fail(f"{clean(str(path))}: cannot be understood; export into a new folder")

    def _interrupted(self) -> bool:
        """Whether the folder holds nothing but parts of an export that never reached its manifest."""
        return all(path.name.startswith("run=") for path in self.place.iterdir())

    def save(self) -> None:
        """Write the manifest, whole or not at all."""
        runs = {
            name: {"parts": run.parts, "logs": {path: _plain(state) for path, state in run.logs.items()}}
            for name, run in self.runs.items()
        }
        document = {"schema": SCHEMA, "filters": self.filters, "runs": runs}
        with paths.atomic_file(self.place / MANIFEST) as file:
            file.write(json.dumps(document, indent=1).encode())

    def tidy(self) -> None:
        """Remove parts that the manifest does not name: left by an interrupted export, or written anew."""
        named = {part for run in self.runs.values() for part in run.parts}
        for path in (*self.place.glob("run=*/part-*"), *self.place.glob("run=*/.part-*.part")):
            own = _PART.match(path.name.removeprefix("."))
            if own and path.relative_to(self.place).as_posix() not in named:
                with contextlib.suppress(OSError):
                    path.unlink()


def _plain(state: LogState) -> dict[str, Any]:
    return {name: getattr(state, name) for name in ("points", "superseded", "life", "marked", "mark")}


def folder_of(run: str) -> str:
    """The partition folder of a run."""
    name = quote(run, safe="")
    return f"run={'%2E' * len(name) if set(name) == {'.'} else name}"


class _Parts:
    """The part files of one run that are being written."""

    def __init__(self, place: Path, run: str, begin: int) -> None:
        import pyarrow as pa

        self._pa = pa
        self._text = text = pa.dictionary(pa.int32(), pa.string())
        self._schema = pa.schema(
            [
                ("tag", text), ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64()),
                ("source", text), ("superseded", pa.bool_()), ("series", text),
            ]
        )  # fmt: skip
        self._place = place
        self._folder = folder_of(run)
        self._number = begin
        self._held: list[Any] = []
        self._rows = 0
        self.parts: list[str] = []

    def add(self, portion: Portion) -> None:
        """Take points in; a part is written when there are many."""
        pa, batch = self._pa, portion.batch
        flags = portion.superseded if portion.superseded is not None else np.zeros(len(batch), np.bool_)
        tags = pa.array(list(batch.written or batch.tags), pa.string())
        numbers = pa.array(batch.tag.astype(np.int32))
        series = pa.nulls(len(batch), self._text)  # what the run calls a curve, where that is not its tag
        if batch.written:
            series = pa.DictionaryArray.from_arrays(numbers, pa.array(list(batch.tags), pa.string()))
        wall = pa.array(batch.wall_time, mask=np.isnan(batch.wall_time))
        arrays = [
            pa.DictionaryArray.from_arrays(numbers, tags),
            pa.array(batch.step),
            wall,
            pa.array(batch.value),
            pa.DictionaryArray.from_arrays(
                pa.array(np.zeros(len(batch), np.int32)), pa.array([portion.source.path])
            ),
            pa.array(flags),
            series,
        ]
        self._held.append(pa.Table.from_arrays(arrays, schema=self._schema))
        self._rows += len(batch)
        if self._rows >= ROWS:
            self.flush()

    def flush(self) -> None:
        """Write what is held as one part."""
        import pyarrow.parquet as pq

        if not self._rows:
            return
        table = self._pa.concat_tables(self._held).unify_dictionaries()
        folder = self._place / self._folder
        folder.mkdir(parents=True, exist_ok=True)
        name = f"part-{self._number:06d}-{secrets.token_hex(6)}.parquet"
        with paths.atomic_file(folder / name) as file:
            pq.write_table(table, file, compression="zstd", row_group_size=ROWS)
        self.parts.append(f"{self._folder}/{name}")
        self._number += 1
        self._held, self._rows = [], 0


class _Watch:
    """Compares a log as it is read again with what is out of it."""

    def __init__(self, before: LogState | None) -> None:
        self.before = before
        self.now = LogState()
        self._old = hashlib.blake2b(digest_size=12)
        self._new = hashlib.blake2b(digest_size=12)
        self._superseded = 0  # among the points that are out

    def see(self, portion: Portion) -> int:
        """Note points; how many of them, from the first, are out already."""
        batch, number = portion.batch, self.now.points
        out = min(max((self.before.points if self.before else 0) - number, 0), len(batch))
        if self.before is not None:
            _digest(self._old, batch, self.before.marked - number)
        _digest(self._new, batch, MARK - number)
        self.now.points += len(batch)
        self.now.marked = min(self.now.points, MARK)
        self.now.life = max(self.now.life, portion.life)
        if portion.superseded is not None:
            self.now.superseded += int(portion.superseded.sum())
            self._superseded += int(portion.superseded[:out].sum())
        return out

    def same(self) -> bool:
        """Whether what is out is still the beginning of the log, flags and all."""
        before = self.before
        return before is None or (
            self.now.points >= before.points
            and self.now.life == before.life
            and self._superseded == before.superseded
            and self._old.hexdigest() == before.mark
        )

    def state(self) -> LogState:
        """What is out once everything has been written."""
        self.now.mark = self._new.hexdigest()
        return self.now


def _digest(digest: Any, batch: Batch, size: int) -> None:
    """Add the first `size` points of a batch to a digest of a log's beginning."""
    if size <= 0:
        return
    columns = zip(
        batch.tag[:size].tolist(), batch.step[:size].tolist(), batch.value[:size].tolist(), strict=True
    )
    for tag, step, value in columns:
        digest.update(f"{batch.tags[tag]}\0{step}\0{value!r}\n".encode("utf-8", "replace"))


def export_parquet(
    logdirs: Sequence[str],
    run_glob: str | None,
    metrics: Sequence[str],
    output: str,
    *,
    all_sources: bool,
    verify: bool,
) -> None:
    """Write or continue the dataset in folder `output`."""
    place = Path(output)
    refuse_inside(place, logdirs)
    if place.exists() and not place.is_dir():
        fail(f"{clean(output)}: is a file; Parquet is written as a folder")
    asked = {"metrics": sorted(metrics), "all_sources": all_sources, **({"verify": True} if verify else {})}
    dataset = Dataset(place, asked)
    exporter = Exporter(logdirs, run_glob, metrics, all_sources=all_sources, verify=verify)
    try:
        place.mkdir(parents=True, exist_ok=True)
        dataset.load()
        dataset.tidy()
        added = 0
        for run, portions in groupby(exporter.portions(), key=lambda each: each.source.run):
            added += _write_run(dataset, run, portions, exporter)
        dataset.tidy()
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(place)):
            raise
        fail(f"{clean(output)}: not written: {error.strerror or error}; what is there stays as it was")
    found = any(source.run for source in exporter.sources.values())
    finish(exporter.problems.values(), found, logdirs, run_glob)
    note(f"{clean(output)}: {added} points added in {len(dataset.runs)} runs")


def _write_run(dataset: Dataset, run: str, portions: Iterable[Portion], exporter: Exporter) -> int:
    """Write what is new of one run, or all of it where its history changed; the points written."""
    old = dataset.runs.get(run, RunState())
    watches, parts, written = _write(dataset, run, portions, old)
    if not all(watch.same() for watch in watches.values()):
        dataset.tidy()
        anew = exporter.of_run(run).portions()
        watches, parts, written = _write(dataset, run, anew, RunState(), begin=len(old.parts))
        old = RunState()
    elif not written:
        return 0
    logs = {**old.logs, **{path: watch.state() for path, watch in watches.items()}}
    dataset.runs[run] = RunState([*old.parts, *parts], logs)
    dataset.save()
    return written


def _write(
    dataset: Dataset, run: str, portions: Iterable[Portion], old: RunState, begin: int | None = None
) -> tuple[dict[str, _Watch], list[str], int]:
    """Write the points that are not out yet, as they are read."""
    parts = _Parts(dataset.place, run, len(old.parts) if begin is None else begin)
    watches: dict[str, _Watch] = {}
    written = 0
    for portion in portions:
        path = portion.source.path
        watch = watches.get(path)
        if watch is None:
            watch = watches[path] = _Watch(old.logs.get(path))
        out = watch.see(portion)
        if out < len(portion.batch):
            parts.add(_after(portion, out) if out else portion)
            written += len(portion.batch) - out
    parts.flush()
    return watches, parts.parts, written


def _after(portion: Portion, skip: int) -> Portion:
    mask = np.arange(len(portion.batch)) >= skip
    flags = None if portion.superseded is None else portion.superseded[mask]
    return Portion(portion.source, portion.batch.where(mask), flags, portion.number + skip, portion.life)

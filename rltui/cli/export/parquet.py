"""Points as a Parquet dataset partitioned by run.

    DATASET/run=<name>/part-<number>-<random>.parquet     name percent-encoded, as in Hive

The metadata of the last part of a run describes the points of each log in all parts, so that a second export
adds a part with new points only. A run is written again if its history has changed: a log was replaced, or
exported points have been superseded. Parts are written atomically.

`pyarrow.dataset.write_dataset` cannot continue a dataset: it knows neither which points are written nor that
a log was replaced, so a second export writes all again. For 5,000 points after 500,000 of a run that is
5.7 MB instead of a part of 52 kB (10 series of random numbers), and its files are not replaced atomically.
"""

from __future__ import annotations

import contextlib
import json
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from pathlib import Path
from typing import BinaryIO
from urllib.parse import quote

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from rltui.cli.export.export_points import ExportBatch, Exporter, PointSelection
from rltui.cli.export.export_summary import Exported, ExportSummary
from rltui.cli.export.point_lines import spelled
from rltui.cli.options.sharding import Work, chosen_engine
from rltui.cli.output.output_file import refuse_inside
from rltui.cli.output.printing import fail, note
from rltui.cli.reading.loading import read_config
from rltui.common import writable_paths
from rltui.common.digest import digest
from rltui.common.display_text import clean, count_of
from rltui.common.named_tuple import NamedTuple
from rltui.config import Config
from rltui.many_runs.plan import RunPlan
from rltui.session.shared_metric_names import SharedNames

ROWS = 1 << 20  # points of a row group
HEAD_POINTS = 256  # first points of a log, which identify it
TEXT = pa.dictionary(pa.int32(), pa.string())
SCHEMA = pa.schema(
    [
        ("tag", TEXT), ("step", pa.int64()), ("wall_time", pa.float64()), ("value", pa.float64()),
        ("source", TEXT), ("superseded", pa.bool_()), ("series", TEXT), ("metric", TEXT), ("unit", TEXT),
    ]
)  # fmt: skip
COLUMNS_VERSION = 2  # of SCHEMA; a dataset with another version is not continued
# Keys in the metadata of each part: the options that selected the points; a summary of each exported log.
_FILTERS, _LOGS = b"rltui.filters", b"rltui.logs"


class LogSummary(NamedTuple):
    """The exported points of a log, for the metadata of the dataset, where it is a JSON list."""

    points: int = 0
    superseded: int = 0
    head: str = ""  # hash of the first `HEAD_POINTS` points


NOTHING = LogSummary()


@dataclass(slots=True)
class _LogState:
    """The points of a log that have been read."""

    points: int = 0
    superseded: int = 0
    head: list[str] = field(default_factory=list)  # the first `HEAD_POINTS` points

    def take(self, points: ExportBatch, count: int) -> None:
        """Count the next points of the log: the first `count` of a batch."""
        self.points += count
        if points.superseded is not None:
            self.superseded += int(points.superseded[:count].sum())
        batch, first = points.batch, min(HEAD_POINTS - len(self.head), count)
        if first > 0:
            columns = (batch.tag[:first].tolist(), batch.step[:first].tolist(), batch.value[:first].tolist())
            tags = batch.written or batch.tags
            self.head += [
                f"{tags[tag]}\0{step}\0{value!r}" for tag, step, value in zip(*columns, strict=True)
            ]

    def summary(self) -> LogSummary:
        """The summary for the metadata of the dataset."""
        return LogSummary(self.points, self.superseded, digest("\n".join(self.head), 24))


class _RunLogs:
    """The logs of a run as they are read, compared with the exported points."""

    def __init__(self, exported: Mapping[str, LogSummary]) -> None:
        self._exported = exported
        self._again: dict[str, _LogState] = {}  # of as many points of each log as have been exported
        self._now: dict[str, _LogState] = {}

    def new_points(self, batches: Iterable[ExportBatch]) -> Iterator[pa.Table]:
        """The points that have not been exported."""
        for points in batches:
            path, count = points.source.path, len(points.batch)
            again = self._again.setdefault(path, _LogState())
            known = min(self._exported.get(path, NOTHING).points - again.points, count)
            again.take(points, known)
            self._now.setdefault(path, _LogState()).take(points, count)
            if known < count:
                yield _as_table(points).slice(known)

    def changed(self) -> bool:
        """Whether the exported points of a log, or their superseded flags, have changed."""
        return any(
            path in self._exported and state.summary() != self._exported[path]
            for path, state in self._again.items()
        )

    def summaries(self) -> dict[str, LogSummary]:
        """The summaries after the export of all new points."""
        return {**self._exported, **{path: state.summary() for path, state in self._now.items()}}


class _NothingNew(Exception):  # noqa: N818 (no error)
    """A run without new points, whose part is discarded."""


def export_parquet(selection: PointSelection, output: str, how: Work) -> None:
    """Create or continue the dataset in folder `output`."""
    place = Path(output)
    refuse_inside(place, selection.logdirs)
    if place.exists() and not place.is_dir():
        fail(f"{clean(output)}: is a file; Parquet is written as a folder")
    filters = {
        "columns": COLUMNS_VERSION,
        "metrics": sorted(selection.metrics),
        "all_sources": selection.all_sources,
        "verify": selection.verify,
    }
    exported = Exported(selection)
    plan = exported.plan(how)
    target = _Target(place, selection, read_config(tuple(selection.logdirs)), json.dumps(filters))
    try:
        place.mkdir(parents=True, exist_ok=True)
        _check_folder(place, target.schema)
        engine = chosen_engine(how.engine, plan.runs)
        if engine.name == "local":
            exported.take(target.write(plan.runs))
        else:
            for summary in exported.of_shards(plan, engine, target.write):
                exported.take(summary)
    except pa.ArrowInvalid as error:
        fail(f"{clean(output)}: holds a part that cannot be read ({error}); export into a new folder")
    except OSError as error:
        if error.filename is not None and not str(error.filename).startswith(str(place)):
            raise
        fail(f"{clean(output)}: not written: {error.strerror or error}; what is there stays as it was")
    count = len(list(place.glob("run=*")))
    note(f"{clean(output)}: {count_of(exported.points, 'point')} added in {count_of(count, 'run')}")
    exported.finish()


class _Target(NamedTuple):
    """The dataset and the points to write; can be pickled for another process."""

    place: Path
    selection: PointSelection
    config: Config
    filters: str

    @property
    def schema(self) -> pa.Schema:
        """The schema with the options that selected the points."""
        return SCHEMA.with_metadata({_FILTERS: self.filters})

    def write(self, runs: Sequence[RunPlan]) -> ExportSummary:
        """Add the new points of some runs. Raises OSError, ArrowInvalid."""
        shared = SharedNames(self.config)
        exporter = Exporter(
            self.selection, runs, names_of=lambda tags, run: shared.names(shared.recognise(tags, run).label)
        )
        added = 0
        for run in runs:
            folder = self.place / _folder_name(run.name)
            for left in folder.glob(".part-*.part"):  # from an interrupted export
                left.unlink()
            added += _update_run(folder, partial(exporter.of_run, run), self.schema)
        return ExportSummary.of(exporter, added)


def _check_folder(place: Path, schema: pa.Schema) -> None:
    """End the command with 2 if the folder has other content than an export with these options."""
    part = next(place.glob("run=*/part-*.parquet"), None)
    if part is None:
        if any(not path.name.startswith("run=") for path in place.iterdir()):
            fail(f"{clean(str(place))}: is not empty and no export of ours; name another folder")
        return
    found = (pq.read_schema(part).metadata or {}).get(_FILTERS)
    if found is None:
        fail(f"{clean(str(part))}: of another release or program; export into a new folder")
    if found != schema.metadata[_FILTERS]:
        fail(f"{clean(str(place))}: made with other --metric, --all-sources or --verify; name a new folder")


def _folder_name(run: str) -> str:
    """The partition folder of a run."""
    name = quote(run, safe="")
    return f"run={'%2E' * len(name) if set(name) == {'.'} else name}"


def _update_run(folder: Path, read: Callable[[], Iterator[ExportBatch]], schema: pa.Schema) -> int:
    """Add the new points of a run, or write it again if its history changed. Returns the points written."""
    parts = sorted(folder.glob("part-*.parquet"))
    exported = _exported(parts)
    number = int(parts[-1].name.split("-")[1]) + 1 if parts else 0
    target = folder / f"part-{number:06d}-{secrets.token_hex(6)}.parquet"
    batches = read()
    first = next(batches, None)
    if first is None:
        return 0  # a run without points has no folder
    folder.mkdir(parents=True, exist_ok=True)
    written = 0
    with contextlib.suppress(_NothingNew), writable_paths.atomic_file(target) as file:
        logs = _RunLogs(exported or {})
        written = _write(file, logs.new_points(chain((first,), batches)), schema, logs)
        if exported is None or logs.changed():
            file.seek(0)
            file.truncate()
            logs = _RunLogs({})
            written = _write(file, logs.new_points(read()), schema, logs)
            for part in reversed(parts):
                part.unlink()
        if not written:
            raise _NothingNew
    return written


def _exported(parts: Sequence[Path]) -> dict[str, LogSummary] | None:
    """The summary of each exported log of a run, from its last part; None if a part is missing."""
    files = [pq.read_metadata(part) for part in parts]
    logs: dict[str, tuple[int, int, str]] = json.loads(files[-1].metadata[_LOGS]) if files else {}
    found = {path: LogSummary(*summary) for path, summary in logs.items()}
    complete = sum(file.num_rows for file in files) == sum(log.points for log in found.values())
    return found if complete else None


def _write(file: BinaryIO, tables: Iterable[pa.Table], schema: pa.Schema, logs: _RunLogs) -> int:
    """Write tables as Parquet. Returns the points written.

    `pyarrow.dataset.write_dataset` would read the tables in another thread, which delays signals until the
    end of the run.
    """
    written = 0
    with pq.ParquetWriter(file, schema, compression="zstd") as writer:
        for group in _row_groups(tables):
            writer.write_table(group, row_group_size=ROWS)
            written += len(group)
        writer.add_key_value_metadata({_LOGS: json.dumps(logs.summaries())})
    return written


def _row_groups(tables: Iterable[pa.Table]) -> Iterator[pa.Table]:
    held, rows = list[pa.Table](), 0
    for table in tables:
        held.append(table)
        rows += len(table)
        if rows >= ROWS:
            yield pa.concat_tables(held).unify_dictionaries()
            held, rows = [], 0
    if rows:
        yield pa.concat_tables(held).unify_dictionaries()


def _as_table(points: ExportBatch) -> pa.Table:
    """The columns of `SCHEMA`."""
    batch, count = points.batch, len(points.batch)
    flags = points.superseded if points.superseded is not None else np.zeros(count, np.bool_)
    index = pa.array(batch.tag.astype(np.int32))
    series = pa.nulls(count, TEXT)  # the name of the curve in the run, if not the tag
    if batch.written:
        series = pa.DictionaryArray.from_arrays(index, pa.array(list(batch.tags), pa.string()))
    # Lone surrogates, which Parquet does not permit, become escapes.
    tags = [tag.encode("utf-8", "backslashreplace").decode() for tag in spelled(batch)]
    columns = [
        pa.DictionaryArray.from_arrays(index, pa.array(tags, pa.string())),
        pa.array(batch.step),
        pa.array(batch.wall_time, mask=np.isnan(batch.wall_time)),
        pa.array(batch.value),
        pa.DictionaryArray.from_arrays(
            pa.array(np.zeros(count, np.int32)), pa.array([points.source.path])
        ),
        pa.array(flags),
        series,
        *_meanings(points),
    ]  # fmt: skip
    return pa.Table.from_arrays(columns, schema=SCHEMA)


def _meanings(points: ExportBatch) -> list[pa.Array]:
    """For each point, its canonical metric and unit; null if unknown."""
    names = points.names
    found = [names.name(tag) for tag in points.batch.tags] if names is not None else []
    metrics = [name.canonical for name in found]
    units = [name.unit or None if name.canonical is not None else None for name in found]
    return [_by_tag(points, values) for values in (metrics, units)]


def _by_tag(points: ExportBatch, values: Sequence[str | None]) -> pa.Array:
    """For each point, the value of its tag."""
    known = list(dict.fromkeys(value for value in values if value is not None))
    if not known:
        return pa.nulls(len(points.batch), TEXT)
    codes = np.array([-1 if value is None else known.index(value) for value in values], np.int32)
    index = codes[points.batch.tag]
    return pa.DictionaryArray.from_arrays(pa.array(index, mask=index < 0), pa.array(known, pa.string()))

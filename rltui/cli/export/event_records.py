"""Histograms, texts, hyperparameters and tensors of event files as tables, read by tbparse."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator, Sequence

import numpy as np

from rltui.cli.export.export_points import PointSelection, TagFilter
from rltui.cli.export.tables import Row, write_table
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import fail, note
from rltui.common.display_text import clean
from rltui.common.problem import Problems
from rltui.logs.follow.follower import Follower, MissingError
from rltui.logs.follow.read_all import Deliveries, read_all
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file_names import is_events

HEAD = {"run": "text", "source": "text", "tag": "text", "step": "integer", "wall_time": "number"}
COLUMNS = {
    "histograms": {"counts": "numbers", "limits": "numbers"},
    "text": {"text": "text"},
    "hparams": {"value": "text"},
    "tensors": {"value": "text"},
}  # further columns by kind


def export_event_records(selection: PointSelection, kind: str, form: str, output: str | None) -> None:
    """Write one kind of records. Ends the command with 2 if there is no event file."""
    files = _event_files(selection.logdirs)
    files = [(run, each) for run, each in files if selection.runs.takes(run)]
    for _, compressed in (file for file in files if file[1].name.endswith(".gz")):
        note(f"{compressed.path}: left out; --kind {kind} reads no compressed file: unpack it elsewhere")
    files = [(run, each) for run, each in files if not each.name.endswith(".gz")]
    if not files:
        where = ", ".join(clean(logdir) for logdir in selection.logdirs)
        fail(f"{where}: no event files found; --kind {kind} is in no other log")
    rows = _rows(sorted(files, key=lambda file: (file[0], file[1].path)), kind, selection.metrics)
    if form == "parquet":
        rows = map(_with_value_as_text, rows)
    write_table(rows, HEAD | COLUMNS[kind], form, output, selection.logdirs)


def _event_files(logdirs: Sequence[str]) -> list[tuple[str, FoundFile]]:
    """The event files with the names of their runs. Problems are printed on standard error."""
    problems = Problems()
    follower = Follower(logdirs, all_sources=True, once=True)
    try:
        for deliveries in Deliveries(follower):
            for delivery in deliveries:
                problems.note(delivery.batch.problems)
    except MissingError as error:
        fail(f"{clean(error.problem.path)}: no such file or folder")
    note_problems(problems.values())
    return [
        (log.run, log.found) for log in follower.logs.values() if is_events(log.found.name) and not log.hung
    ]


def _rows(files: Sequence[tuple[str, FoundFile]], kind: str, metrics: Sequence[str]) -> Iterator[Row]:
    wanted = TagFilter(metrics)
    for run, file in files:
        try:
            table = _table(file.place, kind)
        except ValueError as error:
            if kind != "text":
                note(f"{file.path}: {kind} cannot be read: {type(error).__name__}: {error}")
                continue
            table = _texts(file.place)  # tbparse fails on lists of texts, which TensorFlow 2 writes
        except (OSError, KeyError, TypeError, AttributeError, MemoryError) as error:
            note(f"{file.path}: {kind} cannot be read: {type(error).__name__}: {error}")
            continue
        for record in table:
            tag = clean(str(record.get("tag", "")))
            if not wanted.tag(tag):
                continue
            row: Row = {"run": run, "source": file.path, "tag": tag}
            row["step"] = None if record.get("step") is None else int(record["step"])
            row["wall_time"] = None if record.get("wall_time") is None else float(record["wall_time"])
            for name in COLUMNS[kind]:
                row[name] = _plain(record.get(name, record.get("value")))
            yield row


def _with_value_as_text(row: Row) -> Row:
    """A row with a value that is no text as JSON, since a Parquet column has one type."""
    return row if isinstance(row.get("value", ""), str) else {**row, "value": json.dumps(row["value"])}


def _table(place: str, kind: str) -> list[Row]:
    """The records of one event file, read by tbparse."""
    from tbparse import SummaryReader

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        reader = SummaryReader(place, extra_columns={"wall_time"}, event_types={kind})
        frame = getattr(reader, kind)
    records: list[Row] = frame.to_dict("records")
    return records


def _texts(place: str) -> list[Row]:
    """The texts of one event file, read by rltui."""
    return [
        {"tag": text.tag, "step": text.step, "wall_time": text.wall_time, "text": text.body}
        for delivery in read_all([place])
        for text in delivery.batch.texts
        if text.kind == "text"
    ]


def _plain(value: object) -> object:
    """Convert numpy values to lists and numbers, and bytes to text; sanitise text."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, bytes):
        value = value.decode("utf-8", "backslashreplace")
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return "\n".join(map(clean, value.splitlines())) if isinstance(value, str) else value

"""Makes a recording of the demo from a real log.

Run: python -m tests.demo.make_recording LOG NAME TITLE ABOUT
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rltui.demo.recording import FOLDER, Recording, Row
from rltui.logs.follow.read_all import read_all
from rltui.metrics.frameworks.recognise import recognise


def write(recording: Recording, folder: Path = FOLDER) -> Path:
    """Keep a recording; the same rows give the same bytes."""
    head = {field: getattr(recording, field) for field in ("name", "title", "framework", "about")}
    lines = [json.dumps(head), *(json.dumps(row) for row in recording.rows)]
    path = folder / f"{recording.name}.jsonl.gz"
    with path.open("wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(("\n".join(lines) + "\n").encode())
    return path


def in_rows(points: Iterable[tuple[str, int, float, float]]) -> Iterator[Row]:
    """Points (tag, step, wall time, value) in file order as rows: one per uninterrupted stretch of a step."""
    step, began, at, values = None, None, 0.0, dict[str, float]()
    for tag, point_step, wall_time, value in points:
        began = wall_time if began is None else began
        if step is not None and (point_step != step or tag in values):
            yield (step, round(at, 3), values)
            values = {}
        step, at = point_step, wall_time - began
        values[tag] = value
    if step is not None:
        yield (step, round(at, 3), values)


def points_of(log: str) -> Iterator[tuple[str, int, float, float]]:
    """(tag, step, wall time, value) of one log file, in its order."""
    for delivery in read_all([log]):
        batch = delivery.batch
        columns = (batch.tag.tolist(), batch.step.tolist(), batch.wall_time.tolist(), batch.value.tolist())
        for tag, step, wall_time, value in zip(*columns, strict=True):
            yield (batch.tags[tag], step, wall_time if wall_time == wall_time else 0.0, value)


def record(log: str, name: str, title: str, about: str) -> Recording:
    """A recording of one log file, every scalar kept."""
    rows = tuple(in_rows(points_of(log)))
    tags = {tag for _, _, values in rows for tag in values}
    return Recording(name, title, recognise(tags).label, about, rows)


if __name__ == "__main__":
    if len(sys.argv) != 5:
        sys.exit("usage: python -m tests.demo.make_recording LOG NAME TITLE ABOUT")
    print(write(record(*sys.argv[1:])))

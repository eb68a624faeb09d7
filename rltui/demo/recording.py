"""A recording: the scalars of one real run, step by step, in a small compressed file.

First line: a JSON object with `name`, `title`, `framework`, `about`.
Every further line: `[step, seconds since the first row, {tag: value}]`; non-finite values as NaN, Infinity.

`python -m rltui.demo.recording LOG NAME TITLE ABOUT` makes one of a real log.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

from rltui.logs.follow.read_all import read_all
from rltui.metrics import recognise

FOLDER = Path(__file__).parent / "recordings"
BREAKS = "late-collapse"  # what `rltui demo` plays without --fault: it breaks while one watches
BREAKS_SOON = 0.53  # share of it that is there at the start: its rate jumps a few seconds later
HEALTHY = "verl-ppo"

Row = tuple[int, float, dict[str, float]]


class Recording(NamedTuple):
    """A run to replay. rows: (step, seconds since the first row, values by tag), as they were written."""

    name: str
    title: str
    framework: str
    about: str
    rows: tuple[Row, ...]


def names() -> list[str]:
    """The bundled recordings: the one that is played, the healthy one, the others."""
    found = sorted(path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz"))
    return sorted(found, key=lambda name: (name != BREAKS, name != HEALTHY))


def read(name: str) -> Recording:
    """A bundled recording. Raises KeyError for a name that is not there."""
    path = FOLDER / f"{name}.jsonl.gz"
    if not path.is_file():
        raise KeyError(name)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head = json.loads(next(lines))
        rows = tuple((int(step), float(at), values) for step, at, values in map(json.loads, lines))
    return Recording(rows=rows, **head)


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
        sys.exit("usage: python -m rltui.demo.recording LOG NAME TITLE ABOUT")
    sys.stdout.write(f"{write(record(*sys.argv[1:]))}\n")

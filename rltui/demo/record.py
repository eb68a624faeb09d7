"""Make a recording from a real log: `python -m rltui.demo.record LOG NAME TITLE ABOUT`."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rltui.demo.recording import Recording, in_rows, write
from rltui.logs.follow.read_all import read_all
from rltui.metrics import recognise


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
        sys.exit("usage: python -m rltui.demo.record LOG NAME TITLE ABOUT")
    sys.stdout.write(f"{write(record(*sys.argv[1:]))}\n")

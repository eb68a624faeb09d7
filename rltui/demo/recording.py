"""A recording: the scalars of one real run, step by step, in a small compressed file.

First line: a JSON object with `name`, `title`, `framework`, `about`.
Every further line: `[step, seconds since the first row, {tag: value}]`; non-finite values as NaN, Infinity.

`python -m tests.demo.make_recording LOG NAME TITLE ABOUT` makes one of a real log.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from rltui.common.named_tuple import NamedTuple

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

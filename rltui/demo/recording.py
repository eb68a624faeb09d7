"""Recordings: the scalars of a real run by step, as compressed JSON lines.

First line: an object with `name`, `title`, `framework`, `about`.
Other lines: `[step, seconds since the first row, {tag: value}]`; non-finite values as NaN, Infinity.

`python -m tests.demo.make_recording LOG NAME TITLE ABOUT` converts a log.
"""

from __future__ import annotations

import gzip
import json
from pathlib import Path

from rltui.common.named_tuple import NamedTuple

FOLDER = Path(__file__).parent / "recordings"
DEFAULT = "late-collapse"  # played by `rltui demo` without --fault: its fault begins while the user watches
DEFAULT_BEFORE = 0.53  # share of DEFAULT that is written at the start: the fault follows a few seconds later
HEALTHY = "verl-ppo"

Row = tuple[int, float, dict[str, float]]


class Recording(NamedTuple):
    """A run to replay. rows: (step, seconds since the first row, values by tag)."""

    name: str
    title: str
    framework: str
    about: str
    rows: tuple[Row, ...]


def names() -> list[str]:
    """The bundled recordings: the default one, the healthy one, then the others."""
    found = [path.name.removesuffix(".jsonl.gz") for path in FOLDER.glob("*.jsonl.gz")]
    return sorted(found, key=lambda name: (name != DEFAULT, name != HEALTHY, name))


def read(name: str) -> Recording:
    """A bundled recording. Raises KeyError for an unknown name."""
    path = FOLDER / f"{name}.jsonl.gz"
    if not path.is_file():
        raise KeyError(name)
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        head = json.loads(next(lines))
        rows = tuple((int(step), float(at), values) for step, at, values in map(json.loads, lines))
    return Recording(rows=rows, **head)

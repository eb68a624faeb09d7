"""Deliveries from plain lists, as readers produce them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from rltui.logs.batch import Batch, SessionStart
from rltui.logs.delivery import Delivery, Kind, Source
from rltui.store.run import Run

Row = tuple[str, int, float]  # tag, step, value
_TAGS: dict[str, int] = {}  # one table for all logs: a log's table only grows


def batch(
    rows: Sequence[Row],
    wall: float | None = None,
    starts: Sequence[tuple[int, int]] = (),
    single: bool = False,
) -> Batch:
    """Points in file order; wall times a tenth of a second apart from `wall` on, or unknown."""
    for tag, _, _ in rows:
        _TAGS.setdefault(tag, len(_TAGS))
    table = tuple(_TAGS)
    size = len(rows)
    walls = (np.nan if wall is None else wall) + 0.1 * np.arange(size, dtype=np.float64)
    return Batch(
        table,
        np.array([_TAGS[tag] for tag, _, _ in rows], np.uint32),
        np.array([step for _, step, _ in rows], np.int64),
        walls,
        np.array([value for _, _, value in rows], np.float64),
        np.full(size, single),
        starts=tuple(SessionStart(index, step) for index, step in starts),
    )


def ticks(steps: Sequence[int], tags: Sequence[str] = ("loss",), base: float = 0.0) -> list[Row]:
    """One row of every tag at each step; values count up from `base`."""
    return [(tag, step, base + index) for index, step in enumerate(steps) for tag in tags]


def delivery(
    rows: Sequence[Row] = (),
    path: str = "metrics.jsonl",
    kind: Kind = "points",
    *,
    run: str = "run",
    wall: float | None = None,
    starts: Sequence[tuple[int, int]] = (),
    size: int = 0,
    read: int = 0,
    duplicate_of: str | None = None,
    rank: int | None = None,
    single: bool = False,
) -> Delivery:
    """A delivery of one log."""
    source = Source(run, path, "jsonl", size=size, read=read, duplicate_of=duplicate_of, rank=rank)
    return Delivery(source, batch(rows, wall, starts, single), kind)


def shown(run: Run, tag: str = "loss") -> list[tuple[int, float]]:
    """(step, value) of the shown points."""
    points = run.series[tag].recent()
    return list(zip(points.step.tolist(), points.value.tolist(), strict=True))


@st.composite
def histories(draw: Any) -> tuple[list[Row], list[int], list[tuple[int, int]]]:
    """A training with restarts, declared or not, and where to cut it into batches."""
    tags = ["a", "b", "c"][: draw(st.integers(1, 3))]
    rows: list[Row] = []
    starts: list[tuple[int, int]] = []
    step, value = 0, 0.0
    for _ in range(draw(st.integers(1, 5))):
        begin = draw(st.integers(0, step))
        if rows and draw(st.booleans()):
            starts.append((len(rows), begin))
        for now in range(begin, begin + draw(st.integers(1, 12))):
            for tag in tags:
                if tag != "c" or now % 3 == 0:
                    odd = draw(st.sampled_from([0, 0, 0, 1, 2]))
                    rows += [(tag, now, float("nan") if odd == 2 else value + odd)] * (2 if odd == 1 else 1)
                    value += 1
            step = now
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=12))
    return rows, sorted({0, *cuts, len(rows)}), starts

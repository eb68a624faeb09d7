"""Runs that go on where another one stopped: a resume that writes into a folder of its own.

transformers makes a new ``runs/<date>_<host>`` at every start. By name these are runs, and nothing says
that they are one training. It is taken for one where all of this holds: the runs lie in one folder and
share most tags; the later one began after the earlier one had ended; its steps begin well behind the
beginning of the earlier one, and not beyond its end. Where two runs fit that were written at the same time
(a sweep), nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from posixpath import dirname
from typing import NamedTuple

import numpy as np

from rltui.store.run import Run

SHARED = 0.75  # of the tags of the run that has fewer
FEWEST = 3  # tags
BEHIND = 3  # usual distances of steps; two trainings that log at other steps begin nearer to each other


class Lineage(NamedTuple):
    """The run that another one continues, and from which of its steps on."""

    run: str
    step: int


class _Life(NamedTuple):
    """What counts of one run. Times are seconds since 1970, steps those on which most series agree."""

    run: Run
    tags: frozenset[str]
    begin: float
    end: float
    first: int
    last: int
    stride: float


def lineage(runs: Iterable[Run]) -> dict[str, Lineage]:
    """By name, each run that continues another one. Needs times; runs without are left out."""
    families: dict[str, list[tuple[int, Run]]] = {}
    for run in runs:
        if run.span is not None:
            families.setdefault(dirname(run.name), []).append((run.span[0], run))
    found = {}
    for family in families.values():
        earliest = min(begin for begin, _ in family)
        if all(begin == earliest for begin, _ in family):
            continue  # as mostly: nothing more needs to be asked
        lives = [life for _, run in family if (life := _life(run)) is not None]
        for late in lives:
            if late.first > earliest + BEHIND * late.stride:
                early = _ancestor(late, lives)
                if early is not None:
                    found[late.run.name] = Lineage(early.run.name, late.first)
    return found


def _ancestor(late: _Life, lives: Iterable[_Life]) -> _Life | None:
    fitting = [early for early in lives if _continues(late, early)]
    if not fitting:
        return None
    newest = max(fitting, key=lambda early: early.end)
    beside = [early for early in fitting if early is not newest and early.end > newest.begin]
    return None if beside else newest


def _continues(late: _Life, early: _Life) -> bool:
    stride = max(late.stride, early.stride)
    if not (early.end < late.begin and late.first > early.first + BEHIND * stride):
        return False
    shared = len(late.tags & early.tags)
    return (
        late.first <= early.last + 1.5 * stride
        and shared >= FEWEST
        and shared >= SHARED * min(len(late.tags), len(early.tags))
    )


def _life(run: Run) -> _Life | None:
    last, walls = run.last_step, run.step_walls
    if last is None or len(walls) < 2 or not run.first_wall < run.last_wall:
        return None
    tags, first = [], []
    for tag, series in run.series.items():
        if series.first_step is not None:
            tags.append(tag)
            first.append(series.first_step)
    strides = np.diff(np.array([step for step, _ in walls], np.int64))
    forward = strides[strides > 0]
    if len(tags) < FEWEST or not len(forward):
        return None
    begins = Counter(first)
    return _Life(
        run, frozenset(tags), run.first_wall, run.last_wall,
        max(begins, key=lambda step: (begins[step], -step)), last, float(np.sort(forward)[len(forward) // 2]),
    )  # fmt: skip

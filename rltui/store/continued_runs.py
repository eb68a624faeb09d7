"""Runs that go on where another one stopped: a resume that writes into a folder of its own.

transformers makes a new ``runs/<date>_<host>`` at every start. By name these are runs, and nothing says
that they are one training. It is taken for one where all of this holds: the runs lie in one folder and
share most tags; the later one began after the earlier one had ended; its steps begin well behind the
beginning of the earlier one, and not beyond its end: a resume begins at one of the last checkpoints, and not
where nearly all of the earlier run would be lost. Where two runs fit that were written at the same time
(a sweep), nothing is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from posixpath import dirname
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.named_tuple import NamedTuple

if TYPE_CHECKING:
    from rltui.store.run import Run

SHARED = 0.75  # of the tags of the run that has fewer
FEWEST = 3  # tags
BEHIND = 3  # usual distances of steps; two trainings that log at other steps begin nearer to each other
KEPT = (
    0.1  # of the steps of the earlier run, at least; trainings one after another begin alike, not at one step
)
NEWEST = 512  # runs of one folder that ended last before a run began: no others are compared with it


class Lineage(NamedTuple):
    """The run that another one continues, and from which of its steps on."""

    run: str
    step: int


class Life(NamedTuple):
    """What counts of one run. Times are seconds since 1970, steps those on which most series agree."""

    name: str
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
    # Mostly all runs of a folder begin at one step: nothing more needs to be asked of them.
    telling = [family for family in families.values() if len({begin for begin, _ in family}) > 1]
    return lineage_of_lives(
        life for family in telling for _, run in family if (life := life_of(run)) is not None
    )


def lineage_of_lives(lives: Iterable[Life]) -> dict[str, Lineage]:
    """The same for runs of which no more is at hand."""
    families: dict[str, list[Life]] = {}
    for life in lives:
        families.setdefault(dirname(life.name), []).append(life)
    found = {}
    for family in families.values():
        family.sort(key=lambda life: life.end)
        ends = np.array([life.end for life in family])
        firsts = np.array([life.first for life in family])
        lasts = np.array([life.last for life in family])
        strides = np.array([life.stride for life in family])
        earliest = int(firsts.min())
        for late in family:
            if late.first <= earliest + BEHIND * late.stride:
                continue
            ended = int(ends.searchsorted(late.begin))
            near = slice(max(0, ended - NEWEST), ended)
            stride = np.maximum(strides[near], late.stride)
            behind = np.maximum(BEHIND * stride, KEPT * (lasts[near] - firsts[near]))
            in_reach = (late.first > firsts[near] + behind) & (late.first <= lasts[near] + 1.5 * stride)
            early = _ancestor(late, [family[near.start + int(at)] for at in np.flatnonzero(in_reach)])
            if early is not None:
                found[late.name] = Lineage(early.name, late.first)
    return found


def _ancestor(late: Life, before: Sequence[Life]) -> Life | None:
    """The run that one continues, of those that it may continue by time and steps, the newest last."""
    newest: Life | None = None
    for early in reversed(before):
        if newest is not None and early.end <= newest.begin:
            break
        if _share_tags(late, early):
            if newest is not None:
                return None  # two that were written at the same time
            newest = early
    return newest


def _share_tags(late: Life, early: Life) -> bool:
    shared = len(late.tags & early.tags)
    return shared >= FEWEST and shared >= SHARED * min(len(late.tags), len(early.tags))


def life_of(run: Run) -> Life | None:
    """What counts of a run; None where it has too few times or tags to be compared."""
    last, walls = run.last_step, run.step_walls
    if last is None or len(walls) < 2 or not run.first_wall < run.last_wall:
        return None
    tags, first = [], []
    for tag, series in run.series.items():
        if series.first_step is not None:
            tags.append(tag)
            first.append(series.first_step)
    strides = np.diff(walls[:, 0].astype(np.int64))
    forward = strides[strides > 0]
    if len(tags) < FEWEST or not len(forward):
        return None
    begins = Counter(first)
    return Life(
        run.name, frozenset(tags), run.first_wall, run.last_wall,
        max(begins, key=lambda step: (begins[step], -step)), last, float(np.sort(forward)[len(forward) // 2]),
    )  # fmt: skip

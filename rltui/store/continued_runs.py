"""Runs that continue another run: a resume that writes into its own folder.

transformers creates a new ``runs/<date>_<host>`` at every start. By name these are separate runs. One
continues another if the runs are in one folder and share most tags; the later one began after the earlier one
had ended; and its steps begin well after the first step of the earlier one and not beyond its last: a resume
begins at one of the last checkpoints, not where nearly all of the earlier run would be lost. Of two
candidates that were written concurrently (a sweep), neither is continued.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from posixpath import dirname
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import median
from rltui.common.named_tuple import NamedTuple

if TYPE_CHECKING:
    from rltui.store.run import Run

SHARED_TAGS = 0.75  # of the tags of the run that has fewer
MIN_TAGS = 3
# The first step must be so far above that of the earlier run: two trainings that log at other steps begin
# nearer to each other, and successive trainings begin at similar steps.
MIN_STRIDES = 3  # usual distances between steps
MIN_SHARE = 0.1  # of the steps of the earlier run
MAX_CANDIDATES = 512  # runs of the folder that ended last before a run began


class Lineage(NamedTuple):
    """The run that another one continues, and the step from which it does."""

    run: str
    step: int


class Life(NamedTuple):
    """The data of one run that are compared. Times are seconds since 1970; most series agree on the steps."""

    name: str
    tags: frozenset[str]
    begin: float
    end: float
    first: int
    last: int
    stride: float


def lineage(runs: Iterable[Run]) -> dict[str, Lineage]:
    """By name, each run that continues another one. Runs without wall times are left out."""
    folders: dict[str, list[tuple[int, Run]]] = {}
    for run in runs:
        if run.span is not None:
            folders.setdefault(dirname(run.name), []).append((run.span[0], run))
    # In most folders all runs begin at one step, so that none can continue another.
    candidates = [folder for folder in folders.values() if len({begin for begin, _ in folder}) > 1]
    return lineage_of_lives(
        life for folder in candidates for _, run in folder if (life := life_of(run)) is not None
    )


def lineage_of_lives(lives: Iterable[Life]) -> dict[str, Lineage]:
    """The same from the compared data alone."""
    folders: dict[str, list[Life]] = {}
    for life in lives:
        folders.setdefault(dirname(life.name), []).append(life)
    found = {}
    for runs in folders.values():
        runs.sort(key=lambda life: life.end)
        ends = np.array([life.end for life in runs])
        firsts = np.array([life.first for life in runs])
        lasts = np.array([life.last for life in runs])
        strides = np.array([life.stride for life in runs])
        earliest = int(firsts.min())
        for late in runs:
            if late.first <= earliest + MIN_STRIDES * late.stride:
                continue
            ended = int(ends.searchsorted(late.begin))
            recent = slice(max(0, ended - MAX_CANDIDATES), ended)
            stride = np.maximum(strides[recent], late.stride)
            distance = np.maximum(MIN_STRIDES * stride, MIN_SHARE * (lasts[recent] - firsts[recent]))
            fits = (late.first > firsts[recent] + distance) & (late.first <= lasts[recent] + 1.5 * stride)
            early = _continued_run(late, [runs[recent.start + int(at)] for at in np.flatnonzero(fits)])
            if early is not None:
                found[late.name] = Lineage(early.name, late.first)
    return found


def _continued_run(late: Life, candidates: Sequence[Life]) -> Life | None:
    """The run that `late` continues. candidates: those that fit by time and steps, the newest last."""
    newest: Life | None = None
    for early in reversed(candidates):
        if newest is not None and early.end <= newest.begin:
            break
        shared = len(late.tags & early.tags)
        if shared >= max(MIN_TAGS, SHARED_TAGS * min(len(late.tags), len(early.tags))):
            if newest is not None:
                return None  # two that were written concurrently
            newest = early
    return newest


def life_of(run: Run) -> Life | None:
    """The compared data of a run; None where it has too few wall times or tags."""
    last, walls = run.last_step, run.step_walls
    if last is None or len(walls) < 2 or not run.first_wall < run.last_wall:
        return None
    tags, first = [], []
    for tag, series in run.series.items():
        if series.first_step is not None:
            tags.append(tag)
            first.append(series.first_step)
    strides = np.diff(walls[:, 0])
    forward = strides[strides > 0]
    if len(tags) < MIN_TAGS or not len(forward):
        return None
    begins = Counter(first)
    return Life(
        run.name, frozenset(tags), run.first_wall, run.last_wall,
        max(begins, key=lambda step: (begins[step], -step)), last, median(forward),
    )  # fmt: skip

"""The segments of the logs of a run, of which attempts are made, and what each segment supersedes."""

from __future__ import annotations

from dataclasses import dataclass, field
from posixpath import basename, dirname
from typing import Literal

import numpy as np

from rltui.common.arrays import Bools, Ints, distinct_sorted
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.log_file_names import file_order
from rltui.store.points import HIGHEST, LOWEST, Points
from rltui.store.restarts.step_regression import StepRegressions

Reason = Literal["session-start", "rewind", "file"]
_NO_POINTS = np.array([[HIGHEST], [LOWEST], [HIGHEST]])  # first, high and cuts of a tag without points
_HEAD_BLOCK = 512  # points examined at a time: with a hundred tags they hold enough steps
_NO_ROWS: Ints = np.empty(0, np.int64)
HEAD_STEPS = 4  # distinct steps that show how an attempt began
_NAME_TIME = regex(r"tfevents\.(\d{9,11})(?:\D|$)")


class Attempt(NamedTuple):
    """The part of a training between two starts: a session start, a file, steps that went back."""

    first_step: int
    first_wall: float  # NaN unknown
    last_step: int
    reason: Reason
    path: str = ""  # the log it was read from, relative to LOGDIR
    replaced: int = 0  # earlier points that it replaced
    from_scratch: bool = False  # it began where the training had begun, without resuming


def time_in_name(path: str) -> float:
    """The unix time in an event file's name; 0 without one."""
    match = _NAME_TIME.search(path)
    return float(match.group(1)) if match else 0.0


@dataclass(slots=True, eq=False)
class AttemptLog:
    """One log of a run. A file that replaces another one at the same path is another log."""

    path: str
    rank: int | None
    generation: int
    born: float  # unix time in its name, else of its first point; 0 unknown
    first_wall: float = np.nan
    last_wall: float = np.nan
    count: int = 0  # points seen
    merged: int = 0  # segments that were merged into the oldest one
    segments: list[Segment] = field(default_factory=list)
    regressions: StepRegressions = field(default_factory=StepRegressions)
    folder: str = field(init=False)
    base: str = field(init=False)  # its name before it was rotated
    # Sorts logs by age. Rotated copies (``metrics.jsonl.1``) are older than their log.
    key: tuple[float, float, str, str, int, int, int] = field(init=False)

    def __post_init__(self) -> None:
        self.folder = dirname(self.path)
        self.base = file_order(basename(self.path))[0]
        self.date(self.first_wall)

    def date(self, first_wall: float) -> None:
        """Set the wall time of its first point, which sorts logs without a time in their name."""
        self.first_wall = first_wall
        first = 0.0 if np.isnan(first_wall) else first_wall
        self.born = self.born or first
        self.key = (self.born, first, self.folder, *file_order(basename(self.path)), self.generation)


@dataclass(slots=True, eq=False)
class Segment:
    """A part of one log. first, high: steps by row (tag of the run); HIGHEST and LOWEST without points."""

    log: AttemptLog
    begin: int  # number of its first point within the log
    reason: Reason
    start: int = HIGHEST  # the start step that the writer declared
    first: Ints = field(default_factory=lambda: _NO_ROWS)
    high: Ints = field(default_factory=lambda: _NO_ROWS)
    cuts: Ints = field(default_factory=lambda: _NO_ROWS)  # what it supersedes, by row
    row_step: int | None = None  # the step at which most tags of its first row began
    first_row: Bools | None = None  # the tags of its first row
    tags: int = 0  # number of tags with points
    first_step: int = HIGHEST
    first_wall: float = np.nan
    last_step: int = LOWEST
    head: list[int] = field(default_factory=list)  # its first distinct rising steps, up to HEAD_STEPS
    replaced: int = 0  # earlier points that it replaced, counted by the store
    # By row, the steps that it replaced while its newest points may still turn out to be of the next segment.
    uncertain: dict[int, list[Ints]] = field(default_factory=dict)
    merged_superseded: int = 0  # points that segments merged into it replaced as resumes,
    merged_earlier: int = 0  # and as attempts from scratch

    @property
    def key(self) -> tuple[tuple[float, float, str, str, int, int, int], int]:
        """Sorts segments by age."""
        return (self.log.key, self.begin)

    def limit_high(self, reached: Ints) -> list[int]:
        """Limit its highest steps to `reached`, by row: LOWEST where it has no points, HIGHEST unknown.

        Returns the rows that turn out to have no points.
        """
        size = min(len(reached), len(self.high))
        np.minimum(self.high[:size], reached[:size], out=self.high[:size])
        empty = (reached[:size] == LOWEST) & (self.first[:size] < HIGHEST)
        self.first[:size][empty] = HIGHEST
        self.tags -= int(np.count_nonzero(empty))
        self.last_step = max(self.first_step, int(self.high.max()))
        self.head = [step for step in self.head if step <= self.last_step]
        return np.flatnonzero(empty).tolist()

    def note_replaced(self, row: int, points: Points, count: int) -> None:
        """Count `count` replaced points of a row, including those in buckets that are not in `points`."""
        self.replaced += count
        if not self.log.regressions.idle:
            self.uncertain.setdefault(row, []).append(points.step)

    def hand_over(self, row: int, below: int, successor: Segment) -> None:
        """Give its points of a row to the next segment, which then replaced the steps below `below`."""
        moved = sum(int(np.count_nonzero(steps < below)) for steps in self.uncertain.pop(row, ()))
        self.replaced -= moved
        successor.replaced += moved
        self.cuts[row] = below

    def note_head(self, step: Ints) -> None:
        """Record its first distinct rising steps. step: of all new points, in order."""
        at = 0
        while len(self.head) < HEAD_STEPS and at < len(step):
            rising = np.maximum.accumulate(step[at : at + _HEAD_BLOCK])
            new = distinct_sorted(rising[rising > self.head[-1]] if self.head else rising)
            self.head += new[: HEAD_STEPS - len(self.head)].tolist()
            at += _HEAD_BLOCK

    def grow(self, rows: int) -> None:
        """Make room for `rows` tags."""
        old = len(self.first)
        if old >= rows:
            return
        table = np.empty((3, max(rows, 2 * old)), np.int64)
        table[:, :old] = self.first, self.high, self.cuts
        table[:, old:] = _NO_POINTS
        self.first, self.high, self.cuts = table


class Piece(NamedTuple):
    """Points of one batch that belong to one segment: indices [low, high) of the batch.

    A negative `low` reaches back: that many points before the batch belong to this segment too, although they
    were assigned to the one before. `StepRegressions.reach_back` returns them.
    """

    segment: Segment
    low: int
    high: int


class Cut(NamedTuple):
    """Points of `row` at steps in [low, high) that are older than `cause` are superseded."""

    row: int
    low: int
    high: int
    cause: Segment

"""Detects that the steps of one log went back: the start of another attempt that was not declared.

It examines every point of the log in file order, and reports at which point an attempt began once that is
certain, a few points later. It is a restart if the run as a whole goes back: `STEPS_NEEDED` distinct steps of
one tag go forward again below its former highest step (or two reach it exactly, if other tags do so too), and
at least half of the tags that had points since went back as well. A tag that counts something else (seconds,
batches of an epoch), several points at one step, two swapped lines and two writers that alternate are no
restarts. For a single repeated step see `repeated_step`. All rules count points, none counts batches.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rltui.common.arrays import Ints
from rltui.common.named_tuple import NamedTuple
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, Points, join
from rltui.store.restarts.repeated_step import RepeatedStep
from rltui.store.tag_rows import Rows

STEPS_NEEDED = 3  # distinct steps that a tag must go forward below its former highest one
MAX_POINTS = 4096  # points, or 8 rows, after which a tag that went back alone counts as independent
QUIET_POINTS = 1024  # points without a suspect before whole batches are examined again
MAX_REPEATS = 64  # points at one step after which a tag counts as going forward
_NO_STEPS, _NO_ROWS = np.empty(0, np.int64), np.empty(0, np.bool_)


@dataclass(slots=True)
class Suspect:
    """A tag that went back: possibly a new attempt."""

    number: int  # of the point that went back
    low: int  # its step
    highest: int  # the tag's highest step before
    step: int  # newest
    steps: int = 1  # distinct steps forward
    points: int = 1
    caught_up: bool = False  # reached the former highest step exactly


class _Part(NamedTuple):
    """Points of one batch."""

    number: int  # index in the log of the first
    rows: Rows
    points: Points


class StepRegressions:
    """The step regressions of one log."""

    def __init__(self) -> None:
        self._high = _NO_STEPS  # by row, the highest step
        self._independent = _NO_ROWS  # tags that count something else than steps: ignored
        self._needed: dict[int, int] = {}
        self._suspects: dict[int, Suspect] = {}
        self._last: dict[int, int] = {}  # row: number of its newest point, while there are suspects
        # row: number of its first point since then, and its highest step before
        self._before: dict[int, tuple[int, int]] = {}
        self.peculiar = False  # some tags go back without a restart
        self._divided = False
        self.no_repeats = True  # so far no tag had two points at one step, except in a restart
        self._repeated: RepeatedStep | None = None
        self.reached = np.empty(0, np.int64)  # by row, before the latest attempt that began before its batch
        self._kept: list[_Part] = []  # since the oldest suspect: these may belong to the next attempt
        self._now: _Part | None = None

    @property
    def idle(self) -> bool:
        """Whether there are no suspects."""
        return not self._suspects and self._repeated is None

    def note_forward(self, rows: Rows, step: Ints, last: Ints) -> bool:
        """Record points of distinct rows that go forward from `step` to `last`; False if they need `scan`."""
        try:
            high = self._high[rows]
        except IndexError:
            self._grow(int(rows.max()) + 1)
            high = self._high[rows]
        forward = step > high if self.no_repeats else step >= high
        if self._suspects or self._repeated is not None or not np.logical_and.reduce(forward):
            return False
        self._high[rows] = last
        return True

    def _grow(self, size: int) -> None:
        old = len(self._high)
        if size > old:
            size = max(size, 2 * old)
            self._high = np.concatenate([self._high, np.full(size - old, LOWEST, np.int64)])
            self._independent = np.concatenate([self._independent, np.zeros(size - old, np.bool_)])

    def restart(self) -> None:
        """Forget earlier steps, since the writer declared a start."""
        self._high[:] = LOWEST
        self._suspects.clear()
        self._forget_newest()
        self._needed.clear()
        self._repeated = None
        self._divided = True

    def commit(self) -> None:
        """Finish a batch: keep those of its points that may belong to another attempt."""
        if self.idle or self._divided:
            self._kept = []
        if not self.idle and self._now is not None:
            self._kept.append(self._now)
            numbers = [suspect.number for suspect in self._suspects.values()]
            oldest = min(numbers + ([] if self._repeated is None else [self._repeated.number]))
            while self._kept and self._kept[0].number + len(self._kept[0].rows) <= oldest:
                self._kept.pop(0)
        self._now = None
        self._divided = False

    def scan(self, number: int, rows: Rows, points: Points, before: float = np.nan) -> list[int]:
        """Examine points from `number` on. Returns the numbers at which attempts began, some before `number`.

        before: the latest wall time of earlier points, NaN unknown.
        """
        if not len(rows):
            return []
        self._grow(int(rows.max()) + 1)
        step = points.step
        self._divided |= self._now is not None  # by a declared start: no attempt begins before it
        self._now = _Part(number, rows, points)
        found: list[int] = []
        at = 0
        while at < len(rows):
            if self.idle:
                stop = self._backward(rows[at:], step[at:])
                np.maximum.at(self._high, rows[at : at + stop], step[at : at + stop])
                at += stop
                if at == len(rows):
                    break
            at = self._walk(number, rows, points, at, found, before)
        self._high[self._independent] = LOWEST
        return found

    def _backward(self, rows: Rows, step: Ints) -> int:
        """Index of the first point that does not go forward; the length if there is none."""
        order = np.argsort(rows.astype(np.uint16) if len(self._high) < 1 << 16 else rows, kind="stable")
        row, steps = rows[order], step[order]
        first = np.empty(len(row), np.bool_)
        first[0] = True
        np.not_equal(row[1:], row[:-1], out=first[1:])
        back = np.empty(len(row), np.bool_)
        back[0] = False
        compare = np.less_equal if self.no_repeats else np.less
        compare(steps[1:], steps[:-1], out=back[1:])
        back[first] = compare(steps[first], self._high[row[first]])
        back &= ~self._independent[row]
        return int(order[back].min()) if back.any() else len(rows)

    def _walk(self, number: int, rows: Rows, points: Points, at: int, found: list[int], before: float) -> int:
        """Examine single points from `at`, until there were no suspects for a while; where it stopped."""
        step = points.step
        high: list[int] = self._high.tolist()
        own: list[bool] = self._independent.tolist()
        quiet = 0
        begin = at
        row_list, step_list = rows[at:].tolist(), step[at:].tolist()
        for row, now in zip(row_list, step_list, strict=True):
            at += 1
            here = number + at - 1
            suspects = self._suspects
            if self._repeated is not None or (
                self.no_repeats and not suspects and now == high[row] and not own[row]
            ):
                quiet = 0
                start = None if own[row] else self._repeated_at(row, now, here, points, at - 1, high, before)
                if start is not None:
                    found.append(start)
                    high = self._begin_attempt(high, start, _Part(number, rows[:at], points.take(slice(at))))
                if self._repeated is not None or start is not None:
                    continue
            if suspects:
                quiet = 0
                self._last[row] = here
                self._before.setdefault(row, (here, high[row]))
            else:
                quiet += 1
                if quiet > QUIET_POINTS:
                    at -= 1
                    break
            if own[row]:
                continue
            suspect = suspects.get(row)
            if suspect is None:
                if now < high[row]:
                    suspects[row] = Suspect(here, now, high[row], now)
                    self._last[row] = here
                else:
                    high[row] = now
            elif self._is_restart(row, suspect, now, here, high):
                start = self._start_of(suspect)
                if start is not None:
                    found.append(start)
                    high = self._begin_attempt(high, start, _Part(number, rows[:at], points.take(slice(at))))
            if suspects and not here & 255:
                self._expire(here, own, len(high))
            elif not suspects:
                self._forget_newest()
        self._high[:] = high
        self._independent[:] = own
        self.peculiar = self.peculiar or any(own) or bool(self._needed)
        return max(at, begin)

    def _repeated_at(
        self, row: int, now: int, here: int, points: Points, at: int, high: list[int], before: float
    ) -> int | None:
        """Examine a step that may be repeated; the number at which an attempt began, once that is certain."""
        wall, repeated = float(points.wall_time[at]), self._repeated
        if repeated is None:
            last = float(np.fmax.reduce(points.wall_time[:at], initial=before))
            repeated = self._repeated = RepeatedStep(here, now, high.count(now), wall - last, wall)
        decision = repeated.add(row, now, high[row], wall)
        if decision == "wait" and here - repeated.number <= MAX_POINTS:
            return None
        self._repeated = None
        if decision == "restart":
            return repeated.number
        self.no_repeats = False
        for each, newest in repeated.newest.items():
            high[each] = newest
        return None

    def _is_restart(self, row: int, suspect: Suspect, now: int, here: int, high: list[int]) -> bool:
        """Add the next point of a suspect; whether it proves another attempt."""
        needed = self._needed.get(row, STEPS_NEEDED)
        if now > suspect.highest:
            if suspect.caught_up and suspect.steps > 1 and needed == STEPS_NEEDED:
                return True
            if suspect.steps < needed:  # it continued above at once: lines out of order, or two writers
                self._needed[row] = min(2 * needed, 48)
            del self._suspects[row]
            high[row] = now
            return False
        if now < suspect.low:
            self._suspects[row] = Suspect(here, now, suspect.highest, now)
            return False
        suspect.points += 1
        if now > suspect.step:
            suspect.step = now
            suspect.steps += 1
        if now == suspect.highest:
            suspect.caught_up = True
        repeated = suspect.caught_up and suspect.steps > 1 and needed == STEPS_NEEDED
        with_others = repeated and len(self._suspects) > 1
        return with_others or suspect.steps >= needed or suspect.points >= MAX_REPEATS

    def _start_of(self, suspect: Suspect) -> int | None:
        """The number at which the attempt began, if the run as a whole went back with this tag."""
        width = len(self._last) + 1
        group = [other for other in self._suspects.values() if abs(other.number - suspect.number) <= width]
        active = sum(last >= suspect.number for last in self._last.values())
        if 2 * len(group) < active:
            return None
        return min(other.number for other in group)

    def _begin_attempt(self, high: list[int], start: int, seen: _Part) -> list[int]:
        """Begin an attempt at `start`, and forget what is before it. Returns its highest steps by row."""
        if start < seen.number:
            reached = np.where(self._independent[: len(high)], LOWEST, np.array(high, np.int64))
            moved = [row for row, last in self._last.items() if last >= start and row not in self._suspects]
            # Tags that went forward since cannot have been further than the others.
            most = int(np.delete(reached, moved).max(initial=LOWEST))
            for row in moved:
                first, highest = self._before.get(row, (-1, most))
                reached[row] = min(int(reached[row]), highest if first >= start else most)
            self.reached = np.where(self._independent[: len(high)], HIGHEST, reached)
        self._suspects.clear()
        self._forget_newest()
        high = [LOWEST] * len(high)
        for part in [*(self._kept if start < seen.number else ()), seen]:
            new = slice(max(start - part.number, 0), None)
            for row, now in zip(part.rows[new].tolist(), part.points.step[new].tolist(), strict=True):
                high[row] = max(high[row], now)
        return high

    def _forget_newest(self) -> None:
        self._last.clear()
        self._before.clear()

    def _expire(self, here: int, own: list[bool], width: int) -> None:
        """Treat tags that went back alone, long ago, as independent of the training step."""
        most = max(MAX_POINTS, 8 * width)
        for row, suspect in list(self._suspects.items()):
            if here - suspect.number > most:
                own[row] = True
                del self._suspects[row]

    def reach_back(self, number: int, count: int) -> tuple[Rows, Points]:
        """The last `count` points before `number`."""
        if not self._kept:
            return np.empty(0, np.intp), NO_POINTS
        end = number - self._kept[0].number
        part = slice(end - count, end)
        rows = np.concatenate([kept.rows for kept in self._kept])
        return rows[part], join([kept.points for kept in self._kept]).take(part)

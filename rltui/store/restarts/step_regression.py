"""Notices that the steps of one log went back: the start of another attempt that nobody declared.

Fed with every point of the log in file order; says at which point an attempt began once that is certain,
a few points later. It is a restart when the run as a whole goes back: `NEEDED` distinct steps of one tag
run forward again below its former highest one (or two up to it exactly, where others go with it), and at
least half of the tags that had points since stepped back too. A tag that counts something else (seconds,
batches of an epoch), several points of one step, a swapped pair of lines and two writers that take turns are
none; for a single step that is repeated see `repeated_step`. All rules count points, none counts batches.
"""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import Ints
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, Points, join
from rltui.store.restarts.repeated_step import RepeatedStep
from rltui.store.tag_rows import Rows

NEEDED = 3  # distinct steps that a tag must take forward below its former highest one
MOST_POINTS = 4096  # points, or 8 rows: after so long a tag that went back alone counts something of its own
QUIET = 1024  # points without a suspect before whole batches are looked at again
_NO_STEPS, _NO_ROWS = np.empty(0, np.int64), np.empty(0, np.bool_)
REPEATS = 64  # points of one step after which a row that stands still counts as going on


@dataclass(slots=True)
class Suspect:
    """A tag that stepped back: perhaps a new attempt."""

    number: int  # of the point that stepped back
    low: int  # its step
    highest: int  # the tag's highest step before
    step: int  # newest
    steps: int = 1  # distinct ones, forward
    points: int = 1
    again: bool = False  # reached the former highest step exactly


class _Part(NamedTuple):
    """Points of one batch."""

    number: int  # of the first
    rows: Rows
    points: Points


class StepRegressions:
    """The watch over one log."""

    def __init__(self) -> None:
        self._high = _NO_STEPS  # by row, the highest step
        self._own = _NO_ROWS  # tags that count something of their own: never looked at
        self._needed: dict[int, int] = {}
        self._suspects: dict[int, Suspect] = {}
        self._last: dict[int, int] = {}  # row: number of its newest point, while there are suspects
        self._before: dict[
            int, tuple[int, int]
        ] = {}  # row: its first point since then, its highest step before
        self._peculiar = False
        self._divided = False
        self.plain = True  # no tag had two points at one step so far, or it was a restart
        self._repeated: RepeatedStep | None = None
        self.reached = np.empty(0, np.int64)  # by row, before the latest attempt that began before its batch
        self._kept: list[_Part] = []  # since the oldest suspect: these points may have to change sides
        self._now: _Part | None = None

    @property
    def idle(self) -> bool:
        """No suspects."""
        return not self._suspects and self._repeated is None

    @property
    def peculiar(self) -> bool:
        """Some tags go back without a restart."""
        return self._peculiar

    def steady(self, rows: Rows, step: Ints, last: Ints | None = None) -> bool:
        """Note points of distinct rows, forward from `step` (to `last`); False: they are not, `scan` them."""
        try:
            high = self._high[rows]
        except IndexError:
            self._grow(int(rows.max()) + 1)
            high = self._high[rows]
        forward = step > high if self.plain else step >= high
        if self._suspects or self._repeated is not None or not np.logical_and.reduce(forward):
            return False
        self._high[rows] = step if last is None else last
        return True

    def _grow(self, size: int) -> None:
        old = len(self._high)
        if size > old:
            size = max(size, 2 * old)
            self._high = np.concatenate([self._high, np.full(size - old, LOWEST, np.int64)])
            self._own = np.concatenate([self._own, np.zeros(size - old, np.bool_)])

    def restart(self) -> None:
        """The writer declared a start: earlier steps do not matter any more."""
        self._high[:] = LOWEST
        self._suspects.clear()
        self._forget_newest()
        self._needed.clear()
        self._repeated = None
        self._divided = True

    def commit(self) -> None:
        """The batch has been dealt with."""
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
        """Look at points from `number` on; the numbers at which attempts began, maybe before `number`.

        before: the latest wall time of the points before them, NaN unknown.
        """
        if not len(rows):
            return []
        self._grow(int(rows.max()) + 1)
        step = points.step
        self._divided |= self._now is not None  # by a declared start: nothing reaches back beyond it
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
        self._high[self._own] = LOWEST
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
        compare = np.less_equal if self.plain else np.less
        compare(steps[1:], steps[:-1], out=back[1:])
        back[first] = compare(steps[first], self._high[row[first]])
        back &= ~self._own[row]
        return int(order[back].min()) if back.any() else len(rows)

    def _walk(self, number: int, rows: Rows, points: Points, at: int, found: list[int], before: float) -> int:
        """Point by point from `at`, until suspects have been gone for a while; where it stopped."""
        step = points.step
        high: list[int] = self._high.tolist()
        own: list[bool] = self._own.tolist()
        quiet = 0
        begin = at
        row_list, step_list = rows[at:].tolist(), step[at:].tolist()
        for row, now in zip(row_list, step_list, strict=True):
            at += 1
            here = number + at - 1
            suspects = self._suspects
            if self._repeated is not None or (
                self.plain and not suspects and now == high[row] and not own[row]
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
                if quiet > QUIET:
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
        self._own[:] = own
        self._peculiar = self._peculiar or any(own) or bool(self._needed)
        return max(at, begin)

    def _repeated_at(
        self, row: int, now: int, here: int, points: Points, at: int, high: list[int], before: float
    ) -> int | None:
        """A step may be repeated; the number at which that attempt began, once it is certain."""
        wall, repeated = float(points.wall_time[at]), self._repeated
        if repeated is None:
            last = float(np.fmax.reduce(points.wall_time[:at], initial=before))
            repeated = self._repeated = RepeatedStep(here, now, high.count(now), wall - last, wall)
        decision = repeated.add(row, now, high[row], wall)
        if decision == "wait" and here - repeated.number <= MOST_POINTS:
            return None
        self._repeated = None
        if decision == "restart":
            return repeated.number
        self.plain = False
        for each, newest in repeated.newest.items():
            high[each] = newest
        return None

    def _is_restart(self, row: int, suspect: Suspect, now: int, here: int, high: list[int]) -> bool:
        """A suspect's next point; whether it has proved to be another attempt."""
        needed = self._needed.get(row, NEEDED)
        if now > suspect.highest:
            if suspect.again and suspect.steps > 1 and needed == NEEDED:
                return True
            if suspect.steps < needed:  # it went on above at once: lines out of order, or two writers
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
            suspect.again = True
        whole = suspect.again and suspect.steps > 1 and needed == NEEDED and len(self._suspects) > 1
        return whole or suspect.steps >= needed or suspect.points >= REPEATS

    def _start_of(self, suspect: Suspect) -> int | None:
        """Number at which the attempt began, if the run as a whole went back with this tag."""
        width = len(self._last) + 1
        group = [other for other in self._suspects.values() if abs(other.number - suspect.number) <= width]
        active = sum(last >= suspect.number for last in self._last.values())
        if 2 * len(group) < active:
            return None
        return min(other.number for other in group)

    def _begin_attempt(self, high: list[int], start: int, seen: _Part) -> list[int]:
        """An attempt began at `start`: nothing before it counts any more. Its highest steps so far."""
        if start < seen.number:
            reached = np.where(self._own[: len(high)], LOWEST, np.array(high, np.int64))
            moved = [row for row, last in self._last.items() if last >= start and row not in self._suspects]
            kept = np.delete(reached, moved)  # tags that went forward since had got no further than these
            most = int(kept.max(initial=LOWEST))
            for row in moved:
                first, highest = self._before.get(row, (-1, most))
                reached[row] = min(int(reached[row]), highest if first >= start else most)
            self.reached = np.where(self._own[: len(high)], HIGHEST, reached)
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
        """A tag that went back alone, long ago, counts something of its own."""
        most = max(MOST_POINTS, 8 * width)
        for row, suspect in list(self._suspects.items()):
            if here - suspect.number > most:
                own[row] = True
                del self._suspects[row]

    def reach_back(self, number: int, count: int) -> tuple[Rows, Points]:
        """The `count` points before `number`, which belong to an attempt that began with them."""
        if not self._kept:
            return np.empty(0, np.intp), NO_POINTS
        end = number - self._kept[0].number
        part = slice(end - count, end)
        rows = np.concatenate([kept.rows for kept in self._kept])
        return rows[part], join([kept.points for kept in self._kept]).take(part)

"""One tag of a run as its readers see it: exact recent points, columns of any window, superseded points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.store.model import F64, HIGHEST, LOWEST, NO_POINTS, Axis, Columns, Points, join
from rltui.store.query import EXACT, columns

if TYPE_CHECKING:
    from rltui.store.tag_rows import TagRows

KEPT_SUPERSEDED = 1024  # superseded points of a series that are kept; all are counted


class Series:
    """A view of one row of a run's tables. The newest points of a preview are part of every answer."""

    __slots__ = ("_kept", "_left", "_run", "row", "superseded", "superseded_exact", "tag")

    def __init__(self, run: TagRows, tag: str, row: int) -> None:
        self._run = run
        self.tag = tag
        self.row = row
        self.superseded = 0  # points that a later attempt replaced
        self.superseded_exact = (
            True  # False: a restart went back into the buckets, one of them holds both sides
        )
        self._kept = 0
        self._left: list[tuple[Points, str]] = []  # superseded points, and the log that superseded them

    def _preview(self) -> Points:
        """Points of a preview that the history has not reached yet."""
        found = self._run.preview_of(self.row)
        if not len(found):
            return NO_POINTS
        reached = self._newest()
        if reached is None:
            return found
        new = found.step > reached
        return Points(found.step[new], found.wall_time[new], found.value[new])

    def _newest(self) -> int | None:
        pool = self._run.pool
        length = int(pool.length[self.row])
        if length:
            return int(pool.step[self.row, length - 1])
        return int(pool.bucketed[self.row]) if pool.bucketed[self.row] > LOWEST else None

    def _window(self) -> Points:
        window = self._run.pool.points(self.row)
        return join([window, self._preview()]) if self._run.previewing else window

    @property
    def single(self) -> bool:
        """Whether every value was a float32 on disk."""
        return bool(self._run.pool.single[self.row])

    @property
    def count(self) -> int:
        """Points shown: all that were read except superseded ones."""
        shown = int(self._run.pool.count[self.row])
        return shown + len(self._preview()) if self._run.previewing else shown

    @property
    def nonfinite(self) -> int:
        """Shown points that are NaN or infinite."""
        odd = int(self._run.pool.odd[self.row])
        return odd + int((~np.isfinite(self._preview().value)).sum()) if self._run.previewing else odd

    @property
    def first_step(self) -> int | None:
        """Lowest shown step; None without points."""
        first = int(self._run.pool.first[self.row])
        if self._run.previewing:
            first = min([first, *self._preview().step[:1].tolist()])
        return None if first == HIGHEST else first

    @property
    def last_step(self) -> int | None:
        """Highest shown step; None without points."""
        if self._run.previewing and len(preview := self._preview()):
            return int(preview.step[-1])
        return self._newest()

    def _last(self, back: int) -> tuple[float, float]:
        pool = self._run.pool
        if self._run.previewing:
            window = self._window()
            if len(window) > back:
                return float(window.value[-1 - back]), float(window.wall_time[-1 - back])
        elif (at := int(pool.length[self.row]) - 1 - back) >= 0:
            return float(pool.value[self.row, at]), float(pool.wall[self.row, at])
        buckets = pool.buckets
        if back or self.row >= len(buckets.used) or not buckets.used[self.row]:
            return np.nan, np.nan
        slot = int(buckets.used[self.row]) - 1
        return float(buckets.last[self.row, slot]), float(buckets.ended[self.row, slot]) + buckets.epoch

    @property
    def last_value(self) -> float:
        """Value at the highest step (the newest of several); NaN without points, or when it is NaN."""
        return self._last(0)[0]

    @property
    def last_wall(self) -> float:
        """Wall time of that point; NaN unknown."""
        return self._last(0)[1]

    @property
    def previous_value(self) -> float:
        """The value before the last one; NaN without one."""
        return self._last(1)[0]

    def recent(self, n: int | None = None) -> Points:
        """The exact most recent shown points (at most `n`), in step order. Arrays are the caller's own."""
        window = self._window()
        reached = int(self._run.pool.bucketed[self.row])
        begin = 0
        if reached > LOWEST:  # stragglers from before what already left the window are not complete
            begin = int(np.searchsorted(window.step, reached))
        if n is not None:
            begin = max(begin, len(window) - n)
        return Points(
            window.step[begin:].copy(), window.wall_time[begin:].copy(), window.value[begin:].copy()
        )

    @property
    def exact_from(self) -> int:
        """The first step from which `recent()` is complete; older points are in buckets.

        The first shown step when nothing is bucketed; one above the newest bucketed step otherwise.
        """
        reached = int(self._run.pool.bucketed[self.row])
        if reached > LOWEST:
            return reached + 1
        first = self.first_step
        return 0 if first is None else first

    def columns(self, low: float, high: float, width: int, axis: Axis = "step") -> Columns:
        """The window [low, high] in `width` columns, at any zoom. `axis="wall"` wants seconds since 1970.

        Raises ValueError when width < 1 or the window is not finite or upside down.
        """
        pool = self._run.pool
        finite = not (self._run.previewing or pool.odd[self.row])
        if axis == "wall" or self._run.previewing or not -EXACT < low <= high < EXACT:
            return columns(self._window(), pool.buckets, self.row, low, high, width, axis, finite)
        window = pool.between(self.row, low, high)
        old_too = low <= int(pool.bucketed[self.row])
        return columns(window, pool.buckets, self.row, low, high, width, axis, finite, old_too)

    def extent(self) -> tuple[float, float]:
        """Lowest and highest finite shown value; (NaN, NaN) without one."""
        first, last = self.first_step, self.last_step
        if first is None or last is None:
            return np.nan, np.nan
        low, high = [], []
        window: F64 = self._window().value
        window = window[np.isfinite(window)]
        if len(window):
            low.append(float(window.min()))
            high.append(float(window.max()))
        buckets = self._run.pool.buckets
        if self.row < len(buckets.used) and buckets.used[self.row]:
            used = int(buckets.used[self.row])
            full = buckets.count[self.row, :used] > 0
            if full.any():
                low.append(float(buckets.low[self.row, :used][full].min()))
                high.append(float(buckets.high[self.row, :used][full].max()))
        return (min(low), max(high)) if low else (np.nan, np.nan)

    def superseded_points(self) -> Points:
        """Superseded points that are kept (the newest `KEPT_SUPERSEDED`), in the order they were replaced."""
        return join([points for points, _ in self._left])

    def supersede(self, points: Points, count: int, exact: bool, cause: str) -> None:
        """Put points aside (`count` in all; those that were in buckets are counted only)."""
        self.superseded += count
        self.superseded_exact &= exact
        if not len(points):
            return
        self._left.append((points, cause))
        self._kept += len(points)
        surplus = self._kept - KEPT_SUPERSEDED
        self._kept = min(self._kept, KEPT_SUPERSEDED)
        while surplus > 0:
            part, by = self._left[0]
            if len(part) <= surplus:
                self._left.pop(0)
            else:
                self._left[0] = (
                    Points(part.step[surplus:], part.wall_time[surplus:], part.value[surplus:]),
                    by,
                )
            surplus -= len(part)

    def restore(self, cause: str) -> Points:
        """Take back what this log had superseded (as far as it is kept): it was no later attempt."""
        back = [points for points, by in self._left if by == cause]
        self._left = [entry for entry in self._left if entry[1] != cause]
        found = join(back)
        self._kept -= len(found)
        self.superseded -= len(found)
        return found

    def forget(self) -> None:
        """Nothing was ever superseded: the log is told again from its start."""
        self._left.clear()
        self._kept = 0
        self.superseded = 0
        self.superseded_exact = True


class SeriesByTag(Mapping[str, Series]):
    """The series of a run in order of their first points. Each is made when somebody asks for it.

    Of a thousand runs few are looked at, and those that are not need rows in tables, but no objects.
    """

    __slots__ = ("_made", "_rows", "_run", "tags")

    def __init__(self, run: TagRows) -> None:
        self._run = run
        self._rows: dict[str, int] = {}
        self._made: dict[int, Series] = {}
        self.tags: list[str] = []  # by row

    def __getitem__(self, tag: str) -> Series:
        return self.of(self._rows[tag])

    def __contains__(self, tag: object) -> bool:
        return tag in self._rows

    def __iter__(self) -> Iterator[str]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self.tags)

    def rows(self, tags: Sequence[str]) -> NDArray[np.intp]:
        """The rows of some tags, from now on."""
        if not self.tags:
            self._rows = dict(zip(tags, range(len(tags)), strict=True))
            if len(self._rows) == len(tags):
                self.tags = list(tags)
                return np.arange(len(tags))
            self._rows.clear()
        return np.array([self._row(tag) for tag in tags], np.intp)

    def _row(self, tag: str) -> int:
        row = self._rows.setdefault(tag, len(self.tags))
        if row == len(self.tags):
            self.tags.append(tag)
        return row

    def of(self, row: int) -> Series:
        """The series of a row."""
        found = self._made.get(row)
        if found is None:
            found = self._made[row] = Series(self._run, self.tags[row], row)
        return found

    def touched(self) -> list[Series]:
        """Those that were asked for, by row: the others hold nothing but points."""
        return [self._made[row] for row in sorted(self._made)]

"""One tag of a run as its readers see it: exact recent points, columns of any window, superseded points."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from rltui.store.columns import EXACT, Axis, Columns, columns
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, Points, join
from rltui.store.previews import Previews
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import TagRows


class Series:
    """A view of one row of a run's tables. The points of a preview are part of every answer."""

    __slots__ = ("_previews", "_superseded", "_table", "row", "tag")

    def __init__(self, series: SeriesByTag, tag: str, row: int) -> None:
        self._table = series.table
        self._previews = series.previews
        self._superseded = series.superseded
        self.tag = tag
        self.row = row

    def _preview(self) -> Points:
        """Points of a preview that the history has not reached yet."""
        found = self._previews.of(self.row)
        if not len(found):
            return NO_POINTS
        reached = self._newest()
        return found if reached is None else found.take(found.step > reached)

    def _newest(self) -> int | None:
        table = self._table
        length = int(table.length[self.row])
        if length:
            return int(table.step[self.row, length - 1])
        return int(table.bucketed[self.row]) if table.bucketed[self.row] > LOWEST else None

    def _window(self) -> Points:
        window = self._table.points(self.row)
        return join([window, self._preview()]) if self._previews else window

    @property
    def count(self) -> int:
        """Points shown: all that were read except superseded ones."""
        shown = int(self._table.count[self.row])
        return shown + len(self._preview()) if self._previews else shown

    @property
    def nonfinite(self) -> int:
        """Shown points that are NaN or infinite."""
        nonfinite = int(self._table.nonfinite[self.row])
        return nonfinite + int((~np.isfinite(self._preview().value)).sum()) if self._previews else nonfinite

    @property
    def first_step(self) -> int | None:
        """Lowest shown step; None without points."""
        first = int(self._table.first[self.row])
        if self._previews:
            first = min([first, *self._preview().step[:1].tolist()])
        return None if first == HIGHEST else first

    @property
    def last_step(self) -> int | None:
        """Highest shown step; None without points."""
        if self._previews and len(preview := self._preview()):
            return int(preview.step[-1])
        return self._newest()

    def _last(self, back: int) -> tuple[float, float]:
        table = self._table
        if self._previews:
            window = self._window()
            if len(window) > back:
                return float(window.value[-1 - back]), float(window.wall_time[-1 - back])
        elif (at := int(table.length[self.row]) - 1 - back) >= 0:
            return float(table.value[self.row, at]), float(table.wall[self.row, at])
        return (np.nan, np.nan) if back else table.buckets.last_of(self.row)

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
        reached = int(self._table.bucketed[self.row])
        begin = 0
        if reached > LOWEST:  # stragglers from before what already left the window are not complete
            begin = int(np.searchsorted(window.step, reached))
        if n is not None:
            begin = max(begin, len(window) - n)
        return window.take(slice(begin, None)).copy()

    @property
    def exact_from(self) -> int:
        """The first step from which `recent()` is complete; older points are in buckets.

        The first shown step when nothing is bucketed; one above the newest bucketed step otherwise.
        """
        reached = int(self._table.bucketed[self.row])
        if reached > LOWEST:
            return reached + 1
        first = self.first_step
        return 0 if first is None else first

    def columns(self, low: float, high: float, width: int, axis: Axis = "step") -> Columns:
        """The window [low, high] in `width` columns, at any zoom. `axis="wall"` wants seconds since 1970.

        Raises ValueError when width < 1 or the window is not finite or upside down.
        """
        table = self._table
        finite = not (self._previews or table.nonfinite[self.row])
        if axis == "wall" or self._previews or not -EXACT < low <= high < EXACT:
            return columns(self._window(), table.buckets, self.row, low, high, width, axis, finite)
        window = table.between(self.row, low, high)
        old_too = low <= int(table.bucketed[self.row])
        return columns(window, table.buckets, self.row, low, high, width, axis, finite, old_too)

    def thinned(self, most: int) -> Points:
        """All shown points in step order. Where older ones are in buckets, at most `most` means instead.

        Each mean is that of an equally long stretch and stands at its last step, without a wall time; NaN
        where no value was finite.
        """
        first, last = self.first_step, self.last_step
        if first is None or last is None or self.exact_from <= first:
            return self.recent()
        columns = self.columns(first, last, min(most, last - first + 1))
        held = np.flatnonzero(columns.count + columns.nonfinite)
        steps = np.minimum(np.ceil(columns.edges[held + 1] - 1), last).astype(np.int64)
        return Points(steps, np.full(len(held), np.nan), columns.mean[held])

    def extent(self) -> tuple[float, float]:
        """Lowest and highest finite shown value; (NaN, NaN) without one."""
        old = self._table.buckets.extent(self.row)
        window = self._window().value
        window = window[np.isfinite(window)]
        if not len(window):
            return old
        return float(np.fmin(window.min(), old[0])), float(np.fmax(window.max(), old[1]))

    @property
    def superseded(self) -> int:
        """Points that a later attempt replaced."""
        return self._superseded.count(self.row)

    def superseded_points(self) -> Points:
        """Superseded points that are kept, in the order in which they were replaced."""
        return self._superseded.points(self.row)


class SeriesByTag(Mapping[str, Series]):
    """The series of a run in order of their first points. Each is made when somebody asks for it.

    Of a thousand runs few are looked at, and those that are not need rows in tables, but no objects.
    """

    __slots__ = ("_made", "previews", "superseded", "table", "tags")

    def __init__(
        self, tags: TagRows, table: SeriesTable, previews: Previews, superseded: SupersededPoints
    ) -> None:
        self.tags = tags
        self.table = table
        self.previews = previews
        self.superseded = superseded
        self._made: dict[int, Series] = {}

    def __getitem__(self, tag: str) -> Series:
        return self.of(self.tags.rows[tag])

    def __contains__(self, tag: object) -> bool:
        return tag in self.tags.rows

    def __iter__(self) -> Iterator[str]:
        return iter(self.tags.rows)

    def __len__(self) -> int:
        return len(self.tags)

    def of(self, row: int) -> Series:
        """The series of a row."""
        found = self._made.get(row)
        if found is None:
            found = self._made[row] = Series(self, self.tags.tags[row], row)
        return found

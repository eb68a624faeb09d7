"""Read access to one series of a run: exact recent points, columns of any range, superseded points."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.store.points import HIGHEST, LOWEST, Points, join
from rltui.store.previews import Previews
from rltui.store.series_columns import EXACT, Axis, Columns, columns_of_series
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import TagRows


class Series:
    """A view of one row of a run's tables. The points of previews are included everywhere."""

    __slots__ = ("_previews", "_superseded", "_table", "row", "tag")

    def __init__(self, series: SeriesByTag, tag: str, row: int) -> None:
        self._table = series.table
        self._previews = series.previews
        self._superseded = series.superseded
        self.tag = tag
        self.row = row

    def _preview(self) -> Points:
        """Points of previews above the newest step that has been read."""
        preview = self._previews.of(self.row)
        newest = self.read_up_to
        return preview if newest is None or not len(preview) else preview.take(preview.step > newest)

    @property
    def read_up_to(self) -> int | None:
        """The highest step that has been read, previews apart; None before the first."""
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
        """Number of shown points: all that were read except superseded ones."""
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
        return self.read_up_to

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
        """The exact most recent shown points (at most `n`), in step order, as copies."""
        window = self._window()
        bucketed = int(self._table.bucketed[self.row])
        begin = 0
        if bucketed > LOWEST:  # late points below it are in the window, but their neighbours are not
            begin = int(np.searchsorted(window.step, bucketed))
        if n is not None:
            begin = max(begin, len(window) - n)
        return window.take(slice(begin, None)).copy()

    def step_walls(self) -> tuple[Ints, Floats]:
        """(n,) steps that rise, and wall times: of the newest point of each bucket, then of exact points."""
        points = self.recent()
        step, wall = self._table.buckets.ends_of(self.row)
        return np.concatenate((step, points.step)), np.concatenate((wall, points.wall_time))

    @property
    def exact_from(self) -> int:
        """The first step from which `recent()` is complete; older points are in buckets.

        The first shown step if no point is in a bucket; one above the newest bucketed step otherwise.
        """
        bucketed = int(self._table.bucketed[self.row])
        if bucketed > LOWEST:
            return bucketed + 1
        first = self.first_step
        return 0 if first is None else first

    def columns(self, low: float, high: float, width: int, axis: Axis = "step") -> Columns:
        """The range [low, high] of steps, or of seconds since 1970 for `axis="wall"`, in `width` columns.

        Raises ValueError if width < 1, low > high or an end is not finite.
        """
        table, with_buckets = self._table, True
        finite = not (self._previews or table.nonfinite[self.row])
        if axis == "wall" or self._previews or not -EXACT < low <= high < EXACT:
            window = self._window()
        else:
            window = table.between(self.row, low, high)
            with_buckets = low <= int(table.bucketed[self.row])
        return columns_of_series(
            window, table.buckets, self.row, low, high, width, axis, finite, with_buckets
        )

    def columns_of_steps(self, first: int, last: int, width: int) -> Columns:
        """The steps first to last, the whole of the last one included, in `width` columns.

        Beyond 2^53 both ends may be one float. Raises ValueError if width < 1 or first > last.
        """
        low = float(first)
        return self.columns(low, max(math.nextafter(last + 1.0, -math.inf), low), width)

    def thinned(self, most: int) -> Points:
        """All shown points in step order; if older ones are in buckets, at most `most` means instead.

        Each mean is that of an equal range of steps, at the last step of the range, without a wall time; NaN
        where no value is finite.
        """
        first, last = self.first_step, self.last_step
        if first is None or last is None or self.exact_from <= first:
            return self.recent()
        columns = self.columns(first, last, min(most, last - first + 1))
        used = np.flatnonzero(columns.count + columns.nonfinite)
        ends = np.minimum(np.ceil(columns.edges[used + 1] - 1), np.nextafter(2.0**63, 0))  # as an int64
        steps = np.minimum(ends.astype(np.int64), last)
        return Points(steps, np.full(len(used), np.nan), columns.mean[used])

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
        """Number of superseded points."""
        return self._superseded.count(self.row)

    def superseded_points(self) -> Points:
        """Superseded points that are kept, in the order in which they were superseded."""
        return self._superseded.points(self.row)


class SeriesByTag(Mapping[str, Series]):
    """The series of a run in order of their first points. Each `Series` is created on first access.

    Of a thousand runs few are displayed; the others need rows in tables, but no objects.
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

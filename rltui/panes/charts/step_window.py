"""The range of steps that a pane shows, in columns whose edges are stable while a run grows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.session.time_travel import span_of

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

# A column is one of these times a power of two wide, in steps: the axis then grows seldom, by a quarter at
# most, and otherwise new points change only the last columns.
_MANTISSAS = (4, 5, 6, 7, 8)


class StepWindow(NamedTuple):
    """Steps `low` to `high` of a run; `growing` runs get room to grow, others end at the right edge."""

    low: float
    high: float
    growing: bool = False
    restarts: tuple[int, ...] = ()  # steps at which later attempts began

    def restart_columns(self, columns: int) -> list[int]:
        """The columns in which a later attempt began."""
        restarts = {self.column(step, columns) for step in self.restarts}
        return sorted(column for column in restarts if column is not None)

    def column(self, step: float, columns: int) -> int | None:
        """The column, of `columns`, of a step; None if it is not shown."""
        low, high = self.edges(columns)
        return int((step - low) / (high - low) * columns) if low <= step < high else None

    def edges(self, columns: int) -> tuple[float, float]:
        """The first and last edge of `columns` equal columns that contain the window.

        The last edge of a window that does not grow is less than the step after its last one.
        """
        span = max(self.high + 1 - self.low, 1.0)
        if not self.growing or columns < 2:
            return (self.low, max(math.nextafter(self.low + span, self.low), _next(self.low)))
        width = column_width(span, columns)
        start = math.floor(self.low / width) * width
        if start + columns * width < self.high + 1:
            width = column_width(span + width, columns)
            start = math.floor(self.low / width) * width
        return (start, max(start + columns * width, _next(start)))


def _next(step: float) -> float:
    """The next float: beyond 2^53 it is more than a step further."""
    return math.nextafter(step, math.inf)


def column_width(span: float, columns: int) -> float:
    """The smallest width, 4 to 8 times a power of two, of which at most `columns` cover `span`."""
    need = span / columns
    power = 2.0 ** (math.floor(math.log2(need)) - 2)
    for mantissa in _MANTISSAS:
        if mantissa * power >= need:
            return mantissa * power
    return 8 * power


def window_of(
    first: int, last: int, *, share: float = 1.0, growing: bool = False, at_step: int | None = None
) -> StepWindow:
    """The last `share` of the steps `first` to `last`, or to `at_step`."""
    if at_step is not None:
        last, growing = min(last, at_step), False
    last = max(first, last)
    low = last - (last - first) * share
    return StepWindow(float(math.floor(low)), float(last), growing)


def window_for(
    view: RunView, now: float | None = None, *, share: float = 1.0, at_step: int | None = None
) -> StepWindow:
    """The steps that the panes of a run show; it grows if it is live at `now`, seconds since 1970."""
    first, last = span_of(view.run)
    growing = now is not None and view.liveness(now).state == "live"
    window = window_of(first, last, share=share, growing=growing, at_step=at_step)
    return window._replace(restarts=tuple(attempt.first_step for attempt in view.run.attempts[1:]))

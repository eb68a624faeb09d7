"""The span of steps that a pane shows, cut into columns whose edges hold still while a run grows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.session.time_travel import span_of

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

# A column is this many steps times a power of two: the axis then grows by a quarter at most, at rare moments,
# and between them new points change only the last columns.
_MANTISSAS = (4, 5, 6, 7, 8)


class StepWindow(NamedTuple):
    """Steps `low` to `high` of a run; `growing` runs get room to grow, others end at the right edge."""

    low: float
    high: float
    growing: bool = False
    restarts: tuple[int, ...] = ()  # steps at which later attempts began

    def restart_columns(self, columns: int) -> list[int]:
        """The columns, of so many, in which a later attempt began."""
        low, high = self.edges(columns)
        found = {int((step - low) / (high - low) * columns) for step in self.restarts if low <= step < high}
        return sorted(found)

    def column(self, step: float, columns: int) -> int | None:
        """The column, of so many, of a step; None where it is not shown."""
        low, high = self.edges(columns)
        return int((step - low) / (high - low) * columns) if low <= step < high else None

    def edges(self, columns: int) -> tuple[float, float]:
        """The first and last edge of `columns` equal columns that hold the window.

        Of a window that does not grow the last edge is below the step after its last one.
        """
        span = max(self.high + 1 - self.low, 1.0)
        if not self.growing or columns < 2:
            return (self.low, math.nextafter(self.low + span, self.low))
        width = column_width(span, columns)
        start = math.floor(self.low / width) * width
        if start + columns * width < self.high + 1:
            width = column_width(span + width, columns)
            start = math.floor(self.low / width) * width
        return (start, start + columns * width)


def column_width(span: float, columns: int) -> float:
    """The smallest column, 4 to 8 times a power of two, that cuts `span` into at most `columns`."""
    need = span / columns
    power = 2.0 ** (math.floor(math.log2(need)) - 2)
    for mantissa in _MANTISSAS:
        if mantissa * power >= need:
            return mantissa * power
    return 8 * power


def window_of(
    first: int, last: int, *, share: float = 1.0, growing: bool = False, at_step: int | None = None
) -> StepWindow:
    """The last `share` of steps `first` to `last`; at an earlier now when `at_step` is given."""
    if at_step is not None:
        last, growing = min(last, at_step), False
    last = max(first, last)
    low = last - (last - first) * share
    return StepWindow(float(math.floor(low)), float(last), growing)


def window_for(
    view: RunView, now: float | None = None, *, share: float = 1.0, at_step: int | None = None
) -> StepWindow:
    """The steps that the panes of a run show; now: seconds since 1970, where it gets room if it is live."""
    first, last = span_of(view.run)
    growing = now is not None and view.liveness(now).state == "live"
    found = window_of(first, last, share=share, growing=growing, at_step=at_step)
    steps = tuple(attempt.first_step for attempt in view.run.attempts[1:])
    return found._replace(restarts=steps) if steps else found

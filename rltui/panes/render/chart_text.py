"""The chart of a metric as plain text, for mails, issues and chats: drawn by plotext, without colours."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import Floats, contiguous_parts
from rltui.draw.axis_ticks import round_steps, y_ticks
from rltui.draw.cells import cut
from rltui.draw.numbers import format_step
from rltui.draw.value_range import value_range, widened
from rltui.panes.charts.curve import Curve, Spread, at_one_step, curve
from rltui.panes.charts.sister_band import band_behind
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import is_log, logarithmic, logarithmic_band
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.store.series import Series

HEIGHT = 20  # lines of a chart, axes and title included


def chart_text(
    row: Row, run: str, window: StepWindow, width: int, height: int = HEIGHT, sisters: Sequence[Series] = ()
) -> str:
    """Title, curve and axes in `width` by `height` cells; a column is drawn from its minimum to its maximum.

    sisters: the same metric in sister runs; their minimum and maximum are dots behind the curve. A dotted
    line marks the onset of a finding.

    plotext is imported here; it has one figure per process, which is cleared.
    """
    drawn = curve(row, window, max(2 * (width - 12), 2))
    title = f"{run}: {row.title} ({row.tag}), last {row.value_text}"
    title += f", {row.direction_note}" if row.direction_note else ""
    if drawn is None or not drawn.has_values:
        return f"{cut(title, width)}\nno finite points\n"
    import plotext  # 26 ms, only for charts as text

    band = band_behind(drawn, sisters) if row.at_step is None else None
    log = is_log(row, drawn.low, drawn.high, None)
    if log:
        title += ", logarithmic"
        drawn, band = logarithmic(drawn), None if band is None else logarithmic_band(band)
    bottom, top = _range(drawn, band)
    scale = max(abs(bottom), abs(top), 1e-300)  # plotext would overflow on differences of huge floats
    ticks = y_ticks((bottom, top), max(height // 4, 2), log=log)
    steps = round_steps(*drawn.edges, max(width // 16, 2))
    if band is not None:
        title += f", dots: {band.runs} sister runs, min and max"
    plotext.clear_figure()
    try:
        plotext.limit_size(False, False)
        plotext.plotsize(width, height)
        plotext.theme("clear")
        if band is not None:
            _add_band(band, drawn.middles, scale)
        if row.finding is not None and not drawn.own_axis:
            levels = np.linspace(bottom / scale, top / scale, 2 * height)
            _add_onset(drawn, float(row.finding.since_step), levels)
        _add_curve(drawn, scale)
        labels = max((len(label) for _, label in ticks), default=0)
        plotext.title(cut(title, width - labels - 3))  # centred; plotext leaves out one that does not fit
        plotext.xlim(*drawn.edges)
        plotext.ylim(bottom / scale, top / scale)
        plotext.yticks([at / scale for at, _ in ticks], [label for _, label in ticks])
        plotext.xticks(steps, [format_step(math.floor(step)) for step in steps])
        plotext.xlabel("point" if row.main is not None and at_one_step(row.main) else "step")
        text = plotext.uncolorize(plotext.build())
    finally:
        plotext.clear_figure()
    return "\n".join(line.rstrip() for line in text.split("\n")).rstrip() + "\n"


def _add_band(band: Spread, x: Floats, scale: float) -> None:
    """Dots at the ends of a band, in every fourth column of `x`; `scale` divides values."""
    import plotext  # 26 ms, only for charts as text

    for ends in (band.low, band.high):
        at = np.flatnonzero(np.isfinite(ends))[::4]
        plotext.scatter(x[at].tolist(), (ends[at] / scale).tolist(), marker="·")


def _add_onset(drawn: Curve, step: float, levels: Floats) -> None:
    """A dotted line at a step, if that is within the chart; levels: the values of its dots."""
    import plotext  # 26 ms, only for charts as text

    if drawn.edges[0] <= step <= drawn.edges[1]:
        plotext.scatter([step] * len(levels), levels.tolist(), marker="┊")


def _add_curve(drawn: Curve, scale: float) -> None:
    """The curve, each column from its minimum to its maximum, with gaps; `scale` divides values."""
    import plotext  # 26 ms, only for charts as text

    for part in contiguous_parts(np.isfinite(drawn.low)):
        reach = np.column_stack((drawn.low, drawn.high))[part].ravel() / scale
        plotext.plot(np.repeat(drawn.middles[part], 2).tolist(), reach.tolist(), marker="braille")


def _range(drawn: Curve, band: Spread | None) -> tuple[float, float]:
    """The range of the axis of values; round a single value with room at both ends."""
    ends = np.concatenate([drawn.low, drawn.high, *((band.low, band.high) if band is not None else ())])
    bottom, top = widened(*value_range(ends, ends))
    if bottom < top:
        return bottom, top
    margin = abs(top) * 0.1 or 1.0
    return max(bottom - margin, -sys.float_info.max), min(top + margin, sys.float_info.max)

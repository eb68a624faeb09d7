"""The chart of a row as a picture: its curve with spread, other runs, limits and marks."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rltui.common.arrays import Floats
from rltui.common.display_text import fit
from rltui.draw.axis_ticks import round_steps
from rltui.draw.chart_svg import WIDTH, ChartPicture, PictureCurve, finite_range
from rltui.draw.numbers import format_step
from rltui.draw.value_range import widened
from rltui.panes.charts.curve import Curve, at_one_step, curve, spread
from rltui.panes.charts.healthy_range import limits_of
from rltui.panes.charts.sister_band import band_behind
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import is_log, log_of, logarithmic_band
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.store.series import Series

COLUMNS = 320  # of a curve: two pixels each
SLACK = 0.06  # share of the height above and below the curves


def chart_picture(
    row: Row,
    run: str,
    window: StepWindow,
    *,
    log: bool | None = None,
    others: Sequence[tuple[str, Series]] = (),
    sisters: Sequence[Series] = (),
) -> ChartPicture | None:
    """The chart of a row over the steps of a window; None without finite values.

    log: whether the axis of values is logarithmic; None: if the curve spans decades.
    others: names and series of the same metric in other runs. sisters: the same metric in sister runs, drawn
    as a band if there are no others and the row has no spread of its own.
    """
    main = row.main
    drawn = curve(row, window, COLUMNS)
    if main is None or drawn is None:
        return None
    log = is_log(row, drawn.low, drawn.high, None) if log is None else log
    behind = spread(row, drawn.mean, lambda one: one.columns(*drawn.edges, COLUMNS))
    low, high = (behind.low, behind.high) if behind is not None else (drawn.low, drawn.high)
    curves = [_curve(drawn, low, high, "series0", run if others else "", log=log)]
    for at, (name, series) in enumerate(others, start=1):
        other = curve(Row(row.kind, row.title, series.tag, row.name, row.unit, {"": series}), window, COLUMNS)
        if other is not None:
            curves.append(_curve(other, other.low, other.high, f"series{at}", fit(name, 24), log=log))
    if not others and behind is None and row.at_step is None:
        curves += _sister_band(drawn, sisters, log=log)
    ends = finite_range(curves)
    if ends is None:
        return None
    steps = dict.fromkeys(math.ceil(step) for step in round_steps(*drawn.edges, max(WIDTH // 110, 2)))
    notes = [
        fit(row.tag, 48), row.direction_note, *([] if others else [fit(run, 60), f"last {row.value_text}"]),
        f"{behind.words} band" if behind is not None else "", "logarithmic" if log else "",
    ]  # fmt: skip
    return ChartPicture(
        title=row.title,
        note=" · ".join(filter(None, notes)),
        x=drawn.edges,
        y=_with_room(*ends),
        curves=curves,
        x_ticks=[(float(step), format_step(step)) for step in steps if step <= drawn.edges[1]],
        x_label="point" if at_one_step(main) else "step",
        limits=limits_of(row, log=log),
        marks=_marks(row, window),
        crosses=drawn.middles[drawn.nonfinite > 0].tolist(),
        log=log,
    )


def _sister_band(drawn: Curve, sisters: Sequence[Series], *, log: bool) -> list[PictureCurve]:
    """The band of sister runs with their median; empty with fewer than two of them."""
    band = band_behind(drawn, sisters)
    if band is not None and log:
        band = logarithmic_band(band)
    if band is None or band.median is None:
        return []
    label = f"{band.runs} sister runs: median, min–max"
    return [PictureCurve(drawn.middles, band.median, band.low, band.high, "dim", label, dotted=True)]


def _with_room(low: float, high: float) -> tuple[float, float]:
    """The range of the axis for values between these: with room at both ends, but none below a zero."""
    bottom, top = widened(low, high)
    room = (top / 2 - bottom / 2) * 2 * SLACK or (abs(bottom) * 0.1 or 1.0)
    bottom = bottom if bottom == 0 else max(bottom - room, -sys.float_info.max)
    return bottom, min(top + room, sys.float_info.max)


def _curve(drawn: Curve, low: Floats, high: Floats, role: str, label: str, *, log: bool) -> PictureCurve:
    mean, low, high = (log_of(part) if log else part for part in (drawn.mean, low, high))
    return PictureCurve(drawn.middles, mean, low, high, role=role, label=label)


def _marks(row: Row, window: StepWindow) -> list[tuple[float, str, str]]:
    """Restarts of the run, and the steps since which its findings hold."""
    marks = [] if row.own_axis else [(float(step), "dim", "restart") for step in window.restarts]
    onsets = {one.since_step: one for one in sorted(row.findings, key=lambda one: one.rank)}
    roles = {"critical": "bad", "warning": "warn"}
    marks += [
        (float(step), roles.get(one.severity, "info"), f"{one.title or one.id}, step {format_step(step)}")
        for step, one in onsets.items()
    ]
    return marks

"""The curve of a card with its axes: values at the left, steps and marks of events below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.display_text import fit, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.axis_ticks import few_ticks
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import BLANK, Line, Span, colored, line
from rltui.draw.numbers import format_bound, format_range, format_step, short_step
from rltui.draw.symbols import SEVERITY_ROLE
from rltui.draw.value_range import range_with_spread, share_of
from rltui.panes.charts.compared_series import ComparedCurve, ComparedSeries, canvas_spans, compared_curves
from rltui.panes.charts.curve import Curve, Spread, at_one_step, curve, spread
from rltui.panes.charts.healthy_range import EDGE, healthy_range_of, healthy_rows, within_bounds
from rltui.panes.charts.sister_band import band_behind
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import (
    LOG_LAYER,
    Ranges,
    ValueAxis,
    data_range,
    is_log,
    logarithmic,
    logarithmic_band,
    shown_range,
)
from rltui.panes.render.lines.pane_lines import unhealthy
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.store.series import Series

AXIS = 7  # cells of the value labels left of a card's curve
BAND_ROWS = 3  # from which there is room for a band behind a curve
BAND_LAYER = 1.0  # keeps ranges with a band apart from those without
CURVE_SHARE = 0.6  # of a card's height that the curve of a mean keeps, however wide its band is
ONSET = "┊"  # at the step since which a finding holds
LONG_STEPS = 56  # cells of a curve from which steps are written in full


class CardStyle(NamedTuple):
    """How cards are drawn. With `ranges` their axes are stable, and drawn cards are cached.

    compared, sisters: a row's metric in other runs, drawn behind its curve. crosshair: the step whose values
    are shown.
    """

    ranges: Ranges | None = None
    crosshair: int | None = None
    compared: Callable[[Row], Sequence[ComparedSeries]] = lambda _: ()
    sisters: Callable[[Row], Sequence[Series]] = lambda _: ()


@dataclass(slots=True)
class CardCurve:
    """The rows of the curve, the line of steps below it, and notes on its axis: `log`, `▲ to 8.12k`."""

    rows: list[Line] = field(default_factory=list)
    steps: Line = BLANK
    notes: tuple[str, ...] = ()
    band: str = ""  # describes the band of sister runs behind the curve


def card_curve(row: Row, width: int, rows: int, window: StepWindow, style: CardStyle) -> CardCurve:
    """The curve of a metric in `width` cells and `rows` rows, without the line of steps."""
    ranges, compared, sisters = style.ranges, style.compared(row), style.sisters(row)
    if ranges is None or not ranges.keeps_drawn:
        return _draw(row, width, rows, window, style, compared, sisters)
    finding = row.marked
    series = (*sisters, *(run.series for run in compared))
    key = (
        row.tags, row.at_step, row.own_axis, row.severity, finding and (finding.id, row.onset),
        width, rows, window, style.crosshair, ranges.scales.get(row.tag), ranges.outliers,
        tuple(run.sign for run in compared), tuple((one.tag, one.count, one.last_step) for one in series),
    )  # fmt: skip
    cached = ranges.drawn.get(key)
    if not isinstance(cached, CardCurve):
        cached = ranges.drawn[key] = _draw(row, width, rows, window, style, compared, sisters)
    return cached


def _draw(
    row: Row, width: int, rows: int, window: StepWindow, style: CardStyle, compared: Sequence[ComparedSeries],
    sisters: Sequence[Series],
) -> CardCurve:  # fmt: skip
    ranges, crosshair = style.ranges, style.crosshair
    cells = width - AXIS - 1
    per_cell = 1 if rows == 1 else PER_CELL
    drawn = curve(row, window, cells * per_cell)
    if drawn is None:
        words = "no points yet" if row.last is None else "no points in these steps"
        none = line((" " * (AXIS + 1) + fit(words, cells), "faint"))
        return CardCurve([none] + [BLANK] * (rows - 1))
    steps = _StepLine(row, window, drawn, cells)
    others = compared_curves(row, compared, window, cells * per_cell) if rows > 1 else []
    constant = not drawn.nonfinite.any() and drawn.points > 1 and _is_constant(drawn)
    if not others and (constant or row.unreported):
        return CardCurve(_constant_rows(row, drawn, cells, rows), steps.line(crosshair))
    if rows == 1:
        return CardCurve([_one_row(row, drawn, window, ranges)], steps.line(crosshair))
    band = None if others or len(row.parts) > 1 else _sister_band(row, sisters, drawn, rows, ranges)
    axis, drawn, others, behind = _scaled(row, drawn, others, window, ranges, rows, band)
    median = None if behind is None else behind.dotted_median
    if median is not None:
        others = [ComparedCurve("", "dim", replace(drawn, low=median, high=median, mean=median))]
    body = canvas_spans(Canvas(cells, rows), drawn, axis.bottom, axis.top, behind, others)
    notes = ["log"] if axis.log else []
    if axis.cut:
        notes += _mark_cut(row, body, drawn, axis, per_cell)
    for at, char, role in steps.marks(crosshair):
        for spans in body:
            _put(spans, at, char, role)
    labels = _labels(row, drawn, axis, rows)
    healthy = healthy_rows(axis.placed(healthy_range_of(row)), axis.bottom, axis.top, rows)
    lines = []
    for index, spans in enumerate(body):
        label = labels.get(index, "")
        edge: Span = (
            "┤" if label else EDGE if index in healthy else "│",
            "good" if index in healthy else "faint",
        )
        shaded = [(text, f"{role}/panel") for text, role in spans] if index in healthy else spans
        lines.append(line((pad(label, AXIS, right=True), "dim"), edge, *shaded))
    words = "" if behind is None or not behind.runs else f"band: {behind.runs} sister runs"
    return CardCurve(lines, steps.line(crosshair), tuple(notes), words)


def _scaled(
    row: Row,
    drawn: Curve,
    others: list[ComparedCurve],
    window: StepWindow,
    ranges: Ranges | None,
    rows: int,
    sisters: Spread | None,
) -> tuple[ValueAxis, Curve, list[ComparedCurve], Spread | None]:
    """The value axis, and in its coordinates the curve, those of compared runs, and the spread behind it."""
    log = is_log(row, drawn.low, drawn.high, ranges)
    if log:
        scaled = logarithmic(drawn)
        log = scaled.has_values  # else no value is positive
        if log:
            drawn = scaled
            others = [replace(other, curve=logarithmic(other.curve)) for other in others]
            others = [other for other in others if other.curve.has_values]
    needed, cut = data_range(row, drawn.points, [drawn, *(one.curve for one in others)], ranges)
    behind = sisters
    if behind is not None:
        behind = logarithmic_band(behind) if log else behind
    elif rows >= BAND_ROWS and not others and not log:
        behind = spread(row, drawn.mean, lambda series: series.columns(*drawn.edges, len(drawn.mean)))
    if behind is not None and np.isfinite(behind.high).any():
        around = range_with_spread(needed, behind.range, CURVE_SHARE)
        around = around if log else within_bounds(row, around, needed)
        held = {} if ranges is None else ranges.shown
        key = (row.tag, BAND_LAYER + LOG_LAYER * log)
        if sisters is not None or behind.seen(*around, held=key in held):
            bottom, top = shown_range(row, around, window, ranges, layer=BAND_LAYER, log=log)
            return ValueAxis(bottom, top, log, cut), drawn, others, behind
        held.pop(key, None)
    bottom, top = shown_range(row, needed, window, ranges, layer=2.0 * bool(others), log=log)
    return ValueAxis(bottom, top, log, cut), drawn, others, None


def _sister_band(
    row: Row, sisters: Sequence[Series], drawn: Curve, rows: int, ranges: Ranges | None
) -> Spread | None:
    """The band of sister runs, cached until one of them has new points."""
    if rows < BAND_ROWS or row.at_step is not None or not sisters:
        return None
    if ranges is None:
        return band_behind(drawn, sisters)
    key = (drawn.edges, len(drawn.mean), len(sisters), sum(one.count for one in sisters))
    cached = ranges.bands.get(row.tag)
    if cached is None or cached[0] != key:
        cached = ranges.bands[row.tag] = (key, band_behind(drawn, sisters))
    return cached[1]


def _one_row(row: Row, drawn: Curve, window: StepWindow, ranges: Ranges | None) -> Line:
    bottom, top = shown_range(row, data_range(row, drawn.points, [drawn], ranges)[0], window, ranges)
    spark = drawn.spark((bottom, top))
    label = pad(format_range(*drawn.range, row.unit)[1] if drawn.has_values else "", AXIS, right=True)
    shown = colored(spark.text, "accent", unhealthy(row, drawn) | dict.fromkeys(spark.marks, "bad"))
    return line((label + " ", "dim"), *shown)


# ---- values


def _is_constant(drawn: Curve) -> bool:
    low, high = drawn.range
    return low == high and drawn.has_values


def _constant_rows(row: Row, drawn: Curve, cells: int, rows: int) -> list[Line]:
    """A thin line with its value; for a quantity that is not measured only a text."""
    lines = [BLANK] * rows
    blank = " " * (AXIS + 1)
    if row.unreported:
        lines[rows // 2] = line(
            (blank + fit(f"not measured: always written as {row.value:g}", cells), "faint")
        )
        return lines
    words = f" always {format_bound(drawn.range[0], row.unit)} "
    known = np.flatnonzero(np.isfinite(drawn.low))
    last = min(int(known[-1]) * cells // len(drawn.low) + 1, cells)
    lines[rows // 2] = line((blank + "─", "faint"), (fit(words, cells - 1), "dim"),
                            ("─" * max(last - 1 - len(words), 0), "faint"))  # fmt: skip
    return lines


def _labels(row: Row, drawn: Curve, axis: ValueAxis, rows: int) -> dict[int, str]:
    """Labels of round values, by row from the top."""
    if not drawn.has_values:
        return {}
    if not axis.top > axis.bottom:
        return {rows // 2: few_ticks(axis.bottom, axis.bottom, row.unit, log=axis.log)[0][1]}
    labels: dict[int, str] = {}
    for value, text in few_ticks(axis.bottom, axis.top, row.unit, log=axis.log):
        level = math.floor(share_of(value, axis.bottom, axis.top) * (4 * rows - 1) + 0.5)
        labels.setdefault(rows - 1 - level // 4, text)
    return labels


def _mark_cut(row: Row, body: list[list[Span]], drawn: Curve, axis: ValueAxis, per_cell: int) -> list[str]:
    """Mark the columns in which the curve leaves the card; notes on its extremes."""
    notes = []
    low, high = drawn.range
    with np.errstate(invalid="ignore"):
        for beyond, spans, sign, end in (
            (drawn.high > axis.top, body[0], "▲", high), (drawn.low < axis.bottom, body[-1], "▼", low),
        ):  # fmt: skip
            cells = sorted(set((np.flatnonzero(beyond) // per_cell).tolist()))
            for at in cells:
                _put(spans, at, sign, "mark", over=True)
            if cells:
                notes.append(f"{sign} to {format_bound(10.0**end if axis.log else end, row.unit)}")
    return notes


def _put(spans: list[Span], at: int, char: str, role: str, *, over: bool = False) -> None:
    """Write a character into spans of narrow cells, if the cell is blank or `over`."""
    first = 0
    for index, (text, old) in enumerate(spans):
        if first <= at < first + len(text):
            here = at - first
            if over or text[here] == " ":
                parts = [(text[:here], old), (char, role), (text[here + 1 :], old)]
                spans[index : index + 1] = [part for part in parts if part[0]]
            return
        first += len(text)


# ---- steps


class _StepLine:
    """The line of steps below a curve of so many cells."""

    def __init__(self, row: Row, window: StepWindow, drawn: Curve, cells: int) -> None:
        self._row, self._cells = row, cells
        self._edges = drawn.edges
        self._shared = not drawn.own_axis and not (row.main is not None and at_one_step(row.main))
        self._restarts = [step for step in window.restarts if self._shared]
        main = row.main
        self._first, self._last = window.low, window.high
        if main is not None and drawn.own_axis and main.first_step is not None and main.last_step is not None:
            self._first, self._last = float(main.first_step), float(main.last_step)
        elif not self._shared:
            self._first, self._last = drawn.edges
        if row.at_step is not None and drawn.own_axis:
            self._last = min(self._last, row.at_step)
        onset = row.onset if self._shared else None
        self._onset = None if onset is None else self._cell(onset)
        self._onset_role = "" if row.marked is None else SEVERITY_ROLE[row.marked.severity]

    def _cell(self, step: float) -> int | None:
        """The cell of a step; None if it is not shown."""
        low, high = self._edges
        at = math.floor((step - low) / (high - low) * self._cells) if high > low else 0
        return at if 0 <= at < self._cells else None

    def marks(self, crosshair: int | None) -> list[tuple[int, str, str]]:
        """Cells of vertical lines, their characters and roles."""
        marks = []
        if self._shared and crosshair is not None and (at := self._cell(crosshair)) is not None:
            marks.append((at, "│", "strong"))
        if self._onset is not None:
            marks.append((self._onset, ONSET, self._onset_role))
        return marks

    def line(self, crosshair: int | None) -> Line:
        """First and last step, restarts, onset and crosshair."""
        cells = self._cells
        chars, roles = ["─"] * cells, ["faint"] * cells

        def put(first: int, text: str, role: str) -> bool:
            """Write a label into free cells, one more free at each side; False if there is no room."""
            first = min(first, cells - len(text))
            around = chars[max(first - 1, 0) : first + len(text) + 1]
            if first < 0 or any(char != "─" for char in around):
                return False
            chars[first : first + len(text)] = text
            roles[first : first + len(text)] = [role] * len(text)
            return True

        end, last = self._cell(math.nextafter(self._last + 1.0, 0.0)), self._text(self._last)
        put((cells - 1 if end is None else end) - len(last) + 1, last, "dim")
        if (at := self._onset) is not None:
            step, role = self._text(self._row.onset or 0), self._onset_role
            after = at + len(step) < cells and put(at, f"▲{step}", role)
            if not after and not put(at - len(step), f"{step}▲", role) and chars[at] == "─":
                chars[at], roles[at] = "▲", role
        if self._last > self._first:
            put(0, self._text(self._first), "dim")
        positions = [(self._cell(step), "↻", "mark") for step in self._restarts]
        positions += (
            [(self._cell(crosshair), "┴", "strong")] if self._shared and crosshair is not None else []
        )
        for position, char, role in positions:
            if position is not None and chars[position] == "─":
                chars[position], roles[position] = char, role
        return line(
            (" " * AXIS + "└", "faint"), *((char, role) for char, role in zip(chars, roles, strict=True))
        )

    def _text(self, step: float) -> str:
        whole = round(step)
        return format_step(whole) if self._cells >= LONG_STEPS else short_step(whole, 6)

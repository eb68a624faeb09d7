"""The curve of a card between its axes: round values at the left, steps and marks of events below."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import field, replace

import numpy as np

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.text import fit, pad
from rltui.draw.axis_ticks import few_ticks
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import BLANK, Line, Span, colored, line
from rltui.draw.numbers import format_bound, format_range, format_step, short_step
from rltui.draw.sparkline import sparkline
from rltui.draw.symbols import SEVERITY_ROLE
from rltui.draw.value_range import range_with_spread, share_of
from rltui.panes.charts.curve import Curve, Spread, at_one_step, curve, spread
from rltui.panes.charts.healthy_range import EDGE, band_of, healthy_rows, within_bounds
from rltui.panes.charts.overlaid_runs import (
    OtherRun,
    OverlaidCurve,
    canvas_spans,
    draw_overlaid,
    overlaid_curves,
)
from rltui.panes.charts.sister_runs import SisterBand, band_behind
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
    whole_range,
)
from rltui.panes.render.lines.pane_lines import unhealthy
from rltui.panes.rows.row import Row

AXIS = 7  # cells of the value labels left of a card's curve
BAND_ROWS = 3  # from which there is room for a band behind a curve
BAND_LAYER = 1.0  # ranges with a band are held apart from those without
CURVE_SHARE = 0.6  # of a card's height that the curve of a mean keeps, whatever its band needs
ONSET = "┊"  # from the step on at which something became wrong
LONG_STEPS = 56  # cells of a curve from which steps are written in full


class CardStyle(NamedTuple):
    """How cards are drawn. With `ranges` their axes hold still, and they are drawn anew only after changes.

    others: what other runs have of a row's metric, drawn behind it. crosshair: a step at which all are read.
    """

    ranges: Ranges | None = None
    others: Callable[[Row], Sequence[OtherRun]] = lambda _: ()
    crosshair: int | None = None


@dataclass(slots=True)
class CardCurve:
    """The rows of the curve, the line of steps below it, and what its axis must say: `log`, `▲ to 8.12k`."""

    rows: list[Line] = field(default_factory=list)
    steps: Line = BLANK
    notes: tuple[str, ...] = ()
    band: str = ""  # what lies behind the curve, where the row itself has no spread


def card_curve(row: Row, width: int, rows: int, window: StepWindow, style: CardStyle) -> CardCurve:
    """The curve of a metric in `width` cells and `rows` rows, the line of steps not counted."""
    ranges, others = style.ranges, style.others(row)
    if ranges is None or not ranges.keeps_drawn:
        return _card_curve(row, width, rows, window, style, others)
    finding = row.marked
    key = (
        row.tags, row.at_step, row.own_axis, row.severity, finding and (finding.id, row.onset),
        width, rows, window, style.crosshair, ranges.scales.get(row.tag), ranges.outliers,
        tuple((one.sign, one.series.tag, one.series.count, one.series.last_step) for one in others),
    )  # fmt: skip
    known = ranges.drawn.get(key)
    if not isinstance(known, CardCurve):
        known = _card_curve(row, width, rows, window, style, others)
        ranges.drawn[key] = known
    return known


def _card_curve(
    row: Row, width: int, rows: int, window: StepWindow, style: CardStyle, others: Sequence[OtherRun]
) -> CardCurve:
    """The same, drawn."""
    ranges, crosshair = style.ranges, style.crosshair
    cells = width - AXIS - 1
    per_cell = 1 if rows == 1 else PER_CELL
    drawn = curve(row, window, cells * per_cell)
    if drawn is None:
        none = line((" " * (AXIS + 1) + fit("no points yet", cells), "faint"))
        return CardCurve([none] + [BLANK] * (rows - 1))
    steps = _StepLine(row, window, drawn, cells)
    found = overlaid_curves(row, others, window, cells * per_cell) if rows > 1 else []
    if not found and not drawn.nonfinite.any() and drawn.points > 1 and _constant(drawn):
        return CardCurve(_constant_rows(row, drawn, cells, rows), steps.line(crosshair))
    if rows == 1:
        return CardCurve([_one_row(row, drawn, window, ranges)], steps.line(crosshair))
    sisters = None if found or len(row.parts) > 1 else _sister_band(row, others, drawn, rows, ranges)
    axis, drawn, found, behind = _scaled(row, drawn, found, window, ranges, rows, sisters)
    if behind is None:
        sisters = None
    elif sisters is not None:
        found = [_median(logarithmic_band(sisters) if axis.log else sisters, drawn)]
    canvas = Canvas(cells, rows)
    draw_overlaid(canvas, found, axis.bottom, axis.top)
    body = canvas_spans(canvas, drawn, axis.bottom, axis.top, behind, found)
    notes = ["log"] if axis.log else []
    if axis.cut:
        notes += _mark_cut(row, body, drawn, axis, per_cell)
    for at, char, role in steps.marks(crosshair):
        for spans in body:
            _put(spans, at, char, role)
    labels = _labels(row, drawn, axis, rows)
    healthy = healthy_rows(axis.band(band_of(row)), axis.bottom, axis.top, rows)
    lines = []
    for index, spans in enumerate(body):
        label = labels.get(index, "")
        edge: Span = (
            "┤" if label else EDGE if index in healthy else "│",
            "good" if index in healthy else "faint",
        )
        shaded = [(text, f"{role}/panel") for text, role in spans] if index in healthy else spans
        lines.append(line((pad(label, AXIS, right=True), "dim"), edge, *shaded))
    band = "" if sisters is None else f"band: {sisters.runs} sister runs"
    return CardCurve(lines, steps.line(crosshair), tuple(notes), band)


def _scaled(
    row: Row,
    drawn: Curve,
    found: list[OverlaidCurve],
    window: StepWindow,
    ranges: Ranges | None,
    rows: int,
    sisters: SisterBand | None,
) -> tuple[ValueAxis, Curve, list[OverlaidCurve], Spread | None]:
    """The value axis; the curve, those of other runs and the spread behind it as they are drawn on it."""
    log = is_log(row, drawn.low, drawn.high, ranges)
    if log:
        scaled = logarithmic(drawn)
        log = bool(np.isfinite(scaled.low).any())  # else there is nothing above zero
        if log:
            drawn = scaled
            found = [replace(other, curve=logarithmic(other.curve)) for other in found]
            found = [other for other in found if np.isfinite(other.curve.low).any()]
    needed, cut = data_range(row, drawn.points, [drawn, *(one.curve for one in found)], ranges)
    if sisters is not None:
        behind: Spread | None = (logarithmic_band(sisters) if log else sisters).spread
    else:
        behind = _behind(row, drawn) if rows >= BAND_ROWS and not found and not log else None
    if behind is not None and np.isfinite(behind.high).any():
        around = range_with_spread(needed, behind.range, CURVE_SHARE)
        around = around if log else within_bounds(row, around, needed)
        held = {} if ranges is None else ranges.shown
        key = (row.tag, BAND_LAYER + LOG_LAYER * log)
        if sisters is not None or behind.seen(*around, held=key in held):
            bottom, top = shown_range(row, around, window, ranges, layer=BAND_LAYER, log=log)
            return ValueAxis(bottom, top, log, cut), drawn, found, behind
        held.pop(key, None)
    bottom, top = shown_range(row, needed, window, ranges, layer=2.0 * bool(found), log=log)
    return ValueAxis(bottom, top, log, cut), drawn, found, None


def _sister_band(
    row: Row, others: Sequence[OtherRun], drawn: Curve, rows: int, ranges: Ranges | None
) -> SisterBand | None:
    """The band of sister runs, made anew when one of them has new points."""
    sisters = [other.series for other in others if other.is_sister]
    if rows < BAND_ROWS or row.at_step is not None or not sisters:
        return None
    if ranges is None:
        return band_behind(drawn, sisters)
    key = (drawn.edges, len(drawn.mean), len(sisters), sum(one.count for one in sisters))
    known = ranges.bands.get(row.tag)
    if known is None or known[0] != key:
        known = ranges.bands[row.tag] = (key, band_behind(drawn, sisters))
    return known[1]


def _median(sisters: SisterBand, drawn: Curve) -> OverlaidCurve:
    """The median of sister runs as a curve without a sign."""
    dotted = sisters.dotted
    return OverlaidCurve("", "dim", replace(drawn, low=dotted, high=dotted, mean=dotted))


def _behind(row: Row, drawn: Curve) -> Spread | None:
    """What a card shows behind the curve of a mean, in the same columns."""
    return spread(row, drawn.mean, lambda series: series.columns(*drawn.edges, len(drawn.mean)))


def _one_row(row: Row, drawn: Curve, window: StepWindow, ranges: Ranges | None) -> Line:
    low, high = whole_range(drawn)
    bottom, top = shown_range(row, data_range(row, drawn.points, [drawn], ranges)[0], window, ranges)
    spark = sparkline(drawn.low, drawn.high, bottom, top, nonfinite=drawn.nonfinite)
    some = bool(np.isfinite(drawn.low).any())
    label = pad(format_range(low, high, row.unit)[1] if some else "", AXIS, right=True)
    shown = colored(spark.text, "accent", unhealthy(row, drawn) | dict.fromkeys(spark.marks, "bad"))
    return line((label + " ", "dim"), *shown)


# ---- values


def _constant(drawn: Curve) -> bool:
    low, high = whole_range(drawn)
    return low == high and bool(np.isfinite(drawn.low).any())


def _constant_rows(row: Row, drawn: Curve, cells: int, rows: int) -> list[Line]:
    """A thin line and words for what never changed; words alone for what is not measured."""
    lines = [BLANK] * rows
    blank = " " * (AXIS + 1)
    if row.unreported:
        lines[rows // 2] = line((blank + fit("not measured: always written as 0", cells), "faint"))
        return lines
    words = f" always {format_bound(whole_range(drawn)[0], row.unit)} "
    known = np.flatnonzero(np.isfinite(drawn.low))
    last = min(int(known[-1]) * cells // len(drawn.low) + 1, cells)
    lines[rows // 2] = line((blank + "─", "faint"), (fit(words, cells - 1), "dim"),
                            ("─" * max(last - 1 - len(words), 0), "faint"))  # fmt: skip
    return lines


def _labels(row: Row, drawn: Curve, axis: ValueAxis, rows: int) -> dict[int, str]:
    """Round values by row from the top, each where the curve has it."""
    if not np.isfinite(drawn.low).any():
        return {}
    if not axis.top > axis.bottom:
        return {rows // 2: few_ticks(axis.bottom, axis.bottom, row.unit, log=axis.log)[0][1]}
    found: dict[int, str] = {}
    for at, text in few_ticks(axis.bottom, axis.top, row.unit, log=axis.log):
        share = min(max(share_of(at, axis.bottom, axis.top), 0.0), 1.0)
        level = math.floor(share * (4 * rows - 1) + 0.5)
        found.setdefault(rows - 1 - level // 4, text)
    return found


def _mark_cut(row: Row, body: list[list[Span]], drawn: Curve, axis: ValueAxis, per_cell: int) -> list[str]:
    """Mark where the curve leaves the card; how far it goes."""
    notes = []
    low, high = whole_range(drawn)
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
    """Write a character into runs of narrow cells, where nothing stands unless `over`."""
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

    def _cell(self, step: float) -> int | None:
        """The cell of a step; None where it is not shown."""
        low, high = self._edges
        at = math.floor((step - low) / (high - low) * self._cells) if high > low else 0
        return at if 0 <= at < self._cells else None

    def marks(self, crosshair: int | None) -> list[tuple[int, str, str]]:
        """Cells of vertical lines, their characters and roles."""
        found = []
        finding, onset = self._row.marked, self._row.onset
        if self._shared and crosshair is not None and (at := self._cell(crosshair)) is not None:
            found.append((at, "│", "strong"))
        if self._shared and finding and onset is not None and (at := self._cell(onset)) is not None:
            found.append((at, ONSET, SEVERITY_ROLE[finding.severity]))
        return found

    def line(self, crosshair: int | None) -> Line:
        """First and last step, restarts, onset and crosshair."""
        cells = self._cells
        chars, roles = ["─"] * cells, ["faint"] * cells

        def put(first: int, text: str, role: str) -> bool:
            """Write words where nothing stands, one cell at each side free; False where there is no room."""
            first = min(first, cells - len(text))
            around = chars[max(first - 1, 0) : first + len(text) + 1]
            if first < 0 or any(char != "─" for char in around):
                return False
            chars[first : first + len(text)] = text
            roles[first : first + len(text)] = [role] * len(text)
            return True

        end, last = self._cell(math.nextafter(self._last + 1.0, 0.0)), self._text(self._last)
        put((cells - 1 if end is None else end) - len(last) + 1, last, "dim")
        finding, onset = self._row.marked, self._row.onset
        if self._shared and finding and onset is not None and (at := self._cell(onset)) is not None:
            step, role = self._text(onset), SEVERITY_ROLE[finding.severity]
            beside = at + len(step) < cells and put(at, f"▲{step}", role)
            if not beside and not put(at - len(step), f"{step}▲", role) and chars[at] == "─":
                chars[at], roles[at] = "▲", role
        if self._last > self._first:
            put(0, self._text(self._first), "dim")
        places = [(self._cell(step), "↻", "mark") for step in self._restarts]
        places += [(self._cell(crosshair), "┴", "strong")] if self._shared and crosshair is not None else []
        for place, char, role in places:
            if place is not None and chars[place] == "─":
                chars[place], roles[place] = char, role
        return line(
            (" " * AXIS + "└", "faint"), *((char, role) for char, role in zip(chars, roles, strict=True))
        )

    def _text(self, step: float) -> str:
        whole = round(step)
        return format_step(whole) if self._cells >= LONG_STEPS else short_step(whole, 6)

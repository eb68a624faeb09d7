"""The text of a large chart: title, legend, values at the cursor, hints."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.common.display_text import cell_width, fit
from rltui.draw.cells import Line, Span, crop, cut, line, sides
from rltui.draw.numbers import format_bound, format_plain, format_range, format_si, format_step, format_value
from rltui.draw.symbols import STATE_GLYPH
from rltui.panes.charts.healthy_range import healthy_range_of, healthy_text
from rltui.panes.render.lines.pane_lines import cut_finding
from rltui.panes.rows.row import Row
from rltui.screen import shown_run
from rltui.screen.input.key_table import key_table
from rltui.screen.pages.chart.curves import ChartCurve, Outlier
from rltui.screen.pages.chart.superseded import restart_words
from rltui.screen.pages.chart.x_axis import Axis, at_text
from rltui.screen.pages.page import Page, fitting, hint_bar, hints_for, short_message
from rltui.screen.state import AppState


def title(state: AppState, row: Row, width: int) -> Line:
    """Name, tag, the step if it is an earlier one, last value and change."""
    change = f"  {row.change_text.rstrip()}" if row.change_text else ""
    base = shown_run.baseline(state)
    if base is not None and row.against is not None:
        change += f" vs {fit(shown_run.short_name(state, base.name), 16)}"
        if row.against.step is not None:
            change += f", medians at {format_step(row.against.step)}"
    moment = ""
    if state.time.at_step is not None:
        moment = f"{STATE_GLYPH[shown_run.moment_state(state)]} step {format_step(state.time.at_step)}   "
    right: list[Span] = [(moment, "warn"), (row.value_text, "strong"), (f"{change} ", "dim")]
    room = width - cell_width(moment + row.value_text + change) - 4
    name = cut(row.title, max(room, 6))
    left: list[Span] = [(f" {name}", "strong")]
    room -= cell_width(name) + 3
    if room >= 8:
        key = f"{row.tag} · {row.direction_note}" if row.direction_note else row.tag
        left.append((f"   {fit(key if cell_width(key) <= room else row.tag, room)}", "dim"))
    return sides(left, right, width)


def legend(
    state: AppState, row: Row, found: Sequence[ChartCurve], width: int, *, superseded: bool,
    spread: bool, cut: bool, cursor: float | None = None, outliers: Sequence[Outlier] = (),
) -> Line:  # fmt: skip
    """The legend; parts that do not fit are left out as a whole.

    superseded: whether superseded points are drawn; spread: whether the band of the first curve is drawn,
    cut: whether the axis cuts some of it off.
    cursor: where the values of several curves are read. outliers: points of the curves that are cut off.
    """
    beyond = _beyond(outliers, row.unit, state)
    band: list[Span] = []
    if spread and found[0].spread is not None:
        key = state.options.keys.hint_of("spread")
        words = f"{found[0].spread.words}{', cut off: ' if cut else ''}"
        band = [
            ("⡐⡐", "band"),
            (f" {words}", "dim"),
            (key if cut else "", "accent"),
            (" shows all" if cut else "", "dim"),
        ]
    if len(found) > 1:
        pieces = [*_curves(state, row, found, cursor, width), beyond, band]
    else:
        pieces = _single(state, row, found, band, beyond, superseded=superseded, room=width - 5)
    lacking = _lacking(state, row, {curve.label for curve in found})
    if lacking:
        pieces.append([(lacking, "dim")])
    spans: list[Span] = [(" ", "text")]
    left = width - 2
    for piece in filter(None, pieces):
        cells = sum(cell_width(text) for text, _ in piece) + 3
        if cells - 3 > left:
            if piece is pieces[0]:  # a cut text is better than an empty line
                spans += crop(line(*piece), max(left, 4)).spans
            break
        spans += [*piece, ("   ", "text")]
        left -= cells
    return line(*spans)


def _curves(
    state: AppState, row: Row, found: Sequence[ChartCurve], cursor: float | None, width: int
) -> list[list[Span]]:
    """Each curve by sign and name, at a cursor with its value; names are shortened to fit."""
    mixed = any(curve.own for curve in found)
    named: list[tuple[ChartCurve, str, str]] = []
    for index, curve in enumerate(found):
        label = curve.label if curve.own else row.title if mixed and not index else curve.label
        if not curve.own and label in state.session.runs:
            label = shown_run.short_name(state, label)
        more = _value(curve, cursor)
        if curve.own and not more:
            more = f"{'…'.join(format_range(*curve.range, curve.unit))}, own scale"
        named.append((curve, label, more))
    most = 30
    while (
        most > 8
        and sum(min(cell_width(name), most) + cell_width(more) + 6 for _, name, more in named) > width
    ):
        most -= 1
    return [
        [
            (f"{curve.sign} ", curve.role),
            (fit(name, most), "text"),
            (f" {more}" if more else "", "dim" if cursor is None else "strong"),
        ]
        for curve, name, more in named
    ]


def _beyond(outliers: Sequence[Outlier], unit: str, state: AppState) -> list[Span]:
    """`▲ outliers to 8.12k: X shows all`, with the extremes of both sides."""
    if not outliers:
        return []
    up = [one.value for one in outliers if one.above]
    down = [one.value for one in outliers if not one.above]
    spans: list[Span] = []
    if up:
        spans += [("▲ ", "mark"), (f"outliers to {format_bound(max(up), unit)}", "dim")]
    if down:
        spans += [("  ▼ " if up else "▼ ", "mark"), (f"outliers to {format_bound(min(down), unit)}", "dim")]
    return [*spans, (": ", "dim"), (state.options.keys.hint_of("outliers"), "accent"), (" shows all", "dim")]


def _value(curve: ChartCurve, cursor: float | None) -> str:
    """The value of a curve at the cursor; empty without a cursor."""
    at = None if cursor is None else curve.nearest(cursor)
    return "" if at is None else format_value(float(curve.mean[at]), curve.unit)


def _lacking(state: AppState, row: Row, drawn: set[str]) -> str:
    """Names or number of compared runs without the metric."""
    view = shown_run.run(state)
    if view is None:
        return ""
    missing = [one for one in shown_run.compared_runs(state, view) if one.name not in drawn]
    missing = [one for one in missing if view.tag_index.counterpart(row.tag, one.tag_index) is None]
    if len(missing) > 1:
        return f"{len(missing)} marked runs do not write this"
    names = [shown_run.short_name(state, one.name) for one in missing]
    return f"{fit(names[0], 24)} does not write this" if names else ""


def _single(
    state: AppState,
    row: Row,
    found: Sequence[ChartCurve],
    spread: list[Span],
    beyond: list[Span],
    *,
    superseded: bool,
    room: int,
) -> list[list[Span]]:
    pieces: list[list[Span]] = []
    finding = row.finding
    if finding is not None:
        role = "bad" if finding.severity == "critical" else "warn"
        drawn = ("│ ", "mark") if finding.limit is None else ("─ ", role)
        text = f"{finding.title} since {format_step(finding.since_step)}"
        text = text if cell_width(text) <= room - 2 else cut_finding(finding, room - 2)
        pieces.append([drawn, (text, role)])
    pieces.append(beyond)
    view = shown_run.run(state)
    words = restart_words(view, found[0].series, shown=superseded) if view is not None else []
    restarts = [(text.lstrip() if not at else text, role) for at, (text, role) in enumerate(words)]
    if superseded:
        pieces.append(restarts)
    for curve in found[:1]:
        smoothing = f"moving average {curve.weight:.2f}" if curve.weight else "every point"
        smoothing += " without outliers" if curve.weight and beyond else ""
        if not row.smooth:
            smoothing = "never smoothed: a schedule or counter"
        pieces.append([("━ ", curve.role), (smoothing, "dim")])
        if curve.weight:
            pieces.append([("━ ", "band"), ("every point", "dim")])
        pieces.append(spread)
        healthy = healthy_range_of(row)
        if healthy is not None:
            pieces.append([("▏", "good"), (healthy_text(healthy, row.unit), "dim")])
        if curve.nonfinite:
            pieces.append([("× ", "bad"), (f"{curve.nonfinite:,} NaN or infinite", "dim")])
    if not superseded:
        pieces.append(restarts)
    return [piece for piece in pieces if piece]


def under_cursor(
    found: Sequence[ChartCurve], cursor: float | None, axis: Axis, columns: int, width: int
) -> Line:
    """The values at the cursor, and the number of points per column."""
    per = found[0].points / max(columns, 1) if found else 0
    note = f"1 column ≈ {format_plain(per, 2)} points" if per > 1 else "every point shown"
    note = (
        f"{note} · {format_si(found[0].points)} {'point' if found[0].points == 1 else 'points'} here "
        if found
        else ""
    )
    if cursor is None:
        hints = (" ← → move a cursor · wheel zooms · drag pans", " ← → move a cursor", " ← →", "")
        hint = next(one for one in hints if cell_width(one) + cell_width(note) + 2 <= width or not one)
        return sides([(hint, "faint")], [(note, "dim")], width)
    spans: list[Span] = []
    x = cursor
    for index, curve in enumerate(found):
        at = curve.nearest(cursor)
        if at is None:
            continue
        if not index:
            x = float(curve.x[at])
        if len(found) > 1:  # the legend has their values; here only other positions
            here = at_text(float(curve.x[at]), axis)
            if here != at_text(x, axis):
                spans += [(f"{curve.sign} ", curve.role), (f"{here}   ", "dim")]
            continue
        text = format_value(float(curve.mean[at]), curve.unit)
        first, last = float(curve.low[at]), float(curve.high[at])
        if first != last and math.isfinite(first):
            text += f" ({'…'.join(format_range(first, last, curve.unit))})"
        if curve.smooth is not None and math.isfinite(curve.smooth[at]):
            text += f"  average {format_value(float(curve.smooth[at]), curve.unit)}"
        spans.append((f"{text}{_ends(curve, at)}   ", "text"))
    head = (f" {at_text(x, axis)}   ", "strong")
    body = line(head, *spans)
    return sides(body.spans, [(note, "dim")] if body.width + cell_width(note) < width else [], width)


def _ends(curve: ChartCurve, at: int) -> str:
    """The ends of the band in a column, as text."""
    if curve.spread is None:
        return ""
    low, high = float(curve.spread.low[at]), float(curve.spread.high[at])
    if not math.isfinite(low) or not math.isfinite(high):
        return ""
    return f"  {curve.spread.words} {'…'.join(format_range(low, high, curve.unit))}"


def foot(state: AppState, axis: Axis, width: int, *, log: bool) -> Page:
    """The hints of the chart, fewer with a message."""
    context = key_table().context["chart"]
    words = {**context.hints, "axis": f"axis: {axis}", "log": "linear" if log else "log"}
    message = f" {text}" if (text := short_message(state, width)) else ""
    room = width - 1 - cell_width(message)
    hints = fitting(hints_for(state.options.keys, words, {"smoother": "rougher"}), room, context.kept)
    return hint_bar(hints, width, [(message, "strong")] if message else ())

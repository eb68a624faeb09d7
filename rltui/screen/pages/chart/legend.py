"""The words round a large chart: title, legend, what stands under the cursor, keys."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rltui.draw.cells import Line, Span, crop, cut, line, sides
from rltui.draw.numbers import format_plain, format_range, format_si, format_step, format_value
from rltui.draw.symbols import STATE_GLYPH
from rltui.panes.healthy_range import band_of, band_text
from rltui.panes.row import Row
from rltui.screen.pages.chart import superseded
from rltui.screen.pages.chart.chart_data import Axis, at_text
from rltui.screen.pages.chart.overlaid_runs import compared
from rltui.screen.shown_step import moment_of
from rltui.text import cell_width, fit

if TYPE_CHECKING:
    from rltui.screen.pages.chart.curves import Trace
    from rltui.screen.state import AppState

# Keys for the lower edge in order of reading, and their rank: the highest goes first where room is short.
_FOOT = (
    ("zoom-in", "zoom", 1), ("zoom-out", "out", 1), ("reset", "all", 4), ("axis", "axis", 2),
    ("log", "log", 3), ("smoother", "smooth", 5), ("together", "add metric", 3),
    ("next-pane", "next metric", 6), ("explain", "explain", 7), ("snapshot", "snapshot", 8),
    ("help", "help", 2), ("back", "back", 0),
)  # fmt: skip


def title(desk: AppState, row: Row, width: int) -> Line:
    """Name, key as written, the moment if it is not now, last value and change."""
    change = f"  {row.change_text.rstrip()}" if row.change_text else ""
    if desk.base is not None and row.against is not None:
        change += f" vs {fit(desk.brief(desk.base.name), 16)}"
        change += f" at {format_step(row.against.step)}" if row.against.step is not None else ""
    moment = ""
    if desk.at_step is not None:
        moment = f"{STATE_GLYPH[moment_of(desk)]} step {format_step(desk.at_step)}   "
    right: list[Span] = [(moment, "warn"), (row.value_text, "strong"), (f"{change} ", "dim")]
    room = width - cell_width(moment + row.value_text + change) - 4
    name = cut(row.title, max(room, 6))
    left: list[Span] = [(f" {name}", "strong")]
    room -= cell_width(name) + 3
    if room >= 8:
        left.append((f"   {fit(row.tag, room)}", "dim"))
    return sides(left, right, width)


def legend(
    desk: AppState, row: Row, found: Sequence[Trace], width: int, *, overlaid: bool, spread: bool, cut: bool,
    cursor: float | None = None,
) -> Line:  # fmt: skip
    """What is drawn how; whole pieces are left out where there is no room for them.

    spread: whether the band of the first curve is drawn, cut: whether the axis cuts some of it off.
    cursor: where the values of several curves are read.
    """
    band: list[Span] = []
    if spread and found[0].spread is not None:
        words = f"{found[0].spread.words}{', cut off: ' if cut else ''}"
        band = [("⡐⡐ ", "band"), (words, "dim"), (desk.keys.hint_of("spread") if cut else "", "accent")]
    if len(found) > 1:
        pieces = [*_curves(desk, row, found, cursor, width), band]
    else:
        pieces = _single(desk, row, found, band, overlaid=overlaid)
    lacking = _lacking(desk, row, {trace.label for trace in found})
    if lacking:
        pieces.append([(lacking, "dim")])
    spans: list[Span] = [(" ", "text")]
    left = width - 2
    for piece in filter(None, pieces):
        cells = sum(cell_width(text) for text, _ in piece) + 3
        if cells - 3 > left:
            if piece is pieces[0]:  # half a word is better than an empty line
                spans += crop(line(*piece), max(left, 4)).spans
            break
        spans += [*piece, ("   ", "text")]
        left -= cells
    return line(*spans)


def _curves(
    desk: AppState, row: Row, found: Sequence[Trace], cursor: float | None, width: int
) -> list[list[Span]]:
    """Each curve by its sign and name, at a cursor with its value; names give way where room is short."""
    mixed = any(trace.own for trace in found)
    told: list[tuple[Trace, str, str]] = []
    for index, trace in enumerate(found):
        label = trace.label if trace.own else row.title if mixed and not index else trace.label
        if not trace.own and label in desk.session.runs:
            label = desk.brief(label)
        more = _value(trace, cursor)
        if trace.own and not more:
            more = f"{'…'.join(format_range(*trace.range, trace.unit))}, own scale"
        told.append((trace, label, more))
    most = 30
    while (
        most > 8 and sum(min(cell_width(name), most) + cell_width(more) + 6 for _, name, more in told) > width
    ):
        most -= 1
    return [
        [
            (f"{trace.sign} ", trace.role),
            (fit(name, most), "text"),
            (f" {more}" if more else "", _tone(cursor)),
        ]
        for trace, name, more in told
    ]


def _tone(cursor: float | None) -> str:
    return "dim" if cursor is None else "strong"


def _value(trace: Trace, cursor: float | None) -> str:
    """The value of a curve at a cursor, empty without one."""
    at = None if cursor is None else trace.nearest(cursor)
    return "" if at is None else format_value(float(trace.mean[at]), trace.unit)


def _lacking(desk: AppState, row: Row, drawn: set[str]) -> str:
    """The runs that were to be drawn beside the one shown and do not have the metric."""
    view = desk.view
    if view is None:
        return ""
    missing = [one for one in compared(desk, view) if one.name not in drawn]
    names = [
        desk.brief(one.name) for one in missing if view.tag_index.counterpart(row.tag, one.tag_index) is None
    ]
    if len(names) > 1:
        return f"{len(names)} marked runs do not write this"
    return f"{fit(names[0], 24)} does not write this" if names else ""


def _single(
    desk: AppState, row: Row, found: Sequence[Trace], spread: list[Span], *, overlaid: bool
) -> list[list[Span]]:
    pieces: list[list[Span]] = []
    finding = row.finding
    if finding is not None:
        role = "bad" if finding.severity == "critical" else "warn"
        drawn = ("│ ", "mark") if finding.limit is None else ("─ ", role)
        pieces.append([drawn, (f"{finding.title} since {format_step(finding.since_step)}", role)])
    told = superseded.legend(desk.view, found[0].series, shown=overlaid) if desk.view is not None else []
    restarts = [(text.lstrip() if not at else text, role) for at, (text, role) in enumerate(told)]
    if overlaid:
        pieces.append(restarts)
    raw = ": " if desk.glyphs == "ascii" else "━ "
    for trace in found[:1]:
        words = f"moving average {trace.weight:.2f}" if trace.weight else "every point"
        if not row.smooth:
            words = "never smoothed: a schedule or counter"
        line_sign = "* " if desk.glyphs == "ascii" else "━ "
        pieces.append([(line_sign, trace.role), (words, "dim")])
        if trace.weight:
            pieces.append([(raw, "band"), ("every point", "dim")])
        pieces.append(spread)
        band = band_of(row)
        if band is not None:
            pieces.append([("▏", "good"), (band_text(band, row.unit), "dim")])
        if trace.nonfinite:
            pieces.append([("× ", "bad"), (f"{trace.nonfinite:,} NaN or infinite", "dim")])
    if not overlaid:
        pieces.append(restarts)
    return [piece for piece in pieces if piece]


def under_cursor(found: Sequence[Trace], cursor: float | None, axis: Axis, columns: int, width: int) -> Line:
    """The values at the cursor, and how many points stand behind a column."""
    per = found[0].points / max(columns, 1) if found else 0
    note = f"1 column ≈ {format_plain(per, 2)} points" if per > 1 else "every point shown"
    note = f"{note} · {format_si(found[0].points)} points here " if found else ""
    if cursor is None:
        hints = (" ← → move a cursor · wheel zooms · drag pans", " ← → move a cursor", " ← →", "")
        hint = next(one for one in hints if cell_width(one) + cell_width(note) + 2 <= width or not one)
        return sides([(hint, "faint")], [(note, "dim")], width)
    spans: list[Span] = []
    place = cursor
    for index, trace in enumerate(found):
        at = trace.nearest(cursor)
        if at is None:
            continue
        if not index:
            place = float(trace.x[at])
        if len(found) > 1:  # their values stand in the legend; here only what was read elsewhere
            here = at_text(float(trace.x[at]), axis)
            if here != at_text(place, axis):
                spans += [(f"{trace.sign} ", trace.role), (f"{here}   ", "dim")]
            continue
        text = format_value(float(trace.mean[at]), trace.unit)
        first, last = float(trace.low[at]), float(trace.high[at])
        if first != last and math.isfinite(first):
            text += f" ({'…'.join(format_range(first, last, trace.unit))})"
        if trace.smooth is not None and math.isfinite(trace.smooth[at]):
            text += f"  average {format_value(float(trace.smooth[at]), trace.unit)}"
        spans.append((f"{text}{_ends(trace, at)}   ", "text"))
    head = (f" {at_text(place, axis)}   ", "strong")
    body = line(head, *spans)
    return sides(body.spans, [(note, "dim")] if body.width + cell_width(note) < width else [], width)


def _ends(trace: Trace, at: int) -> str:
    """The ends of the spread in a column, in words."""
    if trace.spread is None:
        return ""
    low, high = float(trace.spread.low[at]), float(trace.spread.high[at])
    if not math.isfinite(low) or not math.isfinite(high):
        return ""
    return f"  {trace.spread.words} {'…'.join(format_range(low, high, trace.unit))}"


def foot(desk: AppState, axis: Axis, width: int, *, log: bool) -> tuple[Line, list[tuple[int, int, str]]]:
    """The keys, and where each of them stands: (first cell, cells, action)."""
    words = {"axis": f"axis: {axis}", "log": "linear" if log else "log"}
    told = []
    for action, what, rank in _FOOT:
        keys = desk.keys.hint_of(action)
        if action == "smoother":
            keys = f"{keys} {desk.keys.hint_of('rougher')}"
        told.append((keys, words.get(action, what), rank, action))
    said = f" {desk.message}" if desk.message else ""
    room = width - 1 - min(cell_width(said), width - 20)  # a message leaves room for the way out
    while sum(cell_width(keys + what) + 3 for keys, what, *_ in told) > room and len(told) > 1:
        told.remove(max(told, key=lambda one: one[2]))
    spans: list[Span] = [(" ", "dim")]
    places = []
    x = 1
    if said:
        x = width - sum(cell_width(keys + what) + 3 for keys, what, *_ in told)
        spans = [(fit(said, x - 1), "strong"), (" " * max(x - cell_width(said), 1), "dim")]
    for keys, what, _, action in told:
        cells = cell_width(keys + what) + 3
        spans += [(keys, "accent"), (f" {what}  ", "dim")]
        places.append((x, cells - 2, action))
        x += cells
    return sides(spans, [], width, back="bar"), places

"""Pictures of an answer as lines of cells: bands of extremes and quantiles, ridges, Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.text import cell_width, pad
from rltui.draw.cells import Line, Span, crop, cut, line
from rltui.draw.numbers import format_range, format_seconds, format_step
from rltui.draw.sparkline import resampled
from rltui.panes.answers.answer import Band, Gantt, Ridge

AXIS = 8  # cells of the values left of a band
LABEL = 15  # cells of the steps left of a ridge
MOST_CELLS = 100  # a wider band says no more
HEIGHTS = " ▁▂▃▄▅▆▇█"
OUTER, INNER, MIDDLE = "░", "▒", "█"
NAME, SECONDS, BAR = 24, 10, "█"  # cells of names and of times right of a Gantt chart; what ran


def band_lines(band: Band, width: int, rows: int) -> list[Line]:
    """A band in `rows` + 2 lines: what it is, the picture, the steps; (n,) columns become cells."""
    cells = max(min(width - AXIS - 3, MOST_CELLS), 8)
    columns = {
        "low": band.low, "high": band.high, "middle": band.middle,
        "inner low": band.inner_low, "inner high": band.inner_high,
    }  # fmt: skip
    drawn = {name: resampled(values, cells) for name, values in columns.items() if values}
    known = np.concatenate(list(drawn.values()))
    known = known[np.isfinite(known)]
    title = crop(line((f" {band.title}", "text"), (f"   {band.words}", "dim")), width)
    if not len(known):
        return [title]
    bottom, top = float(known.min()), float(known.max())
    if top <= bottom:
        bottom, top = bottom - 0.5, top + 0.5
    place = {name: _rows(values, bottom, top, rows) for name, values in drawn.items()}
    ends = format_range(bottom, top, band.unit)
    lines = [title]
    for at in range(rows):
        row = rows - 1 - at
        label = ends[1] if at == 0 else ends[0] if at == rows - 1 else ""
        lines.append(line((f" {pad(label, AXIS - 2, right=True)} ", "faint"), *_row(place, row, cells)))
    first, last = f"step {format_step(band.steps[0])}", format_step(band.steps[1])
    rule = "─" * max(cells - cell_width(first) - cell_width(last) - 2, 1)
    lines.append(line((" " * AXIS + f"{first} {rule} {last}", "faint")))
    return [crop(one, width) for one in lines]


def _rows(values: Floats, bottom: float, top: float, rows: int) -> Ints:
    """The row from below of each value; -1 where unknown."""
    with np.errstate(invalid="ignore"):
        place = np.floor((values - bottom) / (top - bottom) * rows)
    return np.where(np.isfinite(place), np.clip(place, 0, rows - 1), -1).astype(np.int64)


def _row(place: dict[str, Ints], row: int, cells: int) -> list[Span]:
    """One row of the picture as runs of one role."""
    signs = np.full(cells, " ")
    low, high, middle = place.get("low"), place.get("high"), place["middle"]
    if low is not None and high is not None:
        signs[(low >= 0) & (high >= 0) & (low <= row) & (row <= high)] = OUTER
    inner_low, inner_high = place.get("inner low"), place.get("inner high")
    if inner_low is not None and inner_high is not None:
        signs[(inner_low >= 0) & (inner_high >= 0) & (inner_low <= row) & (row <= inner_high)] = INNER
    signs[middle == row] = MIDDLE
    spans: list[Span] = []
    roles = {OUTER: "band", INNER: "info", MIDDLE: "accent", " ": "text"}
    for sign in signs.tolist():
        if spans and spans[-1][1] == roles[sign]:
            spans[-1] = (spans[-1][0] + sign, roles[sign])
        else:
            spans.append((sign, roles[sign]))
    return spans


def ridge_lines(ridge: Ridge, width: int, rows: int) -> list[Line]:
    """A ridge in at most `rows` + 2 lines: what it is, a line for a stretch of steps, the scale."""
    cells = max(min(width - LABEL - 2, 2 * len(ridge.rows[0])), 8)
    shown = list(zip(ridge.steps, ridge.rows, strict=True))
    if len(shown) > rows:
        shown = [shown[round(at)] for at in np.linspace(0, len(shown) - 1, max(rows, 1))]
    words = f"   share of values, {ridge.source}"
    lines = [line((f" {ridge.title}", "text"), (words, "dim"))]
    tables = [_bins(row, cells) for _, row in shown]
    most = max(float(table.max()) for table in tables)
    for (steps, _), table in zip(shown, tables, strict=True):
        first, last = (format_step(step) for step in steps)
        label = f"step {first}" if first == last else f"{first}–{last}"
        # What is there is seen, however little of it there is.
        level = np.where(table > 0, np.clip(np.ceil(8 * table / most), 1, 8), 0).astype(int)
        bars = "".join(HEIGHTS[one] for one in level)
        lines.append(line((f" {pad(label, LABEL - 2, right=True)} ", "faint"), (bars, "accent")))
    ends = format_range(ridge.low, ridge.high, ridge.unit)
    gap = " " * max(cells - cell_width(ends[0]) - cell_width(ends[1]), 1)
    lines.append(line((" " * LABEL + ends[0] + gap + ends[1], "faint")))
    return [crop(one, width) for one in lines]


def _bins(row: Sequence[float], cells: int) -> Floats:
    """Shares of (b,) bins in so many cells, adding up to the same."""
    upto = np.concatenate(([0.0], np.cumsum(row)))
    edges = np.linspace(0, len(row), cells + 1)
    return np.diff(np.interp(edges, np.arange(len(upto)), upto))


def gantt_lines(chart: Gantt, width: int, rows: int) -> list[Line]:
    """A chart in at most `rows` + 2 lines: what it is, a line for a name, the scale; the longest stay."""
    shown = chart.rows
    if len(shown) > rows:
        kept = sorted(chart.rows, key=lambda row: -row.seconds)[:rows]
        shown = tuple(row for row in chart.rows if row in kept)
    left = len(chart.rows) - len(shown)
    title = min(max((cell_width(row.title) for row in shown), default=0), NAME)
    cells = max(min(width - title - SECONDS - 4, MOST_CELLS), 8)
    more = f", {left} shorter ones left out" if left else ""
    of = f" in {chart.source}" if chart.source else ""
    head = chart.title[:1].upper() + chart.title[1:]
    lines = [line((f" {head}", "text"), (f"   what ran when{of}{more}", "dim"))]
    for at, row in enumerate(shown):
        filled = np.zeros(cells, np.bool_)
        for begin, end in row.spans:
            first = int(begin / chart.seconds * cells) if chart.seconds > 0 else 0
            last = int(np.ceil(end / chart.seconds * cells)) if chart.seconds > 0 else cells
            filled[min(first, cells - 1) : max(last, first + 1)] = True
        bar = "".join(BAR if one else "·" for one in filled)
        spans: list[Span] = [(f" {pad(cut(row.title, title), title)}  ", "text")]
        start = 0
        for end in (*(np.flatnonzero(np.diff(filled)) + 1).tolist(), cells):
            spans.append((bar[start:end], f"series{at % 7}" if filled[start] else "faint"))
            start = end
        lines.append(line(*spans, (pad(format_seconds(row.seconds), SECONDS, right=True), "dim")))
    whole = format_seconds(chart.seconds)
    gap = " " * max(cells - 3 - cell_width(whole), 1)
    lines.append(line((" " * (title + 3) + "0 s" + gap + whole, "faint")))
    return [crop(one, width) for one in lines]

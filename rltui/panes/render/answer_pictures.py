"""Charts of an answer as lines of cells: bands of extremes and quantiles, ridges, Gantt charts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.display_text import cell_width, pad
from rltui.draw.cells import Line, Span, crop, cut, line
from rltui.draw.numbers import format_range, format_seconds, format_step
from rltui.draw.sparkline import BLOCKS, resampled
from rltui.draw.value_range import shares_of
from rltui.panes.answers.answer import Band, Gantt, Ridge

AXIS = 8  # cells of the values left of a band
LABEL = 15  # cells of the steps left of a ridge
MAX_CELLS = 100  # of a band; a wider one shows no more
OUTER, INNER, MIDDLE = ("░", "band"), ("▒", "info"), ("█", "accent")  # glyphs and roles of bands
NAME, SECONDS = 24, 10  # cells of names and durations of a Gantt chart


def band_lines(band: Band, width: int, rows: int) -> list[Line]:
    """A band in `rows` + 2 lines: title, chart, steps."""
    cells = max(min(width - AXIS - 3, MAX_CELLS), 8)
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
    position = {name: _rows(values, bottom, top, rows) for name, values in drawn.items()}
    ends = format_range(bottom, top, band.unit)
    lines = [title]
    for at in range(rows):
        row = rows - 1 - at
        label = ends[1] if at == 0 else ends[0] if at == rows - 1 else ""
        lines.append(line((f" {pad(label, AXIS - 2, right=True)} ", "faint"), *_row(position, row, cells)))
    first, last = f"step {format_step(band.steps[0])}", format_step(band.steps[1])
    rule = "─" * max(cells - cell_width(first) - cell_width(last) - 2, 1)
    lines.append(line((" " * AXIS + f"{first} {rule} {last}", "faint")))
    return [crop(one, width) for one in lines]


def _rows(values: Floats, bottom: float, top: float, rows: int) -> Ints:
    """The row from below of each value; -1 if it is NaN."""
    position = np.minimum(np.floor(shares_of(values, bottom, top) * rows), rows - 1)
    return np.where(np.isfinite(values), position, -1).astype(np.int64)


def _row(position: dict[str, Ints], row: int, cells: int) -> list[Span]:
    """One row of the chart, a span for each cell."""
    spans: list[Span] = [(" ", "text")] * cells
    for ends, span in ((("low", "high"), OUTER), (("inner low", "inner high"), INNER)):
        low, high = (position.get(end) for end in ends)
        if low is not None and high is not None:
            for at in np.flatnonzero((low >= 0) & (low <= row) & (row <= high)).tolist():
                spans[at] = span
    for at in np.flatnonzero(position["middle"] == row).tolist():
        spans[at] = MIDDLE
    return spans


def ridge_lines(ridge: Ridge, width: int, rows: int) -> list[Line]:
    """A ridge in at most `rows` + 2 lines: title, a line for each interval of steps, scale."""
    cells = max(min(width - LABEL - 2, 2 * len(ridge.rows[0])), 8)
    shown = list(zip(ridge.steps, ridge.rows, strict=True))
    if len(shown) > rows:
        shown = [shown[round(at)] for at in np.linspace(0, len(shown) - 1, max(rows, 1))]
    words = f"   share of values, {ridge.source}"
    lines = [line((f" {ridge.title}", "text"), (words, "dim"))]
    tables = [_bins(row, cells) for _, row in shown]
    most, heights = max(float(table.max()) for table in tables), len(BLOCKS)
    for (steps, _), table in zip(shown, tables, strict=True):
        first, last = (format_step(step) for step in steps)
        label = f"step {first}" if first == last else f"{first}–{last}"
        # A bin with any values has at least the lowest height.
        level = np.where(table > 0, np.clip(np.ceil(heights * table / most), 1, heights), 0)
        bars = "".join(f" {BLOCKS}"[one] for one in level.astype(int).tolist())
        lines.append(line((f" {pad(label, LABEL - 2, right=True)} ", "faint"), (bars, "accent")))
    ends = format_range(ridge.low, ridge.high, ridge.unit)
    gap = " " * max(cells - cell_width(ends[0]) - cell_width(ends[1]), 1)
    lines.append(line((" " * LABEL + ends[0] + gap + ends[1], "faint")))
    return [crop(one, width) for one in lines]


def _bins(row: Sequence[float], cells: int) -> Floats:
    """Shares of (b,) bins distributed over (cells,) cells; the sum is the same."""
    cumulative = np.concatenate(([0.0], np.cumsum(row)))
    edges = np.linspace(0, len(row), cells + 1)
    return np.diff(np.interp(edges, np.arange(len(cumulative)), cumulative))


def gantt_lines(chart: Gantt, width: int, rows: int) -> list[Line]:
    """A chart in at most `rows` + 2 lines: title, a line for each of the longest names, scale."""
    shown = chart.rows
    if len(shown) > rows:
        longest = sorted(chart.rows, key=lambda row: -row.seconds)[:rows]
        shown = tuple(row for row in chart.rows if row in longest)
    left = len(chart.rows) - len(shown)
    title = min(max((cell_width(row.title) for row in shown), default=0), NAME)
    cells = max(min(width - title - SECONDS - 4, MAX_CELLS), 8)
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
        name: Span = (f" {pad(cut(row.title, title), title)}  ", "text")
        bar: list[Span] = [("█", f"series{at % 7}") if ran else ("·", "faint") for ran in filled]
        lines.append(line(name, *bar, (pad(format_seconds(row.seconds), SECONDS, right=True), "dim")))
    whole = format_seconds(chart.seconds)
    gap = " " * max(cells - 3 - cell_width(whole), 1)
    lines.append(line((" " * (title + 3) + "0 s" + gap + whole, "faint")))
    return [crop(one, width) for one in lines]

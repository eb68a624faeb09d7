"""The large chart: curves on a braille canvas over axes, limits and marks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rltui.common.arrays import Floats, contiguous_parts
from rltui.common.display_text import pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.axis_ticks import y_ticks
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import Line, Span, line
from rltui.draw.value_range import share_of, shares_of

LABEL = 8  # cells of the y labels: constant, so that the plot does not move when numbers change
SIGN_DISTANCE = 32  # cells between two signs on a curve


class Stroke(NamedTuple):
    """One curve: (n,) x and y in order; NaN in y breaks the line. `role` names its colour.

    `sign` is drawn on it at intervals, so that curves can be distinguished without colours.
    """

    x: Floats
    y: Floats
    role: str
    sign: str = ""
    dotted: bool = False


class Area(NamedTuple):
    """A spread behind the curves: (n,) x in order and the ends of y; NaN breaks it."""

    x: Floats
    low: Floats
    high: Floats


class Plot(NamedTuple):
    """What to draw. `x` and `y` are the ranges of the axes; if `log`, values of y are decimal logarithms."""

    x: tuple[float, float]
    y: tuple[float, float]
    strokes: Sequence[Stroke] = ()
    limits: Sequence[tuple[float, str]] = ()  # horizontal lines: value, role
    marks: Sequence[float] = ()  # vertical lines, such as restarts
    x_ticks: Sequence[tuple[float, str]] = ()
    log: bool = False
    area: Area | None = None
    unit: str = ""  # of y
    crosses: Sequence[float] = ()  # x of NaN and infinite values
    beyond: Sequence[tuple[float, bool]] = ()  # x at which curves leave the chart; whether upwards


@dataclass(slots=True)
class Grid:
    """A drawn chart as cells: `rows` of (characters, roles); the plot proper starts at cell `left`."""

    rows: list[tuple[list[str], list[str]]] = field(default_factory=list)
    left: int = 0
    width: int = 0  # of the plot proper, in cells
    height: int = 0  # of the plot proper, in rows
    shaded: frozenset[int] = frozenset()  # rows of the plot proper with a background of their own

    def shade(self, rows: frozenset[int]) -> None:
        """Rows of healthy values: a background, and a mark at the axis for terminals without one."""
        self.shaded = rows
        for at in rows:
            if at < self.height and self.left:
                chars, roles = self.rows[at]
                if self.left < len(chars) and chars[self.left] == " ":
                    chars[self.left], roles[self.left] = "▏", "good"

    def cursor(self, column: int) -> None:
        """A vertical line at a cell of the plot, behind the curves."""
        at = self.left + column
        for chars, roles in self.rows[: self.height]:
            if at < len(chars) and chars[at] in " ─":
                chars[at], roles[at] = "│", "strong"

    def lines(self) -> list[Line]:
        """The rows as lines of cells."""
        out = []
        for at, (chars, roles) in enumerate(self.rows):
            spans: list[Span] = []
            for char, role in zip(chars, roles, strict=True):
                spans.append((char, spans[-1][1] if char == " " and spans else role))
            if at in self.shaded and at < self.height:
                spans[self.left :] = [(char, f"{role}/panel") for char, role in spans[self.left :]]
            out.append(line(*spans))
        return out


def draw(plot: Plot, width: int, height: int) -> Grid:
    """The chart in `width` by `height` cells, axes included; non-finite values are left out."""
    grid = _axes(plot, width, height)
    if grid.width < 1 or grid.height < 1:
        return grid
    _draw_curves(grid, plot)
    _draw_signs(grid, plot)
    _draw_edge_marks(grid, plot)
    return grid


def _draw_curves(grid: Grid, plot: Plot) -> None:
    """The curves over the axes; where two meet, the later one gives the colour."""
    canvas, columns = Canvas(grid.width, grid.height), PER_CELL * grid.width
    for stroke in plot.strokes:
        low, high = _dots(stroke, plot, columns)
        if stroke.dotted:
            low[2::4] = low[3::4] = math.nan
        canvas.line(low, high, 0.0, 1.0)
    if plot.area is not None:
        low, _ = _dots(Stroke(plot.area.x, plot.area.low, "band"), plot, columns)
        _, high = _dots(Stroke(plot.area.x, plot.area.high, "band"), plot, columns)
        canvas.draw_band(low, high, 0.0, 1.0)
    owners, band = canvas.owners(), canvas.band_cells()
    for row, text in enumerate(canvas.lines()):
        chars, roles = grid.rows[row]
        for column in np.flatnonzero(band[row]).tolist():
            if chars[grid.left + column] == " ":
                chars[grid.left + column] = text[column]
                roles[grid.left + column] = "band"
        for column in np.flatnonzero(owners[row] >= 0).tolist():
            chars[grid.left + column] = text[column]
            roles[grid.left + column] = plot.strokes[int(owners[row, column])].role


def _draw_signs(grid: Grid, plot: Plot) -> None:
    """Signs on the curves that have one, at the right end and at regular columns.

    The regular columns stay the same while a curve grows, so that new points change few cells.
    """
    signed = [stroke for stroke in plot.strokes if stroke.sign]
    taken: set[tuple[int, int]] = set()
    for order, stroke in enumerate(reversed(signed)):  # the last one is drawn over the others
        low, high = _dots(stroke, plot, grid.width)
        known = np.flatnonzero(np.isfinite(low))
        if not len(known):
            continue
        first = (2 * order + 1) * SIGN_DISTANCE // (2 * len(signed))
        columns = [int(known[-1]), *range(first, int(known[-1]) - 3, SIGN_DISTANCE)]
        for number, column in enumerate(columns):
            if number and not np.isfinite(low[column]):
                continue
            # The signs of curves that end in the same cell go to the left of each other.
            for at in range(column, max(column - len(signed), -1), -1):
                level = (low[at] + high[at]) / 2
                if not math.isfinite(level):
                    continue
                row = grid.height - 1 - min(int(level * grid.height), grid.height - 1)
                if (row, at) not in taken:
                    taken.add((row, at))
                    chars, roles = grid.rows[row]
                    chars[grid.left + at], roles[grid.left + at] = stroke.sign, stroke.role
                    break


def _draw_edge_marks(grid: Grid, plot: Plot) -> None:
    """Arrows where curves leave the chart, and crosses at the upper edge where values are not finite."""
    bottom = grid.height - 1
    marks = [(x, 0 if above else bottom, "▲" if above else "▼", "mark") for x, above in plot.beyond]
    marks += [(x, 0, "×", "bad") for x in plot.crosses if plot.x[0] <= x <= plot.x[1]]
    for x, row, char, role in marks:
        chars, roles = grid.rows[row]
        at = grid.left + round(share_of(x, *plot.x) * (grid.width - 1))
        chars[at], roles[at] = char, role


def _dots(stroke: Stroke, plot: Plot, columns: int) -> tuple[Floats, Floats]:
    """Lowest and highest share of the y axis in each dot column, (columns,); NaN where the curve is not.

    Between two points the curve is a straight line.
    """
    low, high = np.full(columns, np.nan), np.full(columns, np.nan)
    places, levels = shares_of(stroke.x, *plot.x) * (columns - 1), shares_of(stroke.y, *plot.y)
    for part in contiguous_parts(np.isfinite(stroke.y) & np.isfinite(stroke.x)):
        place, y = places[part], levels[part]
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place, kind="stable")
            place, y = place[order], y[order]
        between = np.arange(math.ceil(place[0]), math.floor(place[-1]) + 1)
        level = np.interp(between, place, y)
        at = np.concatenate((between, np.rint(place).astype(np.intp)))
        level = np.concatenate((level, y))
        np.fmin.at(low, at, level)
        np.fmax.at(high, at, level)
    return low, high


def _axes(plot: Plot, width: int, height: int) -> Grid:
    """Axes, ticks, limits and marks, without any curve."""
    grid = Grid(
        [([" "] * width, ["dim"] * LABEL + ["faint"] * (width - LABEL)) for _ in range(height)],
        LABEL + 1,
        max(width - LABEL - 1, 0),
        max(height - 1 - bool(plot.x_ticks), 0),
    )
    if grid.width < 1 or grid.height < 1:
        return grid
    bottom = grid.height - 1  # rows are counted from the top, levels from the bottom
    limits = {
        bottom - _cell(value, plot.y, grid.height): role
        for value, role in plot.limits
        if plot.y[0] <= value <= plot.y[1]
    }
    marks = {_cell(at, plot.x, grid.width) for at in plot.marks if plot.x[0] < at < plot.x[1]}
    rows = grid.rows
    for chars, _ in rows[: grid.height]:
        chars[LABEL] = "│"
    for at, label in y_ticks(plot.y, max(min((height - 2) // 3, 9), 2), log=plot.log, unit=plot.unit):
        chars, _ = rows[bottom - _cell(at, plot.y, grid.height)]
        chars[: LABEL + 1] = [*pad(label, LABEL, right=True), "┤"]
    axis, _ = rows[grid.height]
    axis[LABEL:] = ["└", *["─"] * grid.width]
    if plot.x_ticks:
        chars, roles = rows[grid.height + 1]
        roles[:] = ["dim"] * width
        for at, label in plot.x_ticks:
            column = grid.left + _cell(at, plot.x, grid.width)
            if _put_label(chars, label, column):
                axis[column] = "┬"
    for row, role in limits.items():
        chars, roles = rows[row]
        chars[LABEL:] = ["├", *["─"] * grid.width]
        roles[grid.left :] = [role] * grid.width
    for column in marks:
        axis[grid.left + column] = "┴"
        for row, (chars, roles) in enumerate(rows[: grid.height]):
            chars[grid.left + column] = "┼" if row in limits else "│"
            if row not in limits:
                roles[grid.left + column] = "mark"
    return grid


def _put_label(chars: list[str], label: str, column: int) -> bool:
    """Write a label centred on a column, shifted to free cells; False if there is no room for it."""
    size = len(label)
    around = range(max(column - size + 1, 0), min(column + size, len(chars) - 1))
    free = [at for at in around if chars[at] == " "]
    first = (min(free, default=column - size + 1) + max(free, default=column + size) + 1 - size) // 2
    if first < 0 or first + size > len(chars):
        return False
    if any(char != " " for char in chars[max(first - 1, 0) : first + size + 1]):
        return False
    chars[first : first + size] = label
    return True


def _cell(value: float, ends: tuple[float, float], count: int) -> int:
    """The cell, of `count`, in which a value lies; rounded first: 0.9999… is 1."""
    return math.floor(round(0.5 + (count - 1) * share_of(value, *ends), 8))

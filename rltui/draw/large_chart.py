"""The large chart: axes, limits and marks, and curves on a braille canvas over them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.text import pad
from rltui.draw.axis_ticks import y_ticks
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import Line, Span, line
from rltui.draw.value_range import share_of

LABEL = 8  # cells of the y labels: constant, so that the plot does not move when numbers change
SIGNS_APART = 32  # cells between two signs on a curve


class Stroke(NamedTuple):
    """One curve: (n,) x and y in order; NaN in y breaks the line. `role` names its colour.

    `sign` is stamped on it here and there, so that curves over each other are told apart without colours.
    """

    x: Floats
    y: Floats
    role: str
    sign: str = ""
    dotted: bool = False


class Area(NamedTuple):
    """A spread behind the curves: (n,) x in order and the ends of y there; NaN breaks it."""

    x: Floats
    low: Floats
    high: Floats


class Plot(NamedTuple):
    """What to draw. `x` and `y` are the ranges of the axes; y values are transformed already when `log`."""

    x: tuple[float, float]
    y: tuple[float, float]
    strokes: Sequence[Stroke] = ()
    limits: Sequence[tuple[float, str]] = ()  # horizontal lines: value, role
    marks: Sequence[float] = ()  # vertical lines, such as restarts
    x_ticks: Sequence[tuple[float, str]] = ()
    log: bool = False
    area: Area | None = None
    unit: str = ""  # of y
    crosses: Sequence[float] = ()  # places at which NaN or infinite values were logged
    beyond: Sequence[tuple[float, bool]] = ()  # places at which curves leave the chart; whether upwards


@dataclass(slots=True)
class Grid:
    """A drawn chart as cells: `rows` of (characters, roles); the plot proper starts at cell `left`."""

    rows: list[tuple[list[str], list[str]]] = field(default_factory=list)
    left: int = 0
    width: int = 0  # of the plot proper, in cells
    height: int = 0  # of the plot proper, in rows
    shaded: frozenset[int] = frozenset()  # rows of the plot proper with a background of their own

    def shade(self, rows: frozenset[int]) -> None:
        """Rows of healthy values: a background, and beside the axis a mark where none is to be seen."""
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
    _draw_beyond(grid, plot)
    _draw_crosses(grid, plot)
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
    """Signs on the curves that have one, at the right end and at regular places.

    The regular places hold still while a curve grows, so that new points send few cells.
    """
    signed = [stroke for stroke in plot.strokes if stroke.sign]
    taken: set[tuple[int, int]] = set()
    for order, stroke in enumerate(reversed(signed)):  # the last one lies on top
        low, high = _dots(stroke, plot, grid.width)
        there = np.flatnonzero(np.isfinite(low))
        if not len(there):
            continue
        first = (2 * order + 1) * SIGNS_APART // (2 * len(signed))
        places = [int(there[-1]), *range(first, int(there[-1]) - 3, SIGNS_APART)]
        for number, column in enumerate(places):
            if number and not np.isfinite(low[column]):
                continue
            # Where curves end in one cell their signs stand beside each other.
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


def _draw_crosses(grid: Grid, plot: Plot) -> None:
    """Crosses at the upper edge where values were logged that cannot be drawn."""
    chars, roles = grid.rows[0]
    for place in plot.crosses:
        if plot.x[0] <= place <= plot.x[1]:
            at = grid.left + round(_share(place, plot.x) * (grid.width - 1))
            chars[at], roles[at] = "×", "bad"


def _draw_beyond(grid: Grid, plot: Plot) -> None:
    """Arrows at the upper and lower edge where curves leave the chart."""
    for place, above in plot.beyond:
        chars, roles = grid.rows[0 if above else grid.height - 1]
        at = grid.left + round(_share(place, plot.x) * (grid.width - 1))
        chars[at], roles[at] = "▲" if above else "▼", "mark"


def _dots(stroke: Stroke, plot: Plot, columns: int) -> tuple[Floats, Floats]:
    """Lowest and highest share of the y axis in each dot column, (columns,); NaN where the curve is not.

    Between two points the curve is a straight line.
    """
    low, high = np.full(columns, np.nan), np.full(columns, np.nan)
    for x, y in _pieces(stroke, plot):
        place = x * (columns - 1)
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
        bottom - _cell(_share(value, plot.y), grid.height): role
        for value, role in plot.limits
        if plot.y[0] <= value <= plot.y[1]
    }
    marks = {_cell(_share(at, plot.x), grid.width) for at in plot.marks if plot.x[0] < at < plot.x[1]}
    rows = grid.rows
    for chars, _ in rows[: grid.height]:
        chars[LABEL] = "│"
    for at, label in y_ticks(plot.y, max(min((height - 2) // 3, 9), 2), log=plot.log, unit=plot.unit):
        chars, _ = rows[bottom - _cell(_share(at, plot.y), grid.height)]
        chars[: LABEL + 1] = [*pad(label, LABEL, right=True), "┤"]
    axis, _ = rows[grid.height]
    axis[LABEL:] = ["└", *["─"] * grid.width]
    if plot.x_ticks:
        chars, roles = rows[grid.height + 1]
        roles[:] = ["dim"] * width
        for at, label in plot.x_ticks:
            column = grid.left + _cell(_share(at, plot.x), grid.width)
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
    """Write a label round a column, shifted to what is free there; False where there is no room for it."""
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


def _cell(share: float, count: int) -> int:
    """The cell, of so many, in which a share of an axis lies; rounded first: 0.9999… is 1."""
    return math.floor(round(0.5 + (count - 1) * share, 8))


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where a value lies between two ends, 0 to 1; beyond them at the nearer one."""
    return min(max(share_of(value, *ends), 0.0), 1.0)


def _pieces(stroke: Stroke, plot: Plot) -> list[tuple[Floats, Floats]]:
    """The unbroken pieces of a curve as shares of the axes, clipped to them."""
    finite = np.isfinite(stroke.y) & np.isfinite(stroke.x)
    (left, right), (bottom, top) = plot.x, plot.y
    with np.errstate(invalid="ignore", over="ignore"):
        x = np.clip((stroke.x / 2 - left / 2) / max(right / 2 - left / 2, 1e-300), 0, 1)
        y = np.clip((stroke.y / 2 - bottom / 2) / max(top / 2 - bottom / 2, 1e-300), 0, 1)
    pieces = []
    edges = np.flatnonzero(np.diff(np.concatenate(([False], finite, [False])).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        pieces.append((x[start:stop], y[start:stop]))
    return pieces

"""The large chart: axes, limits and marks by plotext, curves on a braille canvas.

plotext is imported when the first chart is drawn. It keeps one figure per process; nothing is left in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rltui.draw.braille import Canvas
from rltui.draw.cells import Line, Span, line
from rltui.draw.numbers import format_plain
from rltui.text import pad

LABEL = 9  # cells of the y labels: constant, so that the plot does not move when numbers change
SIGNS_APART = 32  # cells between two signs on a curve
_SGR = re.compile(r"\x1b\[([0-9;]*)m")


@dataclass(frozen=True, slots=True)
class Stroke:
    """One curve: (n,) x and y in order; NaN in y breaks the line. `role` names its colour.

    `sign` is stamped on it here and there, so that curves over each other are told apart without colours.
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    role: str
    sign: str = ""
    dotted: bool = False


@dataclass(frozen=True, slots=True)
class Area:
    """A spread behind the curves: (n,) x in order and the ends of y there; NaN breaks it."""

    x: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    role: str = "band"


@dataclass(frozen=True, slots=True)
class Plot:
    """What to draw. `x` and `y` are the ranges of the axes; y values are transformed already when `log`."""

    x: tuple[float, float]
    y: tuple[float, float]
    strokes: Sequence[Stroke] = ()
    limits: Sequence[tuple[float, str]] = ()  # horizontal lines: value, role
    marks: Sequence[float] = ()  # vertical lines, such as restarts
    x_ticks: Sequence[tuple[float, str]] = ()
    log: bool = False
    area: Area | None = None
    crosses: Sequence[float] = ()  # places at which NaN or infinite values were logged


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


def draw(plot: Plot, width: int, height: int, *, ascii_only: bool = False) -> Grid:
    """The chart in `width` by `height` cells, axes included; non-finite values are left out.

    plotext draws the axes, which seldom change; the curves are laid over them on a braille canvas.
    """
    if ascii_only:
        grid = _framed(plot, width, height, plot.strokes)
        table = str.maketrans("│┤├└┬─┼┴", "||||+-++")
        for chars, _ in grid.rows:
            chars[:] = [char.translate(table) for char in chars]
        if plot.area is not None:
            _dotted(grid, plot, plot.area)
        _cross(grid, plot)
        return grid
    bare = (
        plot.x,
        plot.y,
        tuple(plot.limits),
        tuple(plot.marks),
        tuple(plot.x_ticks),
        plot.log,
        width,
        height,
    )
    if bare not in _frames:
        if len(_frames) >= 8:
            _frames.pop(next(iter(_frames)))
        _frames[bare] = _framed(plot, width, height)
    known = _frames[bare]
    rows = [(list(chars), list(roles)) for chars, roles in known.rows]
    grid = Grid(rows, known.left, known.width, known.height)
    _overlay(grid, plot)
    _stamp(grid, plot)
    _cross(grid, plot)
    return grid


_frames: dict[tuple[object, ...], Grid] = {}  # charts without their curves, the last few


def _overlay(grid: Grid, plot: Plot) -> None:
    """The curves over the axes; where two meet, the later one gives the colour."""
    if grid.width < 1 or grid.height < 1 or not plot.strokes:
        return
    canvas = Canvas(grid.width, grid.height)
    for stroke in plot.strokes:
        low, high = _dots(stroke, plot, 2 * grid.width)
        if stroke.dotted:
            low[2::4] = low[3::4] = math.nan
        canvas.line(low, high, 0.0, 1.0)
    if plot.area is not None:
        canvas.veil(*_ends(plot.area, plot, 2 * grid.width), 0.0, 1.0)
    owners, veiled = canvas.owners(), canvas.veiled()
    for row, text in enumerate(canvas.lines()):
        chars, roles = grid.rows[row]
        if plot.area is not None:
            for column in np.flatnonzero(veiled[row]).tolist():
                if chars[grid.left + column] == " ":
                    chars[grid.left + column] = text[column]
                    roles[grid.left + column] = plot.area.role
        for column in np.flatnonzero(owners[row] >= 0).tolist():
            chars[grid.left + column] = text[column]
            roles[grid.left + column] = plot.strokes[int(owners[row, column])].role


def _stamp(grid: Grid, plot: Plot) -> None:
    """Signs on the curves that have one, at the right end and at regular places.

    The regular places hold still while a curve grows, so that new points send few cells.
    """
    if grid.width < 1 or grid.height < 1:
        return
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


def _cross(grid: Grid, plot: Plot) -> None:
    """Crosses at the upper edge where values were logged that cannot be drawn."""
    if grid.width < 1 or grid.height < 1:
        return
    chars, roles = grid.rows[0]
    for place in plot.crosses:
        if plot.x[0] <= place <= plot.x[1]:
            at = grid.left + round(_share(place, plot.x) * (grid.width - 1))
            chars[at], roles[at] = "×", "bad"


def _ends(area: Area, plot: Plot, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The ends of an area in each of so many columns, (columns,), as shares of the y axis."""
    low, _ = _dots(Stroke(area.x, area.low, area.role), plot, columns)
    _, high = _dots(Stroke(area.x, area.high, area.role), plot, columns)
    return low, high


def _dotted(grid: Grid, plot: Plot, area: Area) -> None:
    """An area of ASCII characters in what curves and axes left free."""
    low, high = _ends(area, plot, grid.width)
    for row, (chars, roles) in enumerate(grid.rows[: grid.height]):
        middle = 1 - (row + 0.5) / grid.height
        with np.errstate(invalid="ignore"):
            inside = np.flatnonzero((low <= middle) & (middle <= high))
        for column in inside.tolist():
            at = grid.left + column
            if chars[at] == " " and (column + row) % 2:
                chars[at], roles[at] = ".", area.role


def _dots(stroke: Stroke, plot: Plot, columns: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
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


def _framed(plot: Plot, width: int, height: int, strokes: Sequence[Stroke] = ()) -> Grid:
    """Axes, ticks, limits and marks, and curves of ASCII characters."""
    import plotext as plt

    roles = [
        "text",
        *dict.fromkeys([*(s.role for s in strokes), *(role for _, role in plot.limits), "mark"]),
    ]
    plt.clear_figure()
    try:
        plt.limit_size(False, False)
        plt.plotsize(width, height)
        plt.theme("clear")
        plt.xaxes(True, False)
        plt.yaxes(True, False)
        # plotext sees both axes as 0 to 1: differences of huge floats overflow, large steps lose their ends.
        plt.scatter([0, 1], [0, 1], marker=" ")  # without any data there are no axes
        for value, role in plot.limits:
            if plot.y[0] <= value <= plot.y[1]:
                plt.hline(_share(value, plot.y), color=roles.index(role))
        for at in plot.marks:
            if plot.x[0] < at < plot.x[1]:
                plt.vline(_share(at, plot.x), color=roles.index("mark"))
        for stroke in strokes:
            for x, y in _pieces(stroke, plot):
                plt.plot(x.tolist(), y.tolist(), marker=_marker(stroke), color=roles.index(stroke.role))
        plt.xlim(0, 1)
        plt.ylim(0, 1)
        ticks = y_ticks(plot.y, max(min((height - 2) // 3, 9), 2), log=plot.log)
        labels = [pad(label, LABEL - 1, right=True) for _, label in ticks]
        plt.yticks([_share(at, plot.y) for at, _ in ticks], labels)
        plt.xticks([_share(at, plot.x) for at, _ in plot.x_ticks], [label for _, label in plot.x_ticks])
        text = plt.build()
    finally:
        plt.clear_figure()
    return _parse(text, roles, width, height)


def _marker(stroke: Stroke) -> str:
    """What an ASCII curve is made of: its own sign where there are several."""
    return stroke.sign or (":" if stroke.role == "band" or stroke.dotted else "*")


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where a value lies between two ends, 0 to 1. Halves: a difference of huge floats would overflow."""
    span = ends[1] / 2 - ends[0] / 2
    return min(max((value / 2 - ends[0] / 2) / span, 0.0), 1.0) if span > 0 else 0.5


def _pieces(stroke: Stroke, plot: Plot) -> list[tuple[NDArray[np.float64], NDArray[np.float64]]]:
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


def y_ticks(y: tuple[float, float], count: int, *, log: bool = False) -> list[tuple[float, str]]:
    """Round values within the range and how they are written."""
    low, high = y
    if log:
        return _log_ticks(low, high, count)
    steps = round_steps(low, high, count)
    if len(steps) < 2:
        return [(at, format_plain(at, 3)) for at in (low, high)]
    size = max(abs(low), abs(high))
    decimals = max(-math.floor(math.log10(steps[1] - steps[0]) + 1e-9), 0)
    if size >= 1e5 or (size < 1 and decimals > 5):
        return [(at, format_plain(at, 4)) for at in steps]
    return [(at, f"{at:.{decimals}f}") for at in steps]


def _log_ticks(low: float, high: float, count: int) -> list[tuple[float, str]]:
    """Ticks between two decimal logarithms: powers of ten, where they are few 1, 2 and 5 times them.

    Within less than a decade even those are too few: there the axis is nearly linear, and so are its ticks.
    """
    powers = range(math.floor(low), math.floor(high + 1e-9) + 1)
    fine = [
        (math.log10(factor) + power, _times_power(factor, power)) for power in powers for factor in (1, 2, 5)
    ]
    fine = [tick for tick in fine if low - 1e-9 <= tick[0] <= high + 1e-9]
    if len(fine) > count + 2:
        whole = [power for power in powers if power >= low - 1e-9]
        step = max(math.ceil(len(whole) / count), 1)
        return [(float(power), _times_power(1, power)) for power in whole if power % step == 0]
    if len(fine) > 2 or not -300 < low <= high < 300:
        return fine
    linear = y_ticks((10.0**low, 10.0**high), count)
    return [(math.log10(at), label) for (at, label) in linear if at > 0]


def _times_power(factor: int, power: int) -> str:
    """A factor times a power of ten: `0.02`, `5000`; as an exponent where that is shorter to read."""
    return f"{factor * 10.0**power:.{max(-power, 0)}f}" if -4 <= power <= 4 else f"{factor}e{power:+03d}"


def round_steps(low: float, high: float, count: int) -> list[float]:
    """At most `count` + 1 values 1, 2 or 5 times a power of ten apart that cover the range from inside."""
    span = high - low
    if not math.isfinite(span) or span <= 0 or count < 1:
        return [low]
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(index * step, 12) if step > 1e-9 else index * step for index in range(first, last + 1)][
        : count + 2
    ]


def _parse(text: str, roles: list[str], width: int, height: int) -> Grid:
    """Plotext's coloured text as cells with roles."""
    grid = Grid()
    for raw in text.split("\n")[:height]:
        chars: list[str] = []
        cells: list[str] = []
        role = "faint"
        for index, part in enumerate(_SGR.split(raw)):
            if index % 2:
                code = part.split(";")
                at = int(code[2]) if len(code) == 3 and code[0] == "38" and code[2].isdigit() else 0
                role = roles[at] if 0 < at < len(roles) else "faint"
                continue
            chars += part
            cells += [role] * len(part)
        chars, cells = chars[:width], cells[:width]
        missing = width - len(chars)
        grid.rows.append((chars + [" "] * missing, cells + ["faint"] * missing))
    axis = next((i for i, (chars, _) in enumerate(grid.rows) if "└" in chars), len(grid.rows))
    grid.height = axis
    grid.left = grid.rows[axis][0].index("└") + 1 if axis < len(grid.rows) else 0
    grid.width = max(width - grid.left, 0)
    for chars, cells in grid.rows:  # the words beside the axes are read, the axes are not
        for at in range(min(grid.left - 1, len(chars))):
            cells[at] = "dim"
        if "└" not in chars and not any(char in "│┤├" for char in chars[: grid.left]):
            cells[:] = ["dim"] * len(cells)
    return grid

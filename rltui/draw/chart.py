"""The large chart: axes, curves, limits and marks, drawn by plotext from at most two points per dot column.

plotext is imported when the first chart is drawn. It keeps one figure per process; nothing is left in it.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from rltui.draw.line import Line, Span, line
from rltui.draw.number import format_plain
from rltui.text import pad

LABEL = 9  # cells of the y labels: constant, so that the plot does not move when numbers change
_SGR = re.compile(r"\x1b\[([0-9;]*)m")


@dataclass(frozen=True, slots=True)
class Stroke:
    """One curve: (n,) x and y in order; NaN in y breaks the line. `role` names its colour."""

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    role: str


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


@dataclass(slots=True)
class Grid:
    """A drawn chart as cells: `rows` of (characters, roles); the plot proper starts at cell `left`."""

    rows: list[tuple[list[str], list[str]]] = field(default_factory=list)
    left: int = 0
    width: int = 0  # of the plot proper, in cells
    height: int = 0  # of the plot proper, in rows

    def cursor(self, column: int) -> None:
        """A vertical line at a cell of the plot, behind the curves."""
        at = self.left + column
        for chars, roles in self.rows[: self.height]:
            if at < len(chars) and chars[at] in " ─":
                chars[at], roles[at] = "│", "strong"

    def lines(self) -> list[Line]:
        """The rows as lines of cells."""
        out = []
        for chars, roles in self.rows:
            spans: list[Span] = []
            for char, role in zip(chars, roles, strict=True):
                spans.append((char, spans[-1][1] if char == " " and spans else role))
            out.append(line(*spans))
        return out


def draw(plot: Plot, width: int, height: int, *, ascii_only: bool = False) -> Grid:
    """The chart in `width` by `height` cells, axes included; non-finite values are left out."""
    import plotext as plt

    roles = [
        "text",
        *dict.fromkeys([*(s.role for s in plot.strokes), *(role for _, role in plot.limits), "mark"]),
    ]
    plt.clear_figure()
    try:
        plt.limit_size(False, False)
        plt.plotsize(width, height)
        plt.theme("clear")
        plt.xaxes(True, False)
        plt.yaxes(True, False)
        # plotext sees both axes as 0 to 1: differences of huge floats overflow, large steps lose their ends.
        for value, role in plot.limits:
            if plot.y[0] <= value <= plot.y[1]:
                plt.hline(_share(value, plot.y), color=roles.index(role))
        for at in plot.marks:
            if plot.x[0] < at < plot.x[1]:
                plt.vline(_share(at, plot.x), color=roles.index("mark"))
        marker = "*" if ascii_only else "braille"
        for stroke in plot.strokes:
            for x, y in _pieces(stroke, plot):
                plt.plot(x, y, marker=marker, color=roles.index(stroke.role))
        plt.xlim(0, 1)
        plt.ylim(0, 1)
        ticks = y_ticks(plot.y, max(min((height - 2) // 3, 9), 2), log=plot.log)
        labels = [pad(label, LABEL - 1, right=True) for _, label in ticks]
        plt.yticks([_share(at, plot.y) for at, _ in ticks], labels)
        plt.xticks([_share(at, plot.x) for at, _ in plot.x_ticks], [label for _, label in plot.x_ticks])
        text = plt.build()
    finally:
        plt.clear_figure()
    grid = _parse(text, roles, width, height)
    if ascii_only:
        table = str.maketrans("│┤├└┬─┼┴", "||||+-++")
        for chars, _ in grid.rows:
            chars[:] = [char.translate(table) for char in chars]
    return grid


def _share(value: float, ends: tuple[float, float]) -> float:
    """Where a value lies between two ends, 0 to 1. Halves: a difference of huge floats would overflow."""
    span = ends[1] / 2 - ends[0] / 2
    return min(max((value / 2 - ends[0] / 2) / span, 0.0), 1.0) if span > 0 else 0.5


def _pieces(stroke: Stroke, plot: Plot) -> list[tuple[list[float], list[float]]]:
    """The unbroken pieces of a curve as shares of the axes, clipped: plotext drops what lies outside."""
    finite = np.isfinite(stroke.y) & np.isfinite(stroke.x)
    (left, right), (bottom, top) = plot.x, plot.y
    with np.errstate(invalid="ignore", over="ignore"):
        x = np.clip((stroke.x / 2 - left / 2) / max(right / 2 - left / 2, 1e-300), 0, 1)
        y = np.clip((stroke.y / 2 - bottom / 2) / max(top / 2 - bottom / 2, 1e-300), 0, 1)
    pieces = []
    edges = np.flatnonzero(np.diff(np.concatenate(([False], finite, [False])).astype(np.int8)))
    for start, stop in edges.reshape(-1, 2):
        pieces.append((x[start:stop].tolist(), y[start:stop].tolist()))
    return pieces


def y_ticks(y: tuple[float, float], count: int, *, log: bool = False) -> list[tuple[float, str]]:
    """Round values within the range and how they are written."""
    low, high = y
    if log:
        powers = range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)
        step = max(math.ceil(len(powers) / count), 1)
        ticks = [(float(power), f"1e{power:+03d}") for power in powers if power % step == 0]
        return ticks or [(low, format_plain(10**low, 3)), (high, format_plain(10**high, 3))]
    steps = round_steps(low, high, count)
    if len(steps) < 2:
        return [(at, format_plain(at, 3)) for at in (low, high)]
    size = max(abs(low), abs(high))
    decimals = max(-math.floor(math.log10(steps[1] - steps[0])), 0)
    if size >= 1e5 or (size < 1 and decimals > 5):
        return [(at, format_plain(at, 4)) for at in steps]
    return [(at, f"{at:.{decimals}f}") for at in steps]


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

"""Compared runs: the same metric in runs that the user selected, behind a run's curves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.common.named_tuple import NamedTuple
from rltui.draw.braille import PER_CELL, Canvas
from rltui.draw.cells import Span
from rltui.draw.value_range import share_of
from rltui.panes.charts.curve import Curve, Spread, curve
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

# Of curves in one chart, to distinguish them without colours; the first is that of the run shown. The last
# ones are also used for states and healths in the list of runs.
SIGNS = "●◆★✚▼○■▲"


class ComparedSeries(NamedTuple):
    """The series of the same metric in another run, with the sign and the role of that run."""

    sign: str
    role: str
    series: Series


def compared_series(view: RunView, row: Row, runs: Sequence[RunView]) -> tuple[ComparedSeries, ...]:
    """The runs that log the metric of a row; the sign of a run is the same for all metrics."""
    compared = []
    for at, run in enumerate(runs[: len(SIGNS) - 1], start=1):
        tag = view.tag_index.counterpart(row.tag, run.tag_index)
        if tag is not None and run.run.series[tag].count:
            compared.append(ComparedSeries(SIGNS[at], f"series{at}", run.run.series[tag]))
    return tuple(compared)


@dataclass(frozen=True, slots=True, eq=False)
class ComparedCurve:
    """A curve behind that of a row, in the same columns; `sign` is drawn at its end, unless it is empty."""

    sign: str
    role: str
    curve: Curve


def compared_curves(
    row: Row, compared: Sequence[ComparedSeries], window: StepWindow, columns: int
) -> list[ComparedCurve]:
    """The curves of compared runs; none for a metric that is not logged over the run's steps."""
    if row.own_axis:
        return []
    curves = []
    for run in compared:
        drawn = curve(replace(row, parts={"": run.series}), window, columns)
        if drawn is not None and drawn.has_values:
            curves.append(ComparedCurve(run.sign, run.role, drawn))
    return curves


def _sign_cells(
    compared: Sequence[ComparedCurve], rows: int, bottom: float, top: float
) -> dict[tuple[int, int], ComparedCurve]:
    """The cells of the signs, (row from the top, cell), at the ends of their curves."""
    taken: dict[tuple[int, int], ComparedCurve] = {}
    for other in compared:
        if not other.sign:
            continue
        level = other.curve.low / 2 + other.curve.high / 2
        last = int(np.flatnonzero(np.isfinite(level))[-1])
        for column in range(last, max(last - PER_CELL * len(compared), -1), -PER_CELL):
            share = share_of(float(level[column]), bottom, top)
            if math.isfinite(share):
                position = (rows - 1 - min(int(share * rows), rows - 1), column // PER_CELL)
                if position not in taken:
                    taken[position] = other
                    break
    return taken


def canvas_spans(
    canvas: Canvas,
    drawn: Curve,
    bottom: float,
    top: float,
    behind: Spread | None,
    compared: Sequence[ComparedCurve],
) -> list[list[Span]]:
    """Draw a curve over others on an empty canvas; its rows as spans, with marks for non-finite values."""
    for other in compared:
        canvas.line(other.curve.low, other.curve.high, bottom, top)
    canvas.line(drawn.low, drawn.high, bottom, top)
    if behind is not None:
        canvas.draw_band(behind.low, behind.high, bottom, top)
    lines = canvas.lines()
    roles = ["accent", "band", "bad", *(other.role for other in compared)]
    codes = np.zeros((len(lines), len(lines[0]) if lines else 0), np.int8)  # index of the role of each cell
    if behind is not None:
        codes[canvas.band_cells()] = 1
    if compared:
        owners = canvas.owners()
        others = (owners >= 0) & (owners < len(compared))
        codes[others] = owners[others] + 3
    for (row, cell), other in _sign_cells(compared, len(lines), bottom, top).items():
        lines[row] = f"{lines[row][:cell]}{other.sign}{lines[row][cell + 1 :]}"
        codes[row, cell] = roles.index(other.role)
    bad = sorted(set((np.flatnonzero(drawn.nonfinite) // PER_CELL).tolist()))
    if bad and lines:
        lines[0] = "".join("×" if cell in bad else char for cell, char in enumerate(lines[0]))
        codes[0, bad] = 2
    return _spans(lines, codes, roles)


def _spans(lines: Sequence[str], codes: NDArray[np.int8], roles: Sequence[str]) -> list[list[Span]]:
    """Lines of narrow characters as spans; codes: (lines, cells) index of each cell's role."""
    if not codes.any():
        return [[(text, roles[0])] for text in lines]
    borders: list[list[int]] = [[0] for _ in lines]
    for row, at in np.argwhere(codes[:, 1:] != codes[:, :-1]).tolist():
        borders[row].append(at + 1)
    return [
        [(text[at:end], roles[row[at]]) for at, end in pairwise((*starts, len(text)))]
        for text, starts, row in zip(lines, borders, codes.tolist(), strict=True)
    ]

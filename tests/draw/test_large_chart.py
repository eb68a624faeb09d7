"""Curves of the large chart: laid over its axes, true to the points."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.draw.large_chart import Grid, Plot, Stroke, draw

X = np.arange(100.0)
TICKS = ((0.0, "0"), (99.0, "99"))


def chart(y: np.ndarray, role: str = "accent", x: np.ndarray = X, **more: object) -> Grid:
    """A chart of 60x12 from 0 to 99 and -1 to 1."""
    return draw(Plot((0.0, 99.0), (-1.0, 1.0), [Stroke(x, y, role)], x_ticks=TICKS, **more), 60, 12)


def cells(grid: Grid, role: str = "accent") -> set[tuple[int, int]]:
    """(row, column of the plot) of all cells in a role."""
    return {
        (row, column - grid.left)
        for row, (_, roles) in enumerate(grid.rows[: grid.height])
        for column, one in enumerate(roles)
        if one == role
    }


def test_a_chart_remembers_its_axes_and_not_its_curves() -> None:
    """A second chart with the same axes shows only its own curve."""
    first = chart(np.full(100, 0.9))
    second = chart(np.full(100, -0.9))
    assert [row for row, (chars, _) in enumerate(first.rows) if "─" in "".join(chars)] == [
        row for row, (chars, _) in enumerate(second.rows) if "─" in "".join(chars)
    ]
    assert {row for row, _ in cells(first)} == {0}
    assert {row for row, _ in cells(second)} == {second.height - 1}


def test_a_spike_reaches_its_height() -> None:
    """One extreme among many points in the same dot column is drawn to its tip."""
    x = np.linspace(0, 99, 100_000)
    y = np.zeros(100_000)
    y[50_000] = 1.0
    tip = [column for row, column in cells(chart(y, x=x)) if row == 0]
    assert tip == [pytest.approx(chart(y, x=x).width / 2, abs=1)]


def test_between_points_the_curve_is_a_straight_line() -> None:
    """Two points far apart are joined; every column between them is drawn, in order of height."""
    grid = chart(np.array([-1.0, 1.0]), x=np.array([0.0, 99.0]))
    columns = {column for _, column in cells(grid)}
    assert columns == set(range(grid.width))
    rows = [min(row for row, at in cells(grid) if at == column) for column in sorted(columns)]
    assert rows == sorted(rows, reverse=True)


def test_nan_breaks_the_curve() -> None:
    """Where a value is not finite nothing is drawn, and no line leads over it."""
    y = np.zeros(100)
    y[40:60] = np.nan
    grid = chart(y)
    columns = {column for _, column in cells(grid)}
    assert not columns & set(range(int(grid.width * 0.42), int(grid.width * 0.58)))


def test_a_later_curve_owns_the_cells_that_both_touch() -> None:
    """The moving average is drawn over the raw values behind it."""
    strokes = [Stroke(X, np.zeros(100), "band"), Stroke(X, np.zeros(100), "accent")]
    grid = draw(Plot((0.0, 99.0), (-1.0, 1.0), strokes, x_ticks=TICKS), 60, 12)
    assert cells(grid) and not cells(grid, "band")


def test_values_outside_the_axis_are_drawn_at_its_edge() -> None:
    """A range that holds still may be left for a moment; the curve stays inside."""
    grid = chart(np.full(100, 1e300))
    assert {row for row, _ in cells(grid)} == {0}

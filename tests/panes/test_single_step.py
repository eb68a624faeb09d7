"""Logs that write everything at one step: their points in order of arrival, and a word that it is so."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from rltui.panes.charts.curve import arrivals, curve
from rltui.panes.rows.row import rows_of
from rltui.screen import shown_pane
from rltui.screen.start import build
from rltui.session.session import Session
from tests.support.runs.made_run import NOW, made_series
from tests.support.screen.screens import Screen, screen_of

VALUES = [9.7, 11.5, 10.9, 55.3, 13.4, 8.4, 30.0, 31.0]


def opened_with(folder: Path, step: int = 26, grows: int = 0) -> Screen:
    """The screen over a log whose step stands still, or grows."""
    rows = [f'{{"step": {step + at * grows}, "train_return": {value}}}\n' for at, value in enumerate(VALUES)]
    (folder / "metrics.jsonl").write_text("".join(rows))
    return screen_of(build(Session.load([folder]), [str(folder)], clock=lambda: NOW))


def test_points_at_one_step_are_a_curve(tmp_path: Path) -> None:
    """In rows and cards they stand side by side, the first at the left and the last at the right."""
    screen = opened_with(tmp_path)
    view = screen.view
    assert view is not None
    (row,) = rows_of(view, ["train_return"])
    drawn = curve(row, shown_pane.pane(screen.state).window, 80)
    assert drawn is not None and np.isfinite(drawn.mean).all()
    assert (drawn.mean[0], drawn.mean[-1], drawn.high.max()) == (9.7, 31.0, 55.3)


def test_the_screen_says_so(tmp_path: Path) -> None:
    """In the footer of every pane, and on the axis and under the cursor of the large chart."""
    screen = opened_with(tmp_path)
    assert "one step only: in order of arrival" in screen.text()
    screen.press("9")
    assert "one step only: in order of arrival" in screen.text()
    screen.press("enter")
    screen.text()
    screen.press("end")
    assert "axis: arrivals" in screen.text() and "point 8   31" in screen.text()


def test_steps_that_grow_are_an_axis(tmp_path: Path) -> None:
    """The word and the axis are for logs that need them."""
    screen = opened_with(tmp_path, grows=5)
    assert "order of arrival" not in screen.text()
    screen.press("9")
    screen.press("enter")
    assert "axis: step" in screen.text()


def test_columns_hold_every_point() -> None:
    """Counted once each, NaN apart, with the extremes of each column and any part of them."""
    values = np.arange(1.0, 101.0)
    values[9] = math.nan
    series = made_series("x", values)
    found = arrivals(series, 1.0, 100.0, 10)
    assert (int(found.count.sum()), int(found.nonfinite.sum())) == (99, 1)
    assert np.nanmin(found.low) == 1.0 and np.nanmax(found.high) == 100.0
    part = arrivals(series, 51.0, 60.0, 5)
    assert (float(np.nanmin(part.low)), float(np.nanmax(part.high)), int(part.count.sum())) == (
        51.0,
        60.0,
        10,
    )

"""Rows and cards of metrics that hold NaN: what is known stays readable, what is not known is not drawn."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.pane import pane_view
from rltui.panes.pane_tabs import PANES
from rltui.panes.render.card_curve import CardStyle
from rltui.panes.render.cards import card_lines
from rltui.panes.rows.row import rows_of
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.screens import opened


def broken(every: int = 5) -> MadeRun:
    """A distribution logged every few steps whose statistics are NaN from step 41 on."""
    run = MadeRun()
    steps = np.arange(1, 61, every)
    for key, level in (("mean", 0.45), ("min", 0.39), ("max", 0.52)):
        values = np.full(len(steps), level)
        values[steps > 40] = math.nan
        run.add(f"score/{key}", values, steps, title=f"Score {key}", pane="reward", group="score",
                statistic=key)  # fmt: skip
    run.add("loss", np.arange(60.0), pane="reward", title="Loss")
    return run


def test_no_line_leads_on_from_nan() -> None:
    """Between points that are NaN, and from the last finite one to them, nothing is drawn."""
    row = rows_of(broken(), ["score/mean"])[0]
    drawn = curve(row, StepWindow(0.0, 60.0), 61)
    assert drawn is not None
    assert np.isfinite(drawn.mean[1:37]).all()
    assert not np.isfinite(drawn.mean[38:]).any()
    assert drawn.nonfinite[41:].sum() == 4


def test_a_range_says_what_is_known() -> None:
    """Extremes that ended in NaN give way to the range that the curve has had."""
    made = pane_view(broken(), "reward", NOW)
    row = made.metrics[0]
    assert row.kind == "band" and row.spread_text == ""
    text = "\n".join(one.text for one in card_lines(
        row, 60, 7, made.window, CardStyle()))  # fmt: skip
    assert "NaN…NaN" not in text and "NaN" in text


def test_nan_is_counted_of_the_metric_that_has_it() -> None:
    """The footer counts the selected metric's own values; the pane's note counts keys, not points."""
    screen = opened(broken())
    screen.state.selection.pane = "reward"
    screen.state.selection.rows["reward"] = "loss"
    foot = screen.frame(140, 30).lines[-1].text
    assert "loss · NaN/Inf in 3 of 4 keys" in foot
    screen.state.selection.rows["reward"] = "score/mean"
    assert "score/mean · 4 NaN or infinite" in screen.frame(140, 30).lines[-1].text


def test_a_level_that_is_none_is_called_nan() -> None:
    """Evidence of a metric that became NaN says so, not a question mark."""
    from rltui.rules.finding import Evidence

    run = broken()
    run.found = [finding("score/mean", evidence=(Evidence("score/mean", 1.036, None, 41),))]
    screen = opened(run)
    screen.press("f")
    assert "1.036 → NaN" in screen.text(100, 30)


def test_one_fault_of_neighbours_is_told_once() -> None:
    """Below the first of them, with how many they are; another fault is told where it is."""
    run = MadeRun()
    for at in range(6):
        run.add(f"m{at}", np.arange(60.0), pane="reward", title=f"M{at}", importance=at)
    run.found = [
        *(finding(f"m{at}", id="nan", title="NaN", since_step=41) for at in (1, 2, 4)),
        finding("m3", id="high", title="high", since_step=41),
    ]
    screen = opened(run)
    screen.state.selection.pane = "reward"
    lines = [one.text.strip() for one in screen.frame(100, 30).lines]
    told = [at for at, one in enumerate(lines) if one.startswith("└ ")]
    words = [lines[at].rstrip("▲ ") for at in told]
    assert words == ["└ NaN · since step 41 · 3 metrics", "└ high · since step 41"]
    assert all(lines[at].endswith("▲") for at in told)  # below the step in the curve
    assert lines[told[0] - 1].startswith("▲ M1") and lines[told[1] - 1].startswith("▲ M3")
    assert sum(one.startswith("▲ M") for one in lines) >= 4


MISSING = {
    "first third": slice(0, 100),
    "first": slice(0, 1),
    "middle": slice(100, 200),
    "last third": slice(200, 300),
    "all but one": slice(0, 299),
    "all but the first": slice(1, 300),
    "all": slice(0, 300),
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("missing", MISSING)
def test_every_pane_can_be_drawn_wherever_values_are_not_finite(missing: str, value: float) -> None:
    """Critics that are trained later, rewards that break, metrics that are never numbers: each has a pane."""
    run, well = MadeRun(), believable()
    for tag, series in well.run.series.items():
        points = series.recent()
        broken = points.value.copy()
        broken[(points.step > MISSING[missing].start) & (points.step <= MISSING[missing].stop)] = value
        run.add(tag, broken, points.step)
    screen = opened(run)
    for pane in PANES:
        screen.go(pane)
        for size in ((140, 45), (40, 12)):
            assert screen.text(*size)

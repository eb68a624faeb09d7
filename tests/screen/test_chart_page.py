"""Reading a large chart: which curve is which, what stands under the cursor, ticks, faults, restarts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from rltui.draw.axis_ticks import y_ticks
from rltui.draw.large_chart import Plot, Stroke, draw
from rltui.screen.saved_layout import save_layout
from rltui.screen.start import build
from rltui.screen.state import ChartOverlay
from rltui.session.session import Session
from tests.support.runs.made_run import NOW, MadeRun, finding
from tests.support.screen.screens import Screen, opened, screen_of

BUNDLED = Path(__file__).parents[1] / "logs"
X = np.arange(100.0)


def run(name: str = "a", **values: Any) -> MadeRun:
    """A run with metrics of the reward pane."""
    made = MadeRun(name=name)
    for tag, curve in values.items():
        made.add(tag, curve, title=tag.capitalize(), pane="reward")
    return made


def opened_with(*runs: MadeRun, marked: str = "", **options: Any) -> Screen:
    """The first metric of the first run in its chart, other runs marked."""
    screen = opened(*runs, **options)
    screen.choose_run(runs[0].name)
    screen.state.selection.marked_runs = marked.split()
    screen.state.selection.pane = "reward"
    screen.press("enter")
    screen.frame(100, 30)
    return screen


def lines(screen: Screen, width: int = 100, height: int = 30) -> list[str]:
    """The screen as text."""
    return [line.text.rstrip() for line in screen.frame(width, height).lines]


def cells(screen: Screen, role: str) -> list[str]:
    """Runs of cells in a role, within the plot."""
    return [text for line in screen.frame(100, 30).lines[2:-2] for text, one in line.spans if one == role]


def with_outlier(value: float = 500.0) -> MadeRun:
    """A curve between 1 and 2, and one point far from it."""
    curve = 1.5 + 0.5 * np.sin(np.arange(200) / 9)
    curve[120] = value
    return run(loss=curve)


@pytest.mark.parametrize(("value", "mark", "edge"), [(500.0, "▲", 2), (-500.0, "▼", -5)])
def test_an_outlier_is_cut_off_and_marked(value: float, mark: str, edge: int) -> None:
    """It does not flatten the rest; an arrow marks it, the legend says how far it goes and what shows it."""
    found = lines(opened_with(with_outlier(value)))
    assert f"{mark} outliers to {value:.0f}: X shows all" in found[1]
    assert mark in found[edge] and sum(mark in line for line in found[2:-3]) == 1
    drawn = [line for line in found[2:-4] if any("⠀" < char <= "⣿" for char in line)]
    assert len(drawn) > 15


@pytest.mark.parametrize("key", ["Z", "0", "pageup", " ", "ctrl+d", "w"])
def test_a_key_that_needs_a_zoomed_chart_says_so(key: str) -> None:
    """Nothing happens over the whole run, and the panes below keep their steps."""
    screen = opened_with(with_outlier())
    before = lines(screen)
    screen.press(key)
    assert lines(screen) != before and screen.message.endswith("; z zooms in")
    assert screen.state.time.window == 0


def test_the_whole_run_again_fits_the_values_anew() -> None:
    """A range of values that was wider for a while goes back to what the curve needs, zoomed or not."""
    screen = opened_with(with_outlier())
    before = lines(screen)
    chart = screen.state.overlays[-1]
    assert isinstance(chart, ChartOverlay) and chart.y_range is not None
    chart.y_range = (chart.y_range[0], chart.y_range[1] * 1.3)
    assert lines(screen)[2:-3] != before[2:-3]
    screen.press("0")
    assert lines(screen)[2:-3] == before[2:-3]


@pytest.mark.parametrize(("points", "told"), [(250, "0.95"), (120, "0.90: 0.95 would lag behind 120 points")])
def test_smoothing_tells_a_lag_only_where_it_is_seen(points: int, told: str) -> None:
    """A weight that is lowered by less than the digits shown is not said to lag behind itself."""
    screen = opened_with(run(loss=np.sin(np.arange(points) / 9)))
    while not screen.message.startswith("moving average 0.95") and "lag" not in screen.message:
        before = screen.message
        screen.press("+")
        screen.frame(100, 30)
        if screen.message == before:
            break
    assert screen.message == f"moving average {told}"


def test_the_next_run_shows_the_same_metric() -> None:
    """A chart goes along with the run below it, and closes if that does not log the metric."""
    screen = opened_with(run("a", loss=[1.0, 2.0]), run("b", loss=[3.0, 4.0]))
    screen.press(">")
    top = screen.overlays[-1]
    assert isinstance(top, ChartOverlay) and top.row.last == 4.0 and screen.message == "b"
    screen = opened_with(run("a", loss=[1.0, 2.0]), run("c", other=[5.0, 6.0]))
    screen.press(">")
    assert not screen.overlays and screen.message == "c does not log Loss"


def test_a_key_shows_outliers_in_all_charts_and_is_remembered(tmp_path: Path) -> None:
    """With it the axis reaches to the outlier, on cards, too; the layout keeps the choice."""
    screen = opened_with(with_outlier())
    screen.press("X")
    assert "charts show all outliers" in screen.message
    found = lines(screen)
    assert "outliers to" not in found[1] and any("500┤" in line for line in found)
    screen.press("escape")
    assert any("00┤" in line for line in lines(screen, 140, 45))
    save_layout(tmp_path / "layout.json", screen.state.saved)
    again = screen_of(build(Session(), [], layout_path=tmp_path / "layout.json"))
    assert again.state.ranges.outliers


def test_what_a_finding_speaks_of_is_not_cut_off() -> None:
    """An outlier that a rule reports is seen whole."""
    sick = with_outlier()
    sick.found = [finding("loss", since_step=120)]
    found = lines(opened_with(sick))
    assert "outliers to" not in found[1] and any("500┤" in line for line in found)


def _rows_with(screen: Screen, role: str) -> int:
    """How many lines have a part in that role."""
    return sum(any(role == each for _, each in line.spans) for line in screen.frame(100, 30).lines)


def test_a_metric_beside_a_constant_one_is_drawn() -> None:
    """A second metric on a scale of its own uses the height of the chart, whatever the first one does."""
    screen = opened_with(run(rate=np.full(100, 5e-4), kl=np.linspace(0, 0.9, 100)))
    screen.state.selection.added_tags = ["kl"]
    assert _rows_with(screen, "series1") > 15
    screen.press("L")
    assert _rows_with(screen, "series1") > 5


def test_curves_over_each_other_carry_their_signs() -> None:
    """The sign of the legend stands on its curve, at the right end too, so that colour is not needed."""
    strokes = [Stroke(X, np.full(100, 0.5), "series1", "◆"), Stroke(X, np.full(100, -0.5), "series0", "●")]
    grid = draw(Plot((0, 99), (-1, 1), strokes), 80, 20)
    rows = ["".join(chars) for chars, _ in grid.rows]
    for sign in "◆●":
        (row,) = [row for row in rows if sign in row]
        assert row.count(sign) >= 2 and row.rstrip().endswith(sign)


def test_signs_of_curves_that_end_together_stand_beside_each_other() -> None:
    """Two equal curves show both signs at their end."""
    strokes = [Stroke(X, np.zeros(100), "series1", "◆"), Stroke(X, np.zeros(100), "series0", "●")]
    grid = draw(Plot((0, 99), (-1, 1), strokes), 80, 20)
    assert any("".join(chars).rstrip().endswith("◆●") for chars, _ in grid.rows)


def test_a_single_curve_needs_no_sign() -> None:
    """Where there is nothing to tell apart, nothing is stamped on the curve."""
    screen = opened_with(run(score=np.linspace(0, 1, 100)))
    assert not any(sign in line for line in lines(screen)[2:-2] for sign in "●◆")


def test_signs_hold_still_while_a_curve_grows() -> None:
    """New points move the sign at the end only: the others cost no bytes."""

    def places(points: int) -> set[int]:
        grid = draw(Plot((0, 99), (-1, 1), [Stroke(X[:points], np.zeros(points), "a", "◆")]), 120, 10)
        return {at for chars, _ in grid.rows for at, char in enumerate(chars) if char == "◆"}

    before, after = places(80), places(81)
    assert len(before) > 2 and len(before - after) <= 1 and max(after) > max(before)


@pytest.mark.parametrize(
    ("low", "high", "labels"),
    [
        (0.15, 4.5, ["0.2", "0.5", "1", "2"]),
        (1.02, 1.47, ["1.1", "1.2", "1.3", "1.4"]),
        (1e-8, 1e3, ["1e-06", "0.001", "1"]),
        (2e5, 3e7, ["5e+05", "1e+06", "1e+07"]),
    ],
)
def test_a_logarithmic_axis_is_readable(low: float, high: float, labels: list[str]) -> None:
    """At least three ticks, in order, however few decades there are; written like values, not as 1e+00."""
    ticks = y_ticks((math.log10(low), math.log10(high)), 5, log=True)
    assert 3 <= len(ticks) <= 8
    assert [at for at, _ in ticks] == sorted(at for at, _ in ticks)
    assert all(math.log10(low) - 1e-6 <= at <= math.log10(high) + 1e-6 for at, _ in ticks)
    assert all(float(label) == pytest.approx(10**at, rel=1e-3) for at, label in ticks)
    assert set(labels) <= {label for _, label in ticks}


def test_the_extremes_of_floats_have_logarithmic_ticks() -> None:
    """Beyond the largest and the smallest float there is no tick, and no error."""
    assert y_ticks((300.0, 310.0), 5, log=True)
    assert y_ticks((-330.0, -320.0), 5, log=True)


def test_faults_are_crossed_and_the_cursor_reads_them() -> None:
    """NaN steps stand as × at the upper edge; the cursor goes to them and says NaN."""
    values = np.linspace(0, 1, 60)
    values[40:] = math.nan
    screen = opened_with(run(score=values))
    assert "×" in "".join(cells(screen, "bad"))
    screen.press("end")
    assert lines(screen)[-2].startswith(" step 60   NaN")
    screen.press("home")
    assert lines(screen)[-2].startswith(" step 1   0")


def test_the_cursor_names_every_run_with_its_value() -> None:
    """The legend carries the value of each curve at the cursor; names give way where room is short."""
    screen = opened_with(
        run("first-of-long-name", score=np.full(100, 0.25)),
        run("second-of-long-name", score=np.full(60, 0.75)),
        marked="second-of-long-name",
    )
    screen.press("end")
    assert "● first-of-long-name 0.250   ◆ second-of-long-name 0.750" in lines(screen)[1]
    assert "◆ step 60" in lines(screen)[-2]
    narrow = lines(screen, 44)[1]
    assert "0.250" in narrow and "0.750" in narrow


def test_a_marked_run_without_the_metric_is_told() -> None:
    """It does not vanish silently from the legend."""
    screen = opened_with(run("a", score=X), run("b", other=X), marked="b")
    assert "b does not write this" in lines(screen)[1]


def test_the_legend_draws_what_is_drawn() -> None:
    """A finding without a limit is a vertical line in the chart, so it is one in the legend."""
    made = run(score=X)
    made.found = [finding("score", "critical", id="nan", title="NaN", since_step=41, value=None, limit=None)]
    assert "│ NaN since 41" in lines(opened_with(made))[1]


def test_one_number_for_the_smoothing() -> None:
    """What the keys say is what the legend says: the weight in use, and why it is no higher."""
    screen = opened_with(run(score=X))
    for key in "++-":
        screen.press(key)
        words = lines(screen)[1]
        used = words.partition("moving average ")[2][:4]
        assert used and f"moving average {used}" in screen.message
    assert "would lag behind 100 points" in screen.message


def test_superseded_points_get_their_range_and_their_words() -> None:
    """With `O` the axis reaches as far as the first attempt did, and the legend says how far that was."""
    screen = screen_of(build(Session.load([BUNDLED / "torch-purged"]), [], clock=lambda: NOW))
    screen.go("all")
    screen.press("enter")
    page: Any = screen.overlays[-1]
    screen.frame(100, 24)
    main = page.row.main
    before = page.drawn.x
    assert len(main.superseded_points().step)
    screen.press("O")
    legend = lines(screen, 100, 24)[1]
    last = int(main.superseded_points().step.max())
    assert f"attempt 1, to {last}" in legend and "┈" in legend
    assert page.drawn.x[1] == max(before[1], last)
    assert f"to step {last}" in screen.message


def test_keys_for_another_metric_say_where_there_is_none() -> None:
    """At the last and at the first metric of the pane the keys do nothing, which is said."""
    screen = opened_with(run(a=X, b=X))
    screen.press("up")
    assert screen.message == "the first metric here; / finds others"
    screen.press("down")
    assert screen.message == "" and screen.overlays[0].row.tag == "b"
    screen.press("tab")
    assert screen.message == "the last metric here; / finds others"

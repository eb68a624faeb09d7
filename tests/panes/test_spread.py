"""Bands behind curves: the spread of a distribution, and the curve of its mean as readable as without it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from rltui.draw.braille import Canvas
from rltui.draw.large_chart import Area, Plot, Stroke, draw
from rltui.draw.symbols import to_ascii
from rltui.draw.value_range import range_with_spread
from rltui.panes.charts.curve import Spread, spread, spread_kind
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.render.card_curve import CardStyle
from rltui.panes.render.cards import card_lines
from rltui.panes.rows.row import Row, rows_of
from rltui.screen.pages.chart.chart_page import _level_range
from rltui.screen.state import ChartOverlay
from rltui.store.series import Series
from tests.support.runs.made_run import MadeRun, believable, made_series
from tests.support.screen.screens import opened

STEPS = np.arange(200)
MEAN = 0.5 + 0.4 * np.sin(STEPS / 30)


def series(tag: str, values: Any) -> Series:
    """A value at each step."""
    return made_series(tag, values, STEPS)


def row(**parts: Any) -> Row:
    """A row of statistics; `mean` first."""
    made = {key: series(f"reward/{key}", values) for key, values in parts.items()}
    return Row("band", "Reward", "reward/mean", None, parts=made)


def test_each_kind_of_spread_has_its_name_and_ends() -> None:
    """Extremes where they were logged, else a deviation to both sides, else the one end that is known."""

    def found(**parts: Any) -> Spread | None:
        one = row(mean=MEAN, **parts)
        return spread(one, MEAN, lambda other: other.columns(0, 200, 200))

    extremes = found(min=MEAN - 0.2, max=MEAN + 0.3, std=MEAN * 0 + 9)
    assert extremes is not None and extremes.words == "min–max"
    np.testing.assert_allclose((extremes.low, extremes.high), (MEAN - 0.2, MEAN + 0.3), atol=0.03)
    deviation = found(std=MEAN * 0 + 0.1)
    assert deviation is not None and deviation.words == "±std"
    np.testing.assert_allclose((deviation.low, deviation.high), (MEAN - 0.1, MEAN + 0.1), atol=0.03)
    above = found(max=MEAN + 0.3)
    assert above is not None and above.words == "mean–max"
    np.testing.assert_allclose((above.low, above.high), (MEAN, MEAN + 0.3), atol=0.03)
    assert found() is None


def test_a_gap_in_the_statistics_stays_a_gap() -> None:
    """Where extremes were not logged for long there is no band, and NaN does not spread."""
    low = MEAN - 0.2
    low[50:100] = math.nan
    one = row(mean=MEAN, min=low, max=MEAN + 0.2)
    found = spread(one, MEAN, lambda other: other.columns(0, 200, 200))
    assert found is not None
    assert np.isnan(found.low[55:95]).all() and np.isfinite(found.low[110:]).all()


@pytest.mark.parametrize("share", [0.25, 0.5, 0.9])
def test_a_curve_keeps_its_share_of_the_height(share: float) -> None:
    """A band far wider than the curve is cut off, at the side where it is wider by more."""
    low, high = range_with_spread((1.0, 2.0), (-9.0, 102.0), share)
    assert (2.0 - 1.0) / (high - low) == pytest.approx(share)
    assert (high - 2.0) / (1.0 - low) == pytest.approx(10.0)


def test_a_band_that_fits_is_shown_whole() -> None:
    """No room is left empty for a band that needs none; a flat curve gets the range of its band."""
    assert range_with_spread((1.0, 2.0), (0.5, 2.5), 0.4) == (0.5, 2.5)
    assert range_with_spread((1.0, 2.0), (1.2, 1.8), 0.4) == (1.0, 2.0)
    assert range_with_spread((1.0, 1.0), (0.0, 9.0), 0.4) == (0.0, 9.0)
    assert range_with_spread((1.0, 2.0), (-8.0, 9.0), 0.0) == (-8.0, 9.0)


def test_a_veil_gives_way_to_lines_and_is_no_line() -> None:
    """In a cell that a line touches only the line is seen; elsewhere at most two dots of eight are."""
    bare, veiled = Canvas(20, 5), Canvas(20, 5)
    low, high = np.full(40, 0.4), np.full(40, 0.5)
    bare.line(low, high, 0.0, 1.0)
    veiled.line(low, high, 0.0, 1.0)
    veiled.draw_band(np.full(40, 0.1), np.full(40, 0.9), 0.0, 1.0)
    seen = veiled.band_cells()
    assert seen.any() and not seen[veiled.owners() >= 0].any()
    for before, after, behind in zip(bare.lines(), veiled.lines(), seen, strict=True):
        for old, new, only in zip(before, after, behind, strict=True):
            assert new == old if not only else (ord(new) - 0x2800).bit_count() <= 2


def test_a_veil_beyond_the_range_is_out_of_sight() -> None:
    """A band that lies wholly above or below what is drawn leaves no dots at the edge."""
    canvas = Canvas(4, 2)
    canvas.draw_band(np.full(8, 2.0), np.full(8, 3.0), 0.0, 1.0)
    assert not canvas.band_cells().any()


def test_a_chart_draws_its_area_behind_the_curve() -> None:
    """The curve and the axes are the same cells as without it; the area fills free ones between its ends."""
    x = np.arange(100.0)
    curve = Stroke(x, np.sin(x / 10), "series0")
    area = Area(x, np.full(100, -0.5), np.full(100, 0.5))
    plain = draw(Plot((0, 99), (-2, 2), [curve]), 60, 16)
    behind = draw(Plot((0, 99), (-2, 2), [curve], area=area), 60, 16)
    filled = 0
    for at, ((chars, roles), (others, _)) in enumerate(zip(behind.rows, plain.rows, strict=True)):
        for char, role, other in zip(chars, roles, others, strict=True):
            assert char == other or (role == "band" and other == " ")
            filled += role == "band"
            if role == "band":
                value = 2 - 4 * (at + 0.5) / plain.height
                assert abs(value) <= 0.5 + 4 / plain.height
    assert filled > 60


WINDOW = StepWindow(0.0, 199.0)


def card(one: Row, height: int = 8) -> list[Any]:
    """A card of 50 cells."""
    return card_lines(one, 50, height, WINDOW, CardStyle())


def test_a_card_shows_the_band_where_there_is_room() -> None:
    """Three rows of curve are enough; cards that are lower stay as they are."""
    one = row(mean=MEAN, min=MEAN - 0.2, max=MEAN + 0.2)
    assert any(role == "band" for line in card(one) for _, role in line.spans)
    assert not any(role == "band" for line in card(one, 3) for _, role in line.spans)


def test_a_card_that_would_lie_wholly_in_its_band_shows_none() -> None:
    """A spread whose ends are out of sight says nothing, and leaves the curve its own range."""
    wide, single = row(mean=MEAN, min=MEAN - 50, max=MEAN + 50), row(mean=MEAN)
    assert [line.text for line in card(wide)][2:] == [line.text for line in card(single)][2:]


def opened_with() -> Any:
    """A run with a distribution, its chart open."""
    run = MadeRun()
    for key, values in (("mean", MEAN), ("min", MEAN * 0), ("max", MEAN * 0 + 9)):
        tag = f"critic/rewards/{key}"
        run.add(tag, values, STEPS, title=f"Reward {key}", group="reward", statistic=key)
    made = opened(run)
    made.state.selection.pane = "reward"
    made.press("enter")
    return made


def test_the_large_chart_names_its_band_and_turns_it() -> None:
    """The legend says what the band is and when some is cut off; a key shows it whole, another time none."""
    screen = opened_with()
    page = screen.overlays[-1]
    assert isinstance(page, ChartOverlay)
    legend = screen.frame(100, 30).lines[1].text
    assert "min–max, cut off: b shows all" in legend
    screen.press("b")
    screen.set_clock(lambda: 9e9)
    whole = screen.frame(100, 30).lines
    assert "min–max" in whole[1].text and "cut off" not in whole[1].text
    assert any(label in whole[4].text + whole[3].text + whole[2].text for label in ("10┤", "8┤"))
    screen.press("b")
    assert "min–max" not in screen.frame(100, 30).lines[1].text


def test_the_cursor_reads_the_ends_of_the_band() -> None:
    """Under the cursor stand the exact ends."""
    screen = opened_with()
    screen.press("left")
    assert "min–max 0…9" in screen.frame(120, 30).lines[-2].text


def test_a_logarithmic_axis_takes_a_band_down_to_zero() -> None:
    """Ends at or below zero lie below the axis; they neither break the band nor stretch the axis."""
    screen = opened_with()
    screen.press("L")
    lines = screen.frame(100, 30).lines
    assert any(role == "band" for line in lines[2:-3] for _, role in line.spans)
    assert not any("e-" in line.text[:10] for line in lines)


def test_words_for_kinds_of_spread() -> None:
    """Every combination of statistics has a word, a single metric none."""
    assert spread_kind(row(mean=MEAN)) == ""
    assert spread_kind(row(mean=MEAN, min=MEAN, std=MEAN)) == "±std"
    assert spread_kind(row(mean=MEAN, min=MEAN)) == "min–mean"


@pytest.mark.parametrize(
    ("value", "axis"), [(0.0, (0.0, 0.06)), (0.02, (0.0, 0.06)), (0.9, (0.0, 0.99)), (-0.1, (-0.1, 0.06))]
)
def test_values_that_are_all_the_same_are_seen_beside_what_is_healthy(
    value: float, axis: tuple[float, float]
) -> None:
    """A share that is always zero is drawn on an axis that a share can have, with its healthy band."""
    run = MadeRun()
    run.add("x", [value] * 40, healthy_range=(0.0, 0.05), bounds=(0.0, 1.0), unit="fraction")
    (row,) = rows_of(run, ["x"])
    assert _level_range(ChartOverlay(row), value) == pytest.approx(axis)


def test_curve_and_band_are_told_apart_in_ascii() -> None:
    """Heights in a cell, steep places and their direction have signs of their own; a band is dots."""
    canvas = Canvas(8, 1)
    height = np.array([0, 0, 0.4, 0.4, 1, 1, 0, 1, 1, 0, 0, 1, math.nan, math.nan, math.nan, math.nan])
    canvas.line(height, height, 0.0, 1.0)
    canvas.draw_band(np.full(16, 0.0), np.full(16, 1.0), 0.0, 1.0)
    (drawn,) = map(to_ascii, canvas.lines())
    assert drawn == "_-'/\\/.."


def test_a_card_of_nothing_finite_has_no_axis() -> None:
    """Where only NaN was logged there is no value to put beside the curve, only the marks."""
    one = row(mean=MEAN * math.nan)
    lines = card_lines(one, 50, 8, WINDOW, CardStyle())
    assert "×" in lines[2].text and not any(char.isdigit() for line in lines[2:-1] for char in line.text)


def test_the_chart_of_a_live_run_holds_still() -> None:
    """A new step changes the columns at its end, not the others: axis, ticks and cells stay."""
    run = MadeRun()
    for key, shift in (("mean", 0.0), ("min", -0.3), ("max", 0.4)):
        tag = f"critic/rewards/{key}"
        run.add(tag, MEAN + shift, STEPS, title=f"Reward {key}", group="reward", statistic=key)
    screen = opened(run)
    screen.state.selection.pane = "reward"
    screen.press("enter")
    before = [one.text for one in screen.frame(100, 30).lines[2:-3]]
    for key, shift in (("mean", 0.0), ("min", -0.3), ("max", 0.4)):
        run.add(f"critic/rewards/{key}", np.append(MEAN, MEAN[-2:]) + shift, np.arange(202))
    after = [one.text for one in screen.frame(100, 30).lines[2:-3]]
    changed = sum(
        a != b for old, new in zip(before, after, strict=True) for a, b in zip(old, new, strict=True)
    )
    assert 0 < changed < 60


def test_the_chart_of_a_run_that_is_over_fills_its_width() -> None:
    """Nothing more will come: the last step stands at the right edge."""
    run = believable(200)
    run.end()
    screen = opened(run)
    screen.state.selection.pane = "policy"
    screen.press("enter")
    screen.frame(100, 30)
    page: Any = screen.overlays[-1]
    assert page.drawn.x[1] == run.run.last_step


def test_a_band_of_large_negative_values_is_shown_whole() -> None:
    """Returns of minus thousands are no zeros of a logarithmic axis: the whole band fits on its axis."""
    run = MadeRun()
    for key, values in (("mean", MEAN * 100 - 900), ("min", MEAN * 0 - 1800), ("max", MEAN * 0 - 2)):
        tag = f"critic/rewards/{key}"
        run.add(tag, values, STEPS, title=f"Reward {key}", group="reward", statistic=key)
    screen = opened(run)
    screen.state.selection.pane = "reward"
    for key in ("enter", "b"):
        screen.press(key)
        screen.frame(100, 30)
    page: Any = screen.overlays[-1]
    assert page.y_range[0] <= -1800 and page.y_range[1] >= -2
    assert "cut off" not in screen.frame(100, 30).lines[1].text


def test_a_band_goes_only_when_it_is_clearly_of_no_use() -> None:
    """At the border between being seen and not it stays what it was: a live card does not flicker."""
    ends = np.full(100, 9.0)
    ends[:20] = 0.5
    found = Spread("min–max", -ends, ends)
    assert found.seen(-1, 1, held=True) and not found.seen(-1, 1)
    ends[:30] = 0.5
    assert found.seen(-1, 1)

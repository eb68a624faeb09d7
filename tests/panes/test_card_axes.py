"""Cards between axes: round ticks, first and last step, marks of onset and restarts, log scale, outliers."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from rltui.draw.axis_ticks import few_ticks, y_ticks
from rltui.draw.numbers import format_ticks
from rltui.draw.value_range import robust_range
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import Ranges
from rltui.panes.render.card_curve import CardStyle
from rltui.panes.render.cards import card_lines
from rltui.panes.rows.row import Row, is_constant, rows_of
from rltui.rules.finding import Evidence
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.overviews import overview_of
from tests.support.screen.screens import opened

STEPS = 300
WINDOW = StepWindow(1.0, float(STEPS))
NOISE = 1 + 0.1 * np.random.default_rng(3).normal(size=STEPS)


def row_of(values: Any, *, unit: str = "", found: bool = False, **name: Any) -> Row:
    """The row of a run with one metric."""
    run = MadeRun()
    run.add("a/b", values, unit=unit, **name)
    run.found = [finding("a/b", id="x", title="x", since_step=193)] if found else []
    return rows_of(run, ["a/b"])[0]


def card(
    row: Row, *, width: int = 60, height: int = 10, window: StepWindow = WINDOW, **style: Any
) -> list[str]:
    """A card as text."""
    return [one.text for one in card_lines(row, width, height, window, CardStyle(**style))]


def ticks(lines: list[str]) -> list[str]:
    """The labels of the value axis, from the top."""
    return [line[:7].strip() for line in lines if line[7:8] == "┤"]


# ---- round values


@pytest.mark.parametrize(
    ("low", "high", "unit", "texts"),
    [
        (-0.44, 1.23, "", ["0", "0.5", "1.0"]),
        (-3e-23, 0.0031, "", ["0", "0.001", "0.002", "0.003"]),
        (44.1, 967.0, "", ["250", "500", "750"]),
        (0.0, 1.0, "fraction", ["0", "0.5", "1.0"]),
        (2.1e-5, 2.8e-4, "rate", ["1e-4", "2e-4"]),
        (0.0, 41.8, "percent", ["0", "20%", "40%"]),
        (10.0, 300.0, "ms", ["100ms", "200ms", "300ms"]),
        (40.0, 400.0, "s", ["2m", "4m", "6m"]),
        (3.0, 1.2e5, "tokens", ["40k", "80k", "120k"]),
    ],
)
def test_ticks_are_few_and_round(low: float, high: float, unit: str, texts: list[str]) -> None:
    """About three round values with their unit; what is negligible is 0."""
    assert [text for _, text in few_ticks(low, high, unit)] == texts


@pytest.mark.parametrize("exponent", range(-9, 12))
@pytest.mark.parametrize("span", [1.0, 1.3, 2.2, 3.7, 5.0, 7.9, 9.9])
def test_any_range_has_ticks_within_it(exponent: int, span: float) -> None:
    """Two to five distinct values that lie in the range, at most seven cells each."""
    low, high = 0.37 * 10.0**exponent, (0.37 + span) * 10.0**exponent
    found = few_ticks(low, high)
    assert 2 <= len(found) <= 5
    assert all(low * 0.999 <= at <= high * 1.001 for at, _ in found)
    assert len({text for _, text in found}) == len(found) and all(len(text) <= 7 for _, text in found)


def test_ticks_of_a_logarithmic_axis_are_powers_of_ten() -> None:
    """Whole powers where there are some, else round values between them."""
    assert [text for _, text in few_ticks(-3.0, 1.0, log=True)] == ["0.001", "0.1", "10"]
    assert [text for _, text in few_ticks(2.0, 2.6, log=True)] == ["100", "200", "300"]
    assert [text for _, text in few_ticks(-36.0, -2.0, log=True)] == ["1e-36", "1e-24", "1e-12"]


def test_ticks_near_each_other_are_told_apart() -> None:
    """Values that differ in their seventh digit do not read the same."""
    assert len(set(format_ticks([1_000_000.0, 1_000_005.0, 1_000_010.0]) or ())) == 3


def test_ticks_that_a_card_cannot_tell_apart_are_one() -> None:
    """A schedule that has only begun keeps one label, which is not cut: `0.0…001` is no number."""
    assert [text for _, text in few_ticks(0.00029999, 0.00030001, "rate")] == ["3e-4"]


LETTERS = {
    "": 1.0,
    "%": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "k%": 1e3,
    "M%": 1e6,
    "G%": 1e9,
}
SPANS = {"d": 86400.0, "h": 3600.0, "m": 60.0, "s": 1.0, "ms": 1e-3, "µs": 1e-6, "ns": 1e-9}


NUMBER = r"(-?)([\d.]+(?:e[+-]?\d+)?)([a-zA-Zµ%]*)"


def said(text: str, unit: str) -> float:
    """The value that a label says, in the unit of the metric."""
    assert re.fullmatch(f"{NUMBER}( {NUMBER})?", text)
    parts = re.findall(NUMBER, text)
    if unit not in ("s", "ms"):
        ((sign, digits, letter),) = parts
        return float(sign + digits) * LETTERS[letter] / (100 if unit == "share" else 1)
    seconds = sum(float(digits) * SPANS.get(letter, 1.0) for _, digits, letter in parts)
    return (-seconds if text[0] == "-" else seconds) * (1e3 if unit == "ms" else 1)


@pytest.mark.parametrize("unit", ["", "rate", "s", "ms", "percent", "fraction", "share", "tokens"])
@pytest.mark.parametrize("exponent", range(-9, 8))
def test_a_label_is_true_to_its_value(unit: str, exponent: int) -> None:
    """In ranges however small, a tick says the value at which it is, or is left out."""
    for begin in (1.0, 1.2, 3.7, 9.9991):
        for wide in (1e-5, 0.001, 0.05, 0.1, 0.5, 3):
            for sign in (1, -1):
                low, high = sorted(
                    (sign * begin * 10.0**exponent, sign * begin * (1 + wide) * 10.0**exponent)
                )
                large = [y_ticks((low, high), count, unit=unit) for count in (2, 3, 5)]
                for found in (few_ticks(low, high, unit), *large):
                    for at, text in found:
                        assert len(text) <= 8 and low - (high - low) / 50 <= at <= high + (high - low) / 50
                        assert abs(said(text, unit) - at) <= 0.02 * (high - low), (low, high, text)
                    assert len({text for _, text in found}) == len(found)


@pytest.mark.parametrize(
    ("low", "high", "unit", "texts"),
    [
        (0.99991, 0.99999, "", ["0.99992", "0.99994", "0.99996", "0.99998"]),
        (1.2e-8, 1.8e-8, "s", ["12.5ns", "15.0ns", "17.5ns"]),
        (-1.8e-8, -1.2e-8, "s", ["-17.5ns", "-15.0ns", "-12.5ns"]),
        (0.123456781, 0.123456789, "", []),
        (37_000.0, 407_000.0, "s", ["1d", "2d", "3d", "4d"]),
    ],
)
def test_small_ranges_have_the_ticks_that_can_be_written(
    low: float, high: float, unit: str, texts: list[str]
) -> None:
    """Round values that fit with all of their digits; none where all values have too many."""
    assert [text for _, text in few_ticks(low, high, unit)] == texts


@pytest.mark.parametrize(
    ("low", "high", "texts"),
    [
        (305.556, 306.309, ["305.6", "305.8", "306.0", "306.2"]),
        (11.0, 19.0, ["12", "14", "16", "18"]),
        (7.0, 7.0, ["7.00"]),
    ],
)
def test_a_low_chart_has_the_ticks_of_its_range(low: float, high: float, texts: list[str]) -> None:
    """A range with fewer than two round values has those at finer steps, not its ends."""
    assert [text for _, text in y_ticks((low, high), 2)] == texts


# ---- a card


def test_a_card_has_three_ticks_and_its_steps() -> None:
    """Round values at the left, first and last step below."""
    lines = card(row_of(np.linspace(-0.4, 1.2, STEPS)))
    assert ticks(lines) == ["1.0", "0.5", "0"]
    assert re.fullmatch(r" {7}└1─+300", lines[-1].rstrip())


def test_the_onset_is_marked_where_it_began() -> None:
    """A mark with its step on the line of steps, and a line in what the curve leaves free."""
    lines = card(row_of(np.where(np.arange(STEPS) < 192, 1.0, 3.0) * NOISE, found=True))
    steps = lines[-1]
    at = steps.index("▲193")
    assert abs((at - 8) / (len(steps.rstrip()) - 8) - 192 / 300) < 0.03
    assert any(line[at] == "┊" for line in lines[2:-1])
    assert "0.35 → 2.75" not in lines[1]


def test_the_onset_of_a_symptom_is_that_of_the_metric() -> None:
    """A metric that followed later than the symptom began is marked where it moved itself."""
    run = MadeRun()
    run.add("a/b", np.where(np.arange(STEPS) < 192, 1.0, 3.0) * NOISE)
    moved = Evidence("a/b", 1.0, 3.0, 193)
    run.found = [finding("a/b", id="x", title="x", since_step=40, symptom=True, evidence=(moved,))]
    row = rows_of(run, ["a/b"])[0]
    assert row.onset == 193
    assert "▲193" in card(row)[-1]


def test_a_restart_does_not_hide_the_last_step() -> None:
    """Both are there where they do not meet; of two that meet the step is told."""
    window = StepWindow(1.0, 300.0, restarts=(150, 299))
    steps = card(row_of(NOISE), window=window)[-1]
    assert steps.count("↻") == 1 and steps.rstrip().endswith("300")


def test_a_share_has_no_axis_above_one() -> None:
    """A live run leaves slack above its values, but not above all of a share."""
    ranges, window = Ranges(), StepWindow(1.0, 300.0, growing=True)
    card(row_of(np.linspace(0.2, 0.99, STEPS), unit="fraction"), ranges=ranges, window=window)
    ((_, (_, top)),) = ranges.shown.values()
    assert top == 1.0


def test_three_decades_are_drawn_on_a_logarithmic_axis_that_says_so() -> None:
    """What crosses three powers of ten; no share, nothing that should rise, not what touches zero."""
    steep = 10.0 ** np.linspace(-3, 1, STEPS)
    assert "log" in card(row_of(steep))[0] and ticks(card(row_of(steep)))[0] == "10"
    assert "log" not in card(row_of(steep / 20, unit="fraction"))[0]
    assert "log" not in card(row_of(steep, direction="up"))[0]  # such as a return, whose fall is to be seen
    assert "log" not in card(row_of(10.0 ** np.linspace(-1, 1, STEPS)))[0]
    assert "log" not in card(row_of(steep - 5))[0]
    assert "log" not in card(row_of(np.where(np.arange(STEPS) < 9, 0.02, 1e-36)))[0]  # zero but for rounding


def test_the_scale_holds_still_near_three_decades() -> None:
    """An axis that became logarithmic stays so until the curve crosses clearly less."""
    ranges = Ranges()
    for decades, log in ((2.9, False), (3.1, True), (2.8, True), (2.2, False)):
        head = card(row_of(10.0 ** np.linspace(0, decades * 1.02 + 0.1, STEPS)), ranges=ranges)[0]
        assert ("log" in head) is log, decades


def test_the_users_scale_counts_first() -> None:
    """A chosen scale stays whatever the curve does; nothing above zero falls back to a linear one."""
    assert "log" in card(row_of(NOISE), ranges=Ranges(scales={"a/b": True}))[0]
    assert (
        "log" not in card(row_of(10.0 ** np.linspace(-3, 1, STEPS)), ranges=Ranges(scales={"a/b": False}))[0]
    )
    assert "log" not in card(row_of(-NOISE), ranges=Ranges(scales={"a/b": True}))[0]


def test_one_outlier_does_not_flatten_the_rest() -> None:
    """The rest has the height; the outlier is marked, and the head says how far it goes."""
    values = NOISE.copy()
    values[120] = 40.0
    lines = card(row_of(values))
    assert "▲ to 40" in lines[0] and lines[2].count("▲") == 1
    assert all(float(text) < 3 for text in ticks(lines))


def test_what_is_new_or_told_by_a_finding_is_never_cut_off() -> None:
    """The newest points, a first phase of several points, and the outliers of a row with a finding."""
    late, early, told = NOISE.copy(), NOISE.copy(), NOISE.copy()
    late[-2:], early[:8], told[120] = 40.0, 40.0, 40.0
    for row in (row_of(late), row_of(early), row_of(told, found=True)):
        lines = card(row)
        assert " to 40" not in lines[0] and any(text.startswith(("20", "40")) for text in ticks(lines))


def test_the_first_points_outlier_is_cut_off() -> None:
    """The first step takes long everywhere: one point that is over at once."""
    values = NOISE.copy()
    values[0] = 40.0
    assert "▲ to 40" in card(row_of(values))[0]


def test_a_range_without_many_columns_is_whole() -> None:
    """A handful of values is no crowd that others could be outliers of."""
    low = np.array([1.0, 1.1, 50.0, 1.0])
    assert robust_range(low, low) == ((1.0, 50.0), False)
    assert robust_range(np.full(60, math.nan), np.full(60, math.nan)) == ((0.0, 0.0), False)


def test_the_crosshair_reads_all_cards() -> None:
    """The value at its step, the step itself, and a line."""
    lines = card(row_of(np.arange(STEPS) * 1.0), crosshair=150)
    assert "149" in lines[0] and "@150" in lines[0]
    assert sum("│" in line[8:] for line in lines[2:-1]) >= 5


def test_a_constant_is_a_thin_line() -> None:
    """No bar, no axis: a line and what it always was; in an overview one line for all of them."""
    lines = card(row_of(np.zeros(STEPS)))
    assert sum("always 0" in line for line in lines) == 1 and ticks(lines) == []
    run = MadeRun()
    for at in range(4):
        run.add(
            f"a/m{at}", NOISE, pane="policy", canonical="policy.kl_ref" if not at else None, title=f"M{at}"
        )
    run.add(
        "a/lr",
        np.full(STEPS, 0.01),
        pane="policy",
        canonical="optimizer.learning_rate",
        title="Learning rate",
    )
    drawn, cards = overview_of(run, NOW, 100, 24)
    assert [one.text for one in drawn if "always the same: Learning rate" in one.text]
    assert not any("Learning rate" in one.text for one in drawn[:-1]) and len(cards) == 4


def test_what_is_always_nan_because_there_is_none_is_not_measured() -> None:
    """The spread of discrete actions: no crosses, and in an overview one word with the constants."""
    row = row_of(np.full(STEPS, np.nan), canonical="policy.action_std", title="Action std")
    lines = card(row)
    assert sum("not measured: always written as nan" in line for line in lines) == 1
    assert row.value_text == "unreported" and is_constant(row)
    infinite = row_of(np.r_[np.full(STEPS - 1, np.inf), np.nan], canonical="policy.action_std")
    assert infinite.value_text == "NaN"  # somebody computed it


def test_a_negated_key_says_so() -> None:
    """A key with the opposite sign of its metric is named as such."""
    row = row_of(-NOISE, title="Entropy", scale=-1.0)
    assert row.title == "Minus entropy" and row.as_written(2.0) == -2.0
    assert any("falls as entropy rises" in line for line in card(row))


@pytest.mark.parametrize(("width", "note"), [(46, "falls as entropy rises"), (30, "negated")])
def test_a_narrow_card_says_that_its_key_is_negated_before_all_of_the_key(width: int, note: str) -> None:
    """Beside the onset of a finding as well: without it the curve contradicts the words."""
    lines = card(row_of(-NOISE, title="Entropy", scale=-1.0, found=True), width=width)
    assert f"a/b · {note}" in lines[1] and lines[1].rstrip().endswith("since 193")


@pytest.mark.parametrize("pane", ["overview", "reward", "policy", "lengths"])
@pytest.mark.parametrize(("width", "height"), [(200, 60), (140, 45)])
def test_large_screens_are_filled(pane: str, width: int, height: int) -> None:
    """Few metrics get large charts: no page leaves ten rows blank."""
    screen = opened(believable())
    screen.go(pane)
    lines = [one.text.strip(" │") for one in screen.frame(width, height).lines]
    blank = "".join("x" if line else " " for line in lines)
    assert max(map(len, re.findall(" +", blank)), default=0) < 10


def test_a_few_points_are_all_shown() -> None:
    """Of ten points none is an outlier, though the columns between them are many."""
    lines = card(row_of([0.0, *[1.0] * 9]), window=StepWindow(1.0, 10.0))
    assert "to 0" not in lines[0] and ticks(lines)[-1] == "0"
    assert lines[-1].rstrip().endswith("10") and "─" not in lines[-1].rstrip()[-2:]


def test_a_part_of_the_run_without_points_is_not_called_a_metric_without_any() -> None:
    """An evaluation every few hundred steps has points, but none among the steps that are drawn."""
    row = row_of(NOISE)
    window = StepWindow(STEPS + 1.0, STEPS + 50.0)
    assert any("no points in these steps" in text for text in card(row, window=window))

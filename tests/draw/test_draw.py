"""Drawing: what a person reads off cells."""

from __future__ import annotations

import math
import re
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.draw import numbers
from rltui.draw.braille import Canvas
from rltui.draw.cells import cut_sentence
from rltui.draw.numbers import (
    age_lasts,
    format_age,
    format_bound,
    format_bytes,
    format_change,
    format_clock,
    format_duration,
    format_moment,
    format_percent_change,
    format_plain,
    format_progress,
    format_range,
    format_seconds,
    format_share,
    format_short,
    format_si,
    format_value,
    short_step,
)
from rltui.draw.sparkline import BLOCKS, sparkline
from rltui.draw.value_range import stable_range, widened

NAN = float("nan")


def test_a_one_step_spike_survives_in_its_column() -> None:
    """A column that holds one extreme among many ordinary values shows the extreme."""
    low = np.zeros(8)
    high = np.zeros(8)
    high[3] = 10.0
    assert sparkline(low, high, 0.0, 10.0).text == "▁▁▁▇▁▁▁▁"


def test_blocks_of_lines_below_each_other_do_not_touch() -> None:
    """Sparklines, rows of histograms and histories of GPUs share the heights, without the full block."""
    assert "█" not in BLOCKS
    folder = Path(numbers.__file__).parents[1]
    spelled = [path.name for path in folder.rglob("*.py") if "▁▂▃▄▅▆▇" in path.read_text()]
    assert sorted(spelled) == ["sparkline.py", "symbols.py"]  # the latter says what ASCII has in their place


def test_a_sparkline_ends_at_the_level_of_the_last_value() -> None:
    """A column with a peak and the fall after it does not end at the top; the peak is in the cell before."""
    low, high = np.array([0.0, 1.0, 2.0, 3.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0, 7.0])
    assert sparkline(low, high, 0.0, 7.0, last=3.0).text[-2:] == "▇▄"
    rising = np.arange(7.0)
    assert sparkline(rising, rising, 0.0, 6.0, last=6.0).text == "▁▂▃▄▅▆▇"


def test_gaps_and_non_finite_values_are_told_apart() -> None:
    """Nothing logged is a blank; a logged NaN is a mark."""
    low = np.array([1.0, NAN, NAN, 2.0])
    drawn = sparkline(low, low, 1.0, 2.0, nonfinite=np.array([0, 0, 2, 0]))
    assert drawn.text == "▁ ×▇"
    assert drawn.marks == (2,)


def test_a_constant_series_is_drawn() -> None:
    """A flat range is no division by zero."""
    flat = np.full(3, 7.0)
    assert sparkline(flat, flat, 7.0, 7.0).text == "▄▄▄"


def test_huge_values_do_not_overflow_the_scale() -> None:
    """Max - min of two huge floats is infinite; the levels are right all the same."""
    ends = np.array([-1.7e308, 1.7e308])
    assert sparkline(ends, ends, -1.7e308, 1.7e308).text == "▁▇"


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=40))
def test_any_values_draw_at_exactly_the_width(values: list[float]) -> None:
    """Whatever was logged, a sparkline is as wide as it was asked to be."""
    series = np.array(values)
    finite = series[np.isfinite(series)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)
    assert len(sparkline(series, series, low, high).text) == len(values)


def test_braille_fills_from_minimum_to_maximum() -> None:
    """The left column of the first cell is full, the right one has its bottom dot only."""
    canvas = Canvas(1, 1)
    canvas.line(np.array([0.0, 0.0]), np.array([3.0, 0.0]), 0.0, 3.0)
    assert canvas.lines() == [chr(0x2800 | 0x47 | 0x80)]


def test_the_later_series_owns_a_shared_cell() -> None:
    """Two series over each other: every dot is kept, the colour is the later one's."""
    canvas = Canvas(2, 1)
    canvas.line(np.zeros(4), np.zeros(4), 0.0, 1.0)
    canvas.line(np.full(2, 1.0), np.full(2, 1.0), 0.0, 1.0)
    assert canvas.owners().tolist() == [[1, 0]]


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (0.132, "fraction", "0.132"),
        (1.2e-6, "rate", "1.20e-6"),
        (41.83, "percent", "41.8 %"),
        (0.35, "s", "350 ms"),
        (12.34, "s", "12.3 s"),
        (3725.0, "s", "1h 02m"),
        (8192.0, "tokens", "8192"),
        (81920.0, "tokens", "81.9k"),
        (999_960.0, "tokens", "1.00M"),
        (float("nan"), "loss", "NaN"),
        (float("-inf"), "loss", "-Inf"),
        (-1234.5, "return", "-1234"),
        (0.00012, "nats", "1.20e-4"),
    ],
)
def test_values_read_as_people_write_them(value: float, unit: str, shown: str) -> None:
    """Few digits, a unit, no noise."""
    assert format_value(value, unit) == shown


@pytest.mark.parametrize("value", [6.71e-7, -3.2e-5, 4.5e20, 1.25e7, math.nan, math.inf, -math.inf])
def test_a_number_reads_alike_in_a_sentence_and_in_a_row(value: float) -> None:
    """A finding and the row that it speaks of have the same text to compare."""
    assert format_short(value) == format_plain(value)


def test_durations_ages_and_changes() -> None:
    """Two steps of time at most; an age does not flicker; a change has its sign."""
    assert [format_duration(s) for s in (42, 245, 11520, 5 * 86400 + 3 * 3600)] == [
        "42s",
        "4m 05s",
        "3h 12m",
        "5d 03h",
    ]
    for age in np.geomspace(0.1, 1e9, 500).tolist():
        assert format_age(age + 0.999 * age_lasts(age)) == format_age(age)
    assert age_lasts(400.0) == 20.0
    ages = [format_age(s) for s in (0.4, 12, 250, 7300, 7 * 366 * 86400, None)]
    assert ages == ["now", "12s ago", "4m ago", "2h ago", "7y ago", "?"]
    assert format_change(0.5, 0.4) == "+0.100"
    assert format_change(14.28, 10.09) == "+4.19"
    assert format_change(2e-6, 1e-6, "rate") == "+1.00e-6"
    assert format_change(41.0, 44.1, "percent") == "-3.1 %"
    assert format_change(3.0, 3.0) == "="
    assert format_si(12345) == "12.3k"


def test_a_change_to_zero_keeps_its_digits() -> None:
    """A value of 0 has no decimals that the change to it could be rounded to."""
    assert format_change(0.0, 0.969) == "-0.97"
    assert format_change(0.0, 1.27) == "-1.27"
    assert format_change(0.0, 48.4) == "-48.4"
    assert format_change(0.0, 12.0, "tokens") == "-12"


def test_a_range_holds_still_while_it_serves() -> None:
    """A point inside the shown range leaves it alone; one outside grows that side with slack."""
    assert stable_range((0.0, 10.0), (1.0, 9.0)) == (0.0, 10.0)
    low, high = stable_range((0.0, 10.0), (1.0, 12.0))
    assert (low, high > 12.0) == (1.0, True)


def test_range_ends_are_written_like_their_values() -> None:
    """Ends of ranges carry the unit's scale, fit seven cells, and differ in writing when they differ."""
    assert format_range(0.12, 0.4834, "s") == ("120ms", "483ms")
    assert format_range(2.9e-6, 2e-4, "rate") == ("2.9e-6", "2.0e-4")
    assert format_range(12.0, 41.83, "percent") == ("12.0%", "41.8%")
    assert format_range(0.49998, 0.50001) == ("0.49998", "0.50001")
    assert format_range(2.997e-4, 3e-4, "rate") == ("3.0e-4", "3.0e-4")  # 0.0002997 has no room
    assert format_range(3.0, 3.0) == ("3.00", "3.00")
    for value in (-1.2e-4, 1e300, -1e-300, 123456.0, 36300.0):
        for unit in ("", "s", "percent", "tokens", "rate"):
            assert len(format_range(value, value, unit)[0]) <= 8


def test_rounding_noise_is_drawn_flat() -> None:
    """A range of a few millionths of its values is widened; real ranges stay as they are."""
    low, high = widened(0.5, 0.500001)
    assert high - low > 2e-5 and low < 0.5 < high
    assert widened(0.5, 0.51) == (0.5, 0.51)
    assert widened(2.0, 2.0) == (2.0, 2.0)
    assert widened(-1e308, 1e308) == (-1e308, 1e308)


def test_advice_is_cut_between_sentences() -> None:
    """What does not fit ends at a sentence or clause, never within a word."""
    text = "Stop or roll back to a checkpoint; lower the learning rate. Good rewards do not excuse it."
    assert cut_sentence(text, 200) == text
    assert cut_sentence(text, 70) == "Stop or roll back to a checkpoint; lower the learning rate."
    assert cut_sentence(text, 50) == "Stop or roll back to a checkpoint."
    assert cut_sentence(text, 12).endswith("…")
    assert cut_sentence("The policy broke (since step 154)", 30) == "The policy broke"
    assert cut_sentence("a (b) c and more", 8) == "a (b) c…"
    moved = "The policy moves by 171 nats per update (usual: below 0.01 to 0.05); lower the rate"
    assert cut_sentence(moved, 60) == "The policy moves by 171 nats per update"
    assert (
        cut_sentence("The reward (its mean) fell by 3 of 10 and rose again", 30)
        == "The reward (its mean) fell by…"
    )


def test_a_step_that_does_not_fit_gets_a_letter() -> None:
    """Steps are told in full; those of environment counters too long for their column by their size."""
    assert short_step(12_340, 9) == "12,340"
    assert short_step(1_234_567, 9) == "1,234,567"
    assert short_step(4_950_000_000, 11) == "4.95G"


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (999.6, "1.0 kB"), (1_000, "1.0 kB"), (9_960, "10 kB"), (20_140, "20 kB"),
     (999_499, "999 kB"), (999_500, "1.0 MB"), (4_210_000, "4.2 MB"), (64 << 20, "67 MB"), (4e9, "4.0 GB"),
     (1e18, "1.0 EB"), (2**64 - 1, "18 EB"), (9.999e20, "1e21 B"), (math.inf, "+Inf"), (-1e-9, "0 B"),
     (-12, "-12 B")],
)  # fmt: skip
def test_sizes_take_six_cells_in_decimal_units(size: float, text: str) -> None:
    """A size is whole from ten of its unit on, never a thousand of a unit, and any number is one."""
    assert format_bytes(size) == text and len(text) <= 6


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.0951, "9.5 %"), (0.0004, "< 0.1 %"), (0.0, "0 %"), (0.9996, "100 %"), (math.nan, "NaN"),
     (-0.003, "-0.3 %"), (-0.0004, "> -0.1 %"), (-0.2, "-20 %"), (-0.0, "0 %")],
)  # fmt: skip
def test_a_share_has_one_text(share: float, text: str) -> None:
    """A share below ten percent has a decimal, below zero too; what is no number is said to be none."""
    assert format_share(share) == text


def test_nothing_is_minus_zero() -> None:
    """A negative value that is rounded to zero has no sign."""
    assert (format_value(-0.04, "percent"), format_bound(-0.04, "percent")) == ("0.0 %", "0.0%")
    assert format_seconds(-1e-8) == "0 µs" and format_seconds(-2e-6) == "-2 µs"
    assert [format_percent_change(each) for each in (-0.04, -0.3, 21.44, 140.4)] == [
        "0.0",
        "-0.3",
        "+21.4",
        "+140",
    ]


def test_times_of_a_clock_have_one_text() -> None:
    """A moment has its date unless it is of the last day; a time that no clock shows is unknown."""
    wall = time.mktime((2025, 11, 20, 1, 2, 9, 0, 0, -1))
    assert format_clock(wall) == "01:02:09"
    assert format_moment(wall) == format_moment(wall, wall + 86400) == "2025-11-20 01:02"
    assert format_moment(wall, wall + 3600) == "01:02"
    assert {format_clock(other) for other in (math.nan, math.inf, 1e300)} == {"?"}


def test_shares_sizes_steps_and_times_are_formatted_in_one_module() -> None:
    """No other module makes percents, sizes, steps or times of a clock by a format of its own."""
    own = re.compile(r"%H:%M|\.\d%\}|f\} %|\} ?[kMG]i?B\b|\}B\b|>> 20\}|step:,\}")
    folder = Path(numbers.__file__).parents[1]
    found = [
        f"{path.relative_to(folder)}: {text.strip()}"
        for path in folder.rglob("*.py")
        if path != Path(numbers.__file__)
        for text in path.read_text().splitlines()
        if own.search(text)
    ]
    assert not found


def test_progress_is_rounded_down_but_not_by_errors_of_floats() -> None:
    """29 of 100 steps are 29 %, and 100 % are the end."""
    assert [format_progress(done / 100) for done in range(101)] == [f"{done}%" for done in range(101)]
    assert format_progress(999_999 / 1_000_000) == "99%"

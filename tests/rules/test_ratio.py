"""Ratios of two series at common steps."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.rules.evaluated_series.ratio import Ratio
from tests.support.runs.evaluators import fresh, new_evaluator

ABOVE = np.array((1.0, 0.0, -3.0, np.inf, np.nan, 1e308, 5e-324, 2.0, -0.0))
BELOW = np.array((3.0, 0.0, -0.0, 2.0, 1.0, 1e-10, 3.0, np.inf, 7.0))


@pytest.mark.parametrize("first", [0, 1])
def test_ratios_of_single_points_are_those_of_all_at_once(first: int) -> None:
    """Whichever side comes first, to the bit; none where one is not finite or the denominator is zero."""
    steps, sides, whole, single = np.arange(len(ABOVE)), (ABOVE, BELOW), Ratio(), Ratio()
    with np.errstate(all="ignore"):
        whole.feed(0, steps, ABOVE)
        expected = whole.feed(1, steps, BELOW)
        parts = []
        for at in steps.tolist():
            part = slice(at, at + 1)
            assert not len(single.feed(first, steps[part], sides[first][part])[0])
            parts.append(single.feed(1 - first, steps[part], sides[1 - first][part]))
    found = [np.concatenate(column) for column in zip(*parts, strict=True)]
    assert found[0].tolist() == expected[0].tolist() == [0, 6, 8]
    assert found[1].tobytes() == expected[1].tobytes()


@pytest.mark.parametrize("later", ["timing.reward", "timing.step"])
def test_points_of_a_series_wait_for_the_series_that_begins_later(later: str) -> None:
    """Also after a restart, and for each rule on the two of them."""
    first = {"timing.reward": "timing.step", "timing.step": "timing.reward"}[later]
    values = {"timing.reward": np.full(80, 7.0), "timing.step": np.full(80, 10.0)}
    together, apart = new_evaluator(), new_evaluator()
    together.feed([fresh(tag, each) for tag, each in values.items()])
    apart.feed([fresh(first, values[first])])
    apart.feed([fresh(first, values[first][40:], range(41, 81), rewound_to=41)])
    apart.feed([fresh(later, values[later])])
    ratios = [each for each in together.findings() if each.id in ("reward-phase-long", "bottleneck-reward")]
    assert ratios
    assert [each for each in apart.findings() if each in ratios] == ratios

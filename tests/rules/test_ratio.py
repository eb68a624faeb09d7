"""Ratios of two series at common steps."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.rules.evaluated_series.ratio import Ratio

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

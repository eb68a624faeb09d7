"""Unimodal regression."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.rules.evaluated_series.unimodal_curve import unimodal


@pytest.mark.parametrize(
    ("values", "top", "curve"),
    [
        ([1, 3, 2, 5, 4, 1], 3, [1, 2.5, 2.5, 5, 4, 1]),
        ([3, 2, 1], 0, [3, 2, 1]),
        ([3, 2, 1], 2, [2.5, 2.5, 1]),
        ([0, 4, 1, 2], 1, [0, 4, 1.5, 1.5]),
    ],
)
def test_violators_are_pooled(values: list[float], top: int, curve: list[float]) -> None:
    """Neighbours in the wrong order are replaced by their mean, on either side of the top."""
    assert unimodal(np.array(values, np.float64), top).tolist() == curve

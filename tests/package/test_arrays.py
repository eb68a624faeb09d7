"""Medians and quantiles of arrays."""

from __future__ import annotations

import math
import re
from pathlib import Path

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from rltui.common import arrays
from rltui.common.arrays import median, median_of_sorted, medians, quantiles
from rltui.store.continued_runs import life_of
from tests.support.runs.made_run import MadeRun

NUMBERS = st.floats(-1e300, 1e300) | st.sampled_from([0.0, -0.0, math.inf, -math.inf, 1.0])


@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_the_median_of_a_list_an_array_and_a_row_is_numpys(values: list[float]) -> None:
    """A list, an array, a row, and the first values of a longer row have the median of `numpy.median`."""
    with np.errstate(all="ignore"):
        expected = float(np.median(values))
        padded = np.array([[*sorted(values), math.nan, math.nan]])
        found = [
            median(values),
            median(np.array(values)),
            float(medians(np.array([values]))[0]),
            float(median_of_sorted(padded, np.array([len(values)]))[0]),
        ]
    assert all(one == expected or (math.isnan(one) and math.isnan(expected)) for one in found)


def test_a_median_with_nan_or_of_nothing_is_nan() -> None:
    """NaN anywhere in the values, and no values, have no median and no quantiles."""
    for values in ([], [math.nan], [1.0, math.nan, 2.0]):
        assert math.isnan(median(values)) and math.isnan(median(np.array(values)))
        assert all(map(math.isnan, quantiles(values, (0.1, 0.5))))
    assert math.isnan(medians(np.array([[1.0, math.nan, 2.0]]))[0])
    assert math.isnan(median_of_sorted(np.array([[math.nan, math.nan]]), np.array([0]))[0])


def test_the_usual_distance_of_points_is_their_median() -> None:
    """Of as many distances of 10 as of 20 steps the usual one is 15, not the larger one."""
    view = MadeRun()
    for tag in ("a", "b", "c", "d", "e"):
        view.add(tag, np.arange(7.0), step=[0, 10, 20, 30, 50, 70, 90])
    life = life_of(view.run)
    assert life is not None and life.stride == 15.0


def test_medians_and_quantiles_are_made_in_one_module() -> None:
    """No other module calls numpy's, which imports masked arrays, or makes one by itself."""
    own = re.compile(r"np\.(nan)?(median|quantile|percentile)\b|(sorted|sort)\([^\n]*\)\[(:, )?[^:\n]*// 2\]")
    folder = Path(arrays.__file__).parents[1]
    found = [
        f"{path.relative_to(folder)}: {text.strip()}"
        for path in folder.rglob("*.py")
        for text in path.read_text().splitlines()
        if own.search(text)
    ]
    assert not found

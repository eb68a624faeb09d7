"""How unequal the samples of a prompt group are: the Gini coefficient and its relatives.

Pure functions of finite numbers; the order of the numbers and a common positive factor make no difference.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

EQUAL = 1e-6  # relative spread below which rewards count as equal: the noise of float32 averages


def gini(values: Sequence[float]) -> float:
    """Gini coefficient of n >= 1 finite numbers, from 0 (all equal) to 1 (one of very many has it all).

    The mean absolute difference of all pairs over twice the mean absolute value,
    ``sum_ij |x_i - x_j| / (2 n sum_i |x_i|)``. For numbers >= 0 that is Gini's coefficient (C. Gini,
    Variabilità e mutabilità, 1912; in the sorted form of A. Sen, On Economic Inequality, 1973), whose
    greatest value for n numbers is (n-1)/n. Absolute values in the denominator keep it within [0, 1] for
    rewards of either sign (cf. C.-N. Chen, T.-W. Tsaur, T.-S. Rhai, Oxford Economic Papers 34, 1982, on
    negative incomes). All zeros give 0.
    """
    greatest = max(map(abs, values))
    if greatest == 0:
        return 0.0
    ordered = sorted(value / greatest for value in values)
    count = len(ordered)
    spread = math.fsum((2 * rank - count + 1) * value for rank, value in enumerate(ordered))
    coefficient = spread / (count * math.fsum(map(abs, ordered)))
    return min(max(coefficient, 0.0), 1.0)


def median(numbers: Sequence[float]) -> float:
    """The middle one of n >= 1 numbers, or the mean of the middle two."""
    ordered = sorted(numbers)
    return (ordered[(len(ordered) - 1) // 2] + ordered[len(ordered) // 2]) / 2


def max_median_ratio(lengths: Sequence[float]) -> float | None:
    """The longest over the median; None for a median of 0."""
    usual = median(lengths)
    return max(lengths) / usual if usual > 0 else None


def all_equal(values: Sequence[float]) -> bool:
    """Whether a group's rewards leave no advantage: their spread is at most `EQUAL` of the greatest."""
    low, high = min(values), max(values)
    return high - low <= EQUAL * max(abs(low), abs(high))

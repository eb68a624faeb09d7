"""The comparisons that users write in expressions, filters and conditions."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

Comparison = Callable[[float, float], bool]

COMPARISONS: Mapping[str, Comparison] = {
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "=": operator.eq,
    ":": operator.eq,
    "!=": operator.ne,
}

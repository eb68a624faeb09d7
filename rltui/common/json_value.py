"""Values for JSON, which has no NaN and no infinities."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Protocol, runtime_checkable


@runtime_checkable
class _NumpyNumber(Protocol):
    """A number of numpy, which is not imported here: commands without arrays start faster."""

    def item(self) -> object:
        """The Python number."""


def json_value(value: object) -> object:
    """A value for JSON, which has no NaN: non-finite numbers become `"NaN"`, `"Infinity"`, `"-Infinity"`."""
    if isinstance(value, str) or value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {str(key): json_value(item) for key, item in value.items()}
    if isinstance(value, Sequence | set | frozenset):
        return [json_value(item) for item in value]
    if not isinstance(value, int | float) and isinstance(value, _NumpyNumber):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    return value

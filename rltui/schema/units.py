"""Units of metrics: descriptions, the symbols written after numbers, and which are counts.

The unit of a metric is in its definition; that of a tag as written is decided by `rltui.metrics.resolve`.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.toml_files import read_table


class Units(NamedTuple):
    """The tables of `rltui/data/units.toml`, by unit. `words` only has the units of the glossary."""

    counts: frozenset[str]
    signs: Mapping[str, str]
    words: Mapping[str, str]


@cache
def units() -> Units:
    """The shipped units."""
    return read_table("units", Units)

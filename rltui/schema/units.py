"""Units of metrics: what they are in words, how they are written behind a number, which are counts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.fields import table_of
from rltui.schema.toml_files import read_table


class Units(NamedTuple):
    """The tables of `rltui/data/units.toml`, by unit. `words` has those of the glossary alone."""

    counts: frozenset[str]
    signs: Mapping[str, str]
    words: Mapping[str, str]


@cache
def units() -> Units:
    """The tables, read at the first call."""
    return read_table("units", lambda: table_of(Units))

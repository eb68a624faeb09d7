"""Columns of one document: each a series, with the steps of the step column of its length, or row numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from rltui.logs.formats.documents.document import Parts
from rltui.logs.records import record_keys

Column = Sequence[Any]  # numbers and None
MIN_LENGTH = 10  # of a column: fewer numbers are results


def is_axis(name: str, column: Column = ()) -> bool:
    """Whether a column has steps; a plural ("episodes") only if its numbers increase."""
    name = name.rpartition("/")[2]
    increases = None not in column and all(one < two for one, two in pairwise(column))
    return bool(
        record_keys.step_keys([name]) or (increases and record_keys.step_keys([name.removesuffix("s")]))
    )


def column_parts(columns: Mapping[str, Column]) -> Parts:
    """The records of each column."""
    steps = [name for name, column in columns.items() if is_axis(name, column)]
    axes = {len(columns[name]): columns[name] for name in reversed(steps)}
    parts: Parts = {}
    for name, column in columns.items():
        if name not in steps:
            axis = axes.get(len(column)) or range(1, len(column) + 1)
            parts[name] = [{"step": step, name: value} for step, value in zip(axis, column, strict=True)]
    return parts

"""Rows of one quantity whose series are equal, as trainers log it under several keys, joined to one row."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from rltui.panes.rows.row import Row
from rltui.session.tag_index import quantity_of
from rltui.store.series import Series


def joined(rows: Sequence[Row]) -> list[Row]:
    """The rows without those whose points another row before them has, of the same quantity and unit.

    That row gets their keys and findings.
    """
    same: dict[object, list[int]] = {}
    for at, row in enumerate(rows):
        if row.name is not None and row.name.canonical is not None:
            alike = (quantity_of(row.name), row.title, row.unit, tuple(row.parts), row.against is None)
            same.setdefault(alike, []).append(at)
    kept: dict[int, Row] = dict(enumerate(rows))
    for positions in same.values():
        for index, at in enumerate(positions):
            for other in positions[index + 1 :]:
                if at in kept and other in kept and _are_equal(kept[at], kept[other]):
                    kept[at] = _with(kept[at], kept.pop(other))
    return list(kept.values())


def with_numbers_of_keys(rows: Sequence[Row]) -> list[Row]:
    """Joined rows with the number of their keys behind the title: `Response length · 3 keys`."""
    return [
        replace(row, title=f"{row.title} · {1 + len(row.equals) // len(row.parts)} keys")
        if row.equals
        else row
        for row in rows
    ]


def _with(row: Row, other: Row) -> Row:
    findings = {id(finding): finding for finding in (*row.findings, *other.findings)}
    return replace(row, equals=(*row.equals, *other.tags), findings=tuple(findings.values()))


def _are_equal(row: Row, other: Row) -> bool:
    return all(_same_points(series, other.parts[statistic]) for statistic, series in row.parts.items())


def _same_points(one: Series, other: Series) -> bool:
    """Whether two series have the same points: the recent ones, and as many others with the same extremes."""
    if one.count != other.count or (one.first_step, one.last_step) != (other.first_step, other.last_step):
        return False
    if not np.array_equal(one.extent(), other.extent(), equal_nan=True):
        return False
    points, others = one.recent(), other.recent()
    return np.array_equal(points.step, others.step) and np.array_equal(
        points.value, others.value, equal_nan=True
    )

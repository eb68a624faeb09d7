"""The numbers of records as columns: tag, step, wall time and value.

Most records of a log have the same keys. The numbers of such records are kept as tuples and converted to one
array; null, booleans and text without a number are omitted. Only records with lists, nested objects or
numbers in text are processed key by key.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from operator import itemgetter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.logs.records.flatten import scalars
from rltui.logs.records.parse_number import from_text, real, seconds
from rltui.logs.records.tag_table import TagTable

NUMBERS = {int, float}
_NO_SCALAR = {bool, type(None)}  # types without a scalar, whatever the value
_LOST_AFTER = 20  # records with a number, after which null means that the value was lost
_LOST_TOGETHER = 3  # metrics in one record that must be: one alone may not have been measured

Keys = tuple[str, ...]
# Index of the record within the batch, tag, step, wall time and value, (n,) each.
_Columns = tuple[NDArray[Any], ...]
_TYPES = (np.int64, np.uint32, np.int64, np.float64, np.float64)


@dataclass(slots=True)
class _Block:
    """Records with the same keys, of which only numbers are kept."""

    columns: NDArray[np.intp] | None  # of the values that are series; None: all
    tags: NDArray[np.uint32]  # of these columns
    indices: list[int] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    walls: list[float] = field(default_factory=list)
    values: list[tuple[float, ...]] = field(default_factory=list)
    pick: Callable[[tuple[object, ...]], Any] | None = None  # the numbers among the values; None: all


class RecordColumns:
    """Collects the numbers of records, and returns them in the order of the records."""

    def __init__(self, tags: TagTable) -> None:
        self._tags = tags
        self._whole_rows: dict[tuple[Keys, Keys], int] = {}  # records before `take`, by keys and skipped keys
        self._sometimes_null: set[tuple[Keys, int]] = set()  # keys, and column
        self._clear()

    def _clear(self) -> None:
        self._index = 0
        # By keys, skipped keys, and types unless all values are numbers.
        self._blocks: dict[tuple[Keys, Keys, tuple[type, ...] | None], _Block] = {}
        self._irregular: list[tuple[int, int, int, float, float]] = []

    def add(self, record: Mapping[str, object], skip: Keys, step: int, wall: float) -> None:
        """Add the numbers of a record, except for those of the keys in `skip`."""
        self._index += 1
        keys, values = tuple(record), tuple(record.values())
        kinds: tuple[type, ...] | None = None
        if not NUMBERS.issuperset(map(type, values)):
            if None in values:
                values = self._with_lost_values(keys, skip, values)
            kinds = tuple(map(type, values))
            if NUMBERS.issuperset(kinds):
                kinds = None
            elif not _others_have_no_scalar(keys, values, kinds, skip):
                for tag, value in scalars(dict(zip(keys, values, strict=True)), skip):
                    if (number := self._tags.index(tag)) >= 0:
                        self._irregular.append((self._index, number, step, wall, value))
                return
        block = self._blocks.get((keys, skip, kinds))
        if block is None:
            block = self._blocks[keys, skip, kinds] = self._block(keys, kinds, skip)
        block.indices.append(self._index)
        block.steps.append(step)
        block.walls.append(wall)
        block.values.append(values if block.pick is None else block.pick(values))  # type: ignore[arg-type]

    def take(self) -> tuple[NDArray[Any], ...] | None:
        """Tag, step, wall time and value, (n,) each, of the records since the last call; None without one."""
        parts: list[_Columns] = [_arrays(block) for block in self._blocks.values()]
        if self._irregular:
            columns = zip(zip(*self._irregular, strict=True), _TYPES, strict=True)
            parts.append(tuple(np.array(column, kind) for column, kind in columns))
        for (keys, skip, kinds), block in self._blocks.items():
            if kinds is None:
                self._whole_rows[keys, skip] = self._whole_rows.get((keys, skip), 0) + len(block.steps)
        self._clear()
        if not parts:
            return None
        return (parts[0] if len(parts) == 1 else _in_order(parts))[1:]

    def _block(self, keys: Keys, kinds: tuple[type, ...] | None, skip: Keys) -> _Block:
        """An empty block for records with these keys. kinds: the types of their values; None: all numbers."""
        numbers = [column for column in range(len(keys)) if kinds is None or kinds[column] in NUMBERS]
        named = [(position, self._tags.index(keys[column])) for position, column in enumerate(numbers)
                 if keys[column] not in skip]  # fmt: skip
        kept = [pair for pair in named if pair[1] >= 0]
        columns = None if len(kept) == len(numbers) else np.array([position for position, _ in kept], np.intp)
        block = _Block(columns, np.array([tag for _, tag in kept], np.uint32))
        if kinds is not None:
            block.pick = itemgetter(*numbers) if len(numbers) > 1 else lambda values: (values[numbers[0]],)
        return block

    def _with_lost_values(self, keys: Keys, skip: Keys, values: tuple[object, ...]) -> tuple[object, ...]:
        """The values with NaN for null where all records before had a number.

        Writers of JSON have no other way to write NaN (veRL), and NaN reaches several metrics at once. Of
        metrics that are not measured each time the first records have nulls, too.
        """
        block = self._blocks.get((keys, skip, None))
        whole = self._whole_rows.get((keys, skip), 0) + (0 if block is None else len(block.steps))
        null = [column for column, value in enumerate(values) if value is None]
        if whole < _LOST_AFTER:
            self._sometimes_null.update((keys, column) for column in null)
        lost = {column for column in null if (keys, column) not in self._sometimes_null}
        if len(lost) < _LOST_TOGETHER:
            return values
        return tuple(math.nan if column in lost else value for column, value in enumerate(values))


def _others_have_no_scalar(
    keys: Keys, values: tuple[object, ...], kinds: tuple[type, ...], skip: Keys
) -> bool:
    """Whether there are numbers, and no other value gives a scalar (see `flatten.scalars`)."""
    others = [column for column, kind in enumerate(kinds) if kind not in NUMBERS]
    if len(others) == len(kinds):
        return False
    for column in others:
        key, value = keys[column], values[column]
        if kinds[column] in _NO_SCALAR or key in skip:
            continue
        if type(value) is not str or from_text(value) is not None or seconds(key, value) is not None:
            return False
    return True


def _arrays(block: _Block) -> _Columns:
    """The numbers of a block, record by record."""
    try:
        values = np.array(block.values, np.float64)
    except OverflowError:  # an integer beyond float64
        values = np.array([[real(value) for value in row] for row in block.values], np.float64)
    if block.columns is not None:
        values = values[:, block.columns]
    count, width = len(block.steps), len(block.tags)
    return (
        np.repeat(np.array(block.indices, np.int64), width),
        np.tile(block.tags, count),
        np.repeat(np.array(block.steps, np.int64), width),
        np.repeat(np.array(block.walls, np.float64), width),
        values.reshape(-1),
    )


def _in_order(parts: list[_Columns]) -> _Columns:
    """Several parts as one, in the order of the records."""
    order = np.argsort(np.concatenate([part[0] for part in parts]), kind="stable")
    return tuple(np.concatenate(columns)[order] for columns in zip(*parts, strict=True))

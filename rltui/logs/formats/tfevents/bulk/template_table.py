"""Hash tables that map thousands of records to their templates at once.

The row of a record is its last W bytes, with everything set to zero that varies between points: the value,
and the bytes before the body (step and wall time). Rows of one template are equal. The hash of a row selects
an entry of the table, whose row is then compared in full, so a collision costs time but never gives a wrong
tag.
"""

from __future__ import annotations

import threading

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import distinct_with_first_index
from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.tfevents.bulk.block import Block, Positions, Words
from rltui.logs.formats.tfevents.templates import (
    ALL_TEMPLATES,
    RecordTemplate,
    ValueLayout,
)

LIMITS = (64, 128, 248)  # bytes of a body; a template is in the table of the first sufficient limit
_MIN_WIDTH = 16  # bytes of a row

_U64 = np.uint64
_SLOTS_PER_ENTRY = 8  # so that two hashes rarely need the same slot
_MIN_BITS, _MAX_BITS = 12, 20  # of the slot number

# Odd pseudo-random numbers: scrambled multiples of the fraction of the golden ratio.
_FACTORS = (np.arange(1, 32, dtype=_U64) * _U64(0x9E3779B97F4A7C15)) ^ _U64(0xBF58476D1CE4E5B9)
_FACTORS |= _U64(1)


class _Slots(NamedTuple):
    """Entries by the top bits of their hash. Immutable: readers use one while the next is built.

    overflow: entries whose slot was taken, by the bits below; None if there are none.
    """

    shift: np.uint64
    hashes: Words
    entry: NDArray[np.int32]
    overflow: _Slots | None

    def find(self, hashes: Words) -> NDArray[np.int32]:
        """The entry of each hash, 0 if there is none."""
        slot = (hashes >> self.shift).astype(np.intp)
        entry = self.entry.take(slot)
        missed = np.flatnonzero(self.hashes.take(slot) != hashes)
        if len(missed):
            below = hashes[missed] << _U64(_MAX_BITS)
            entry[missed] = 0 if self.overflow is None else self.overflow.find(below)
        return entry


class _Entries(NamedTuple):
    """The content of a table. Immutable: readers use one while the next is built.

    width: bytes of a row, enough for the longest body. mask, factors: for rows of that width, see `_masks`
    and `_factors`. template, body, row: (entries,) of each entry; entry 0 means none.
    """

    width: int
    mask: Words
    factors: Words
    template: Positions
    body: Positions
    row: Words
    slots: _Slots


class TemplateTable:
    """Templates of one layout whose bodies have at most `limit` bytes."""

    def __init__(self, layout: ValueLayout, limit: int) -> None:
        self.layout, self.limit = layout, limit
        none = np.zeros(1, np.intp)
        self._entries = self._build(_MIN_WIDTH, none - 1, none, np.zeros((1, _MIN_WIDTH // 8), _U64))

    def _build(self, width: int, template: Positions, body: Positions, row: Words) -> _Entries:
        factors = _factors(width)
        bits = max(_MIN_BITS, min(_MAX_BITS, (len(template) * _SLOTS_PER_ENTRY - 1).bit_length()))
        slots = _slots(_hashes(row[1:], factors), np.arange(1, len(template), dtype=np.int32), bits)
        return _Entries(width, _masks(self.layout, width, self.limit), factors, template, body, row, slots)

    def add(self, numbers: list[int], templates: list[RecordTemplate]) -> None:
        """Add templates with their numbers in the registry. For one thread at a time."""
        after, size = self.layout
        now = self._entries
        bodies = [len(template.constant) + size for template in templates]
        width = max(now.width, -(-max(bodies) // 8) * 8)
        rows = np.zeros((len(templates), width), np.uint8)
        for row, template in zip(rows, templates, strict=True):
            constant = np.frombuffer(template.constant, np.uint8)
            before = len(constant) - after
            end = width - after
            row[end - size - before : end - size] = constant[:before]
            row[end:] = constant[before:]
        wider = np.zeros((len(now.row), (width - now.width) // 8), _U64)
        self._entries = self._build(
            width,
            np.concatenate([now.template, np.array(numbers, np.intp)]),
            np.concatenate([now.body, np.array(bodies, np.intp)]),
            np.concatenate([np.concatenate([wider, now.row], axis=1), rows.view("<u8")]),
        )

    def find(self, block: Block, end: Positions, body: Positions) -> tuple[Positions, Words]:
        """Look up records whose data end at `end` and whose bodies have `body` bytes, at most `limit`.

        Returns (n,) the numbers of templates, -1 if there is none, and (n, words) the unmasked rows.
        """
        entries = self._entries
        row = block.words(end - entries.width, entries.width)
        masked = row & entries.mask.take(body, axis=0)
        entry = entries.slots.find(_hashes(masked, entries.factors))
        masked[entry == 0] = 0  # as the row of entry 0
        # Other rows may have the same hash as an entry without being equal.
        rows, bodies = entries.row.take(entry, axis=0), entries.body.take(entry)
        wrong = (bodies != body) & (bodies != 0)
        if wrong.any() or not np.array_equal(rows, masked):
            entry[wrong | (rows != masked).any(axis=1)] = 0
        return entries.template.take(entry), row


def _factors(width: int) -> Words:
    """By word of a row, counted from its end, so that leading zeros do not change its hash."""
    return _FACTORS[width // 8 - 1 :: -1].copy()


def _hashes(rows: Words, factors: Words) -> Words:
    """The hash of each row. The shift brings high bytes down; multiplication only carries upwards."""
    folded = rows >> _U64(32)
    folded ^= rows
    hashes: Words = folded @ factors
    return hashes


def _slots(hashes: Words, entry: NDArray[np.int32], bits: int) -> _Slots:
    """A table of 2**bits slots for entries and their hashes."""
    shift = _U64(64 - bits)
    slot, first = distinct_with_first_index((hashes >> shift).astype(np.intp))
    kept = ~(np.arange(1 << bits, dtype=_U64) << shift)  # an empty slot has a hash that belongs elsewhere
    kept[slot] = hashes[first]
    entries = np.zeros(1 << bits, np.int32)
    entries[slot] = entry[first]
    left = np.delete(np.arange(len(hashes)), first)
    # Of equal hashes only one is kept; records of the others are decoded singly.
    left = left[kept[hashes[left] >> shift] != hashes[left]]
    below = _slots(hashes[left] << _U64(_MAX_BITS), entry[left], _MIN_BITS) if len(left) else None
    return _Slots(shift, kept, entries, below)


def _masks(layout: ValueLayout, width: int, limit: int) -> Words:
    """(limit + 1, width / 8): by length of the body, a mask of the constant bytes of a row.

    All zeros if the body is too short for the layout or too long for the row.
    """
    after, size = layout
    masks = np.zeros((limit + 1, width), np.uint8)
    for body in range(after + size, width + 1):
        masks[body, width - body : width - after - size] = 255
        masks[body, width - after :] = 255
    return masks.view("<u8")


class TemplateTables:
    """The tables of all templates, created as layouts occur and filled as templates are added."""

    def __init__(self) -> None:
        self._tables: dict[tuple[ValueLayout, int], TemplateTable] = {}
        self._added = 0  # templates of the registry that are in tables
        self._lock = threading.Lock()

    def table(self, layout: ValueLayout, limit: int) -> TemplateTable | None:
        """The table of a layout; None if it has no template."""
        return self._tables.get((layout, limit))

    def update(self) -> None:
        """Add the new templates of the registry."""
        if self._added == len(ALL_TEMPLATES.templates):
            return
        with self._lock:
            new: dict[tuple[ValueLayout, int], tuple[list[int], list[RecordTemplate]]] = {}
            count = len(ALL_TEMPLATES.templates)
            for number in range(self._added, count):
                template = ALL_TEMPLATES.templates[number]
                body = len(template.constant) + template.layout.width
                limit = next((limit for limit in LIMITS if body <= limit), None)
                if limit is not None:
                    numbers, templates = new.setdefault((template.layout, limit), ([], []))
                    numbers.append(number)
                    templates.append(template)
            for key, (numbers, templates) in new.items():
                self._tables.setdefault(key, TemplateTable(*key)).add(numbers, templates)
            self._added = count


TABLES = TemplateTables()

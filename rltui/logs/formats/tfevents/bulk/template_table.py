"""Shapes as numpy tables: which shape has each of thousands of records, by one hash and one comparison.

A record's row is the W bytes that end with the record, with everything zeroed that changes from point
to point: the value, and the bytes before the body (step and wall time). Rows of one shape are equal.
A row is hashed, the hash picks an entry of the table, and the row is compared with the entry's, byte
for byte: the hash only saves the search, so a collision costs time and never a wrong tag.
"""

from __future__ import annotations

import threading
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.tfevents.bulk.block import Block, Places, Words, distinct
from rltui.logs.formats.tfevents.templates.record_template import BOOK, Layout, Shape, ShapeBook

LIMITS = (64, 128, 248)  # bytes of a body; it is entered where the first of these holds it
_NARROWEST = 16  # bytes of a row

_U64 = np.uint64
_CROWD = 8  # slots for each entry, so that two hashes rarely want the same
_FEWEST, _MOST = 12, 20  # bits of the slot number

# Odd numbers without pattern: multiples of the golden ratio's fraction, scrambled.
_FACTORS = (np.arange(1, 32, dtype=_U64) * _U64(0x9E3779B97F4A7C15)) ^ _U64(0xBF58476D1CE4E5B9)
_FACTORS |= _U64(1)


class Found(NamedTuple):
    """For each row the number of its shape, -1 where it has none; and the rows themselves, unmasked."""

    shape: NDArray[np.intp]
    row: Words


class _Slots(NamedTuple):
    """Entries by the topmost bits of their hash. Never changed: readers keep one while the next is made.

    others: those that found their slot taken, by the bits below; None where all found a place.
    """

    shift: np.uint64
    hashes: Words
    entry: NDArray[np.int32]
    others: _Slots | None

    def find(self, hashes: Words) -> NDArray[np.int32]:
        """The entry of each hash, 0 where there is none."""
        slot = (hashes >> self.shift).astype(np.intp)
        entry = self.entry.take(slot)
        missed = np.flatnonzero(self.hashes.take(slot) != hashes)
        if len(missed):
            entry[missed] = 0 if self.others is None else self.others.find(hashes[missed] << _U64(_MOST))
        return entry


class _Entries(NamedTuple):
    """What a table holds. Never changed: readers keep one while the next is made.

    width: bytes of a row, as many as the longest body needs. mask, factors: for rows of that width, see
    `_masks` and `_factors`. shape, body, row: (entries,) of each entry; entry 0 stands for none.
    """

    width: int
    mask: Words
    factors: Words
    shape: Places
    body: Places
    row: Words
    slots: _Slots


class ShapeTable:
    """Shapes of one layout whose bodies are of more than `above` bytes and of `limit` at most."""

    def __init__(self, layout: Layout, limit: int) -> None:
        self.layout, self.limit = layout, limit
        self.above = max((lower for lower in LIMITS if lower < limit), default=0)
        none = np.zeros(1, np.intp)
        self._entries = self._laid_out(_NARROWEST, none - 1, none, np.zeros((1, _NARROWEST // 8), _U64))
        self._lock = threading.Lock()

    def _laid_out(self, width: int, shape: Places, body: Places, row: Words) -> _Entries:
        factors = _factors(width)
        bits = max(_FEWEST, min(_MOST, (len(shape) * _CROWD - 1).bit_length()))
        slots = _slots(_hashes(row[1:], factors), np.arange(1, len(shape), dtype=np.int32), bits)
        return _Entries(width, _masks(self.layout, width, self.limit), factors, shape, body, row, slots)

    def add(self, numbers: list[int], shapes: list[Shape]) -> None:
        """Enter shapes, `numbers` being theirs in the book."""
        after, size = self.layout
        with self._lock:
            now = self._entries
            bodies = [len(shape.constant) + size for shape in shapes]
            width = max(now.width, -(-max(bodies) // 8) * 8)
            rows = np.zeros((len(shapes), width), np.uint8)
            for row, shape in zip(rows, shapes, strict=True):
                constant = np.frombuffer(shape.constant, np.uint8)
                before = len(constant) - after
                end = width - after
                row[end - size - before : end - size] = constant[:before]
                row[end:] = constant[before:]
            wider = np.zeros((len(now.row), (width - now.width) // 8), _U64)
            self._entries = self._laid_out(
                width,
                np.concatenate([now.shape, np.array(numbers, np.intp)]),
                np.concatenate([now.body, np.array(bodies, np.intp)]),
                np.concatenate([np.concatenate([wider, now.row], axis=1), rows.view("<u8")]),
            )

    def find(self, block: Block, end: Places, body: Places) -> Found:
        """The shapes of records whose data end at `end`, with bodies of `body` bytes, at most `limit`."""
        known = self._entries
        row = block.words(end - known.width, known.width)
        masked = row & known.mask.take(body, axis=0)
        entry = known.slots.find(_hashes(masked, known.factors))
        masked[entry == 0] = 0  # as the row of entry 0
        # Others may only share a hash with their entries.
        rows, bodies = known.row.take(entry, axis=0), known.body.take(entry)
        wrong = (bodies != body) & (bodies != 0)
        if wrong.any() or not np.array_equal(rows, masked):
            entry[wrong | (rows != masked).any(axis=1)] = 0
        return Found(known.shape.take(entry), row)


def _factors(width: int) -> Words:
    """By word of a row, counted from its end: zeros in front of a row leave its hash as it is."""
    return _FACTORS[width // 8 - 1 :: -1].copy()


def _hashes(rows: Words, factors: Words) -> Words:
    """Of each row. The shift brings high bytes down, which multiplication only carries upwards."""
    folded = rows >> _U64(32)
    folded ^= rows
    hashes: Words = folded @ factors
    return hashes


def _slots(hashes: Words, entry: NDArray[np.int32], bits: int) -> _Slots:
    """A table of 2**bits slots for entries and their hashes."""
    shift = _U64(64 - bits)
    slot, first = distinct((hashes >> shift).astype(np.intp))
    kept = ~(np.arange(1 << bits, dtype=_U64) << shift)  # an empty slot keeps a hash that belongs elsewhere
    kept[slot] = hashes[first]
    entries = np.zeros(1 << bits, np.int32)
    entries[slot] = entry[first]
    left = np.delete(np.arange(len(hashes)), first)
    # Of equal hashes only one has a place; the others are read singly.
    left = left[kept[hashes[left] >> shift] != hashes[left]]
    others = _slots(hashes[left] << _U64(_MOST), entry[left], _FEWEST) if len(left) else None
    return _Slots(shift, kept, entries, others)


def _masks(layout: Layout, width: int, limit: int) -> Words:
    """(limit + 1, width / 8): by length of the body, the bytes of a record's row that are constant.

    None are where the body is too short for the layout or too long for the row.
    """
    after, size = layout
    masks = np.zeros((limit + 1, width), np.uint8)
    for body in range(after + size, width + 1):
        masks[body, width - body : width - after - size] = 255
        masks[body, width - after :] = 255
    return masks.view("<u8")


class ShapeTables:
    """All tables of a book, made as layouts occur and filled as shapes are added."""

    def __init__(self, book: ShapeBook) -> None:
        self._book = book
        self._tables: dict[tuple[Layout, int], ShapeTable] = {}
        self._entered = 0  # shapes of the book that are in their tables
        self._lock = threading.Lock()

    def table(self, layout: Layout, limit: int) -> ShapeTable | None:
        """The table of a layout, or None where no shape of it has been seen."""
        return self._tables.get((layout, limit))

    def catch_up(self) -> None:
        """Enter the shapes that were added to the book."""
        if self._entered == len(self._book.shapes):
            return
        with self._lock:
            news: dict[tuple[Layout, int], tuple[list[int], list[Shape]]] = {}
            shapes = self._book.shapes
            while self._entered < len(shapes):
                shape = shapes[self._entered]
                body = len(shape.constant) + shape.layout.width
                for limit in LIMITS:
                    if body <= limit:
                        numbers, entered = news.setdefault((shape.layout, limit), ([], []))
                        numbers.append(self._entered)
                        entered.append(shape)
                        break
                self._entered += 1
            for key, (numbers, entered) in news.items():
                self._tables.setdefault(key, ShapeTable(*key)).add(numbers, entered)


TABLES = ShapeTables(BOOK)

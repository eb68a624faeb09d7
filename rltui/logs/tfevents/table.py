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

from rltui.logs.tfevents.block import Block, Places, Words, distinct
from rltui.logs.tfevents.shapes import BOOK, Book, Layout, Shape

WIDTHS = (64, 128, 248)  # bytes of a row; a body takes the first that holds it

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
        entry = self.entry[slot]
        missed = np.flatnonzero(self.hashes[slot] != hashes)
        if len(missed):
            entry[missed] = 0 if self.others is None else self.others.find(hashes[missed] << _U64(_MOST))
        return entry


class Table:
    """Shapes of one layout whose bodies are of more than `above` bytes and of `width` at most."""

    def __init__(self, layout: Layout, width: int) -> None:
        self.layout, self.width = layout, width
        self.above = max((narrower for narrower in WIDTHS if narrower < width), default=0)
        self._mask = _masks(layout, width)
        self._factors = _FACTORS[: width // 8].copy()
        self._shapes = np.full(1, -1, np.intp)  # by entry
        self._bodies = np.zeros(1, np.intp)
        self._rows = np.zeros((1, width // 8), _U64)
        self._hash = np.zeros(1, _U64)
        self._slots = _slots(self._hash[1:], np.zeros(0, np.int32), _FEWEST)
        self._lock = threading.Lock()

    def add(self, numbers: list[int], shapes: list[Shape]) -> None:
        """Enter shapes, `numbers` being theirs in the book."""
        after, width = self.layout
        rows = np.zeros((len(shapes), self.width), np.uint8)
        for row, shape in zip(rows, shapes, strict=True):
            constant = np.frombuffer(shape.constant, np.uint8)
            before = len(constant) - after
            end = self.width - after
            row[end - width - before : end - width] = constant[:before]
            row[end:] = constant[before:]
        words = rows.view("<u8")
        bodies = [len(shape.constant) + width for shape in shapes]
        with self._lock:
            self._shapes = np.concatenate([self._shapes, np.array(numbers, np.intp)])
            self._bodies = np.concatenate([self._bodies, np.array(bodies, np.intp)])
            self._rows = np.concatenate([self._rows, words])
            self._hash = np.concatenate([self._hash, self._hashes(words)])
            bits = max(_FEWEST, min(_MOST, (len(self._shapes) * _CROWD - 1).bit_length()))
            entries = np.arange(1, len(self._hash), dtype=np.int32)
            self._slots = _slots(self._hash[1:], entries, bits)

    def find(self, block: Block, end: Places, body: Places) -> Found:
        """The shapes of records whose data end at `end`, with bodies of `body` bytes, at most `width`."""
        slots = self._slots
        row = block.words(end - self.width, self.width)
        masked = row & self._mask.take(body, axis=0)
        hashes = self._hashes(masked)
        entry = slots.find(hashes)
        hits = np.flatnonzero(entry)
        if len(hits) < len(entry):
            masked, body = masked.take(hits, axis=0), body.take(hits)
        self._compare(entry, hits, masked, body)
        return Found(self._shapes[entry], row)

    def _compare(self, entry: NDArray[np.int32], hits: Places, masked: Words, body: Places) -> None:
        """Take back the entries of those `hits` that only share a hash with them."""
        chosen = entry.take(hits)
        rows = self._rows.take(chosen, axis=0)
        if not (np.array_equal(rows, masked) and np.array_equal(self._bodies[chosen], body)):
            wrong = (rows != masked).any(axis=1) | (self._bodies[chosen] != body)
            entry[hits[wrong]] = 0

    def _hashes(self, rows: Words) -> Words:
        """Of each row. The shift brings high bytes down, which multiplication only carries upwards."""
        folded = rows >> _U64(32)
        folded ^= rows
        hashes: Words = folded @ self._factors
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


def _masks(layout: Layout, width: int) -> Words:
    """(width + 1, width / 8): by length of the body, the bytes of a record's row that are constant."""
    after, size = layout
    masks = np.zeros((width + 1, width), np.uint8)
    for body in range(after + size, width + 1):
        masks[body, width - body : width - after - size] = 255
        masks[body, width - after :] = 255
    return masks.view("<u8")


class Tables:
    """All tables of a book, made as layouts occur and filled as shapes are added."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._tables: dict[tuple[Layout, int], Table] = {}
        self._entered = 0  # shapes of the book that are in their tables
        self._lock = threading.Lock()

    def table(self, layout: Layout, width: int) -> Table | None:
        """The table of a layout, or None where no shape of it has been seen."""
        return self._tables.get((layout, width))

    def all(self) -> list[Table]:
        """All tables there are."""
        return list(self._tables.values())

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
                for width in WIDTHS:
                    if body <= width:
                        numbers, entered = news.setdefault((shape.layout, width), ([], []))
                        numbers.append(self._entered)
                        entered.append(shape)
                        break
                self._entered += 1
            for key, (numbers, entered) in news.items():
                self._tables.setdefault(key, Table(*key)).add(numbers, entered)


TABLES = Tables(BOOK)

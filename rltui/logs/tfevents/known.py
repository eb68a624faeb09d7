"""What one log knows: the shapes of record that have occurred in it, and the tag that each means."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from rltui.logs.tfevents import event, shapes
from rltui.logs.tfevents.shapes import SIMPLE, Layout
from rltui.logs.tfevents.tags import Tags

_LAYOUTS_TRIED = 6


class Known:
    """The shapes of one log.

    layouts: those that occurred, the last one first, since it will most likely come again.
    constants: for each layout, the constant bytes of a shape -> the number of its tag.
    by_shape: (shapes of the book,) int32, the number of the tag by number of the shape, -1 where it
    has not occurred in this log.
    """

    def __init__(self, tags: Tags, book: shapes.Book = shapes.BOOK) -> None:
        self.tags = tags
        self.book = book
        self.layouts = [SIMPLE]
        self.constants: dict[Layout, dict[bytes, int]] = {}
        self.by_shape: NDArray[np.int32] = np.full(0, -1, np.int32)

    def remember(self, parsed: event.Event, data: bytes) -> None:
        """Keep the shape of a record whose scalar was just taken, and what it means here."""
        shape = shapes.shape_of(parsed, data)
        if shape is None or not (shape.declared or self.tags.is_scalar(shape.tag)):
            return
        at = self.book.add(shape)
        if at < 0:
            return
        number = self.tags.number(shape.tag)
        if at >= len(self.by_shape):
            grown = np.full(len(self.book.shapes), -1, np.int32)
            grown[: len(self.by_shape)] = self.by_shape
            self.by_shape = grown
        self.by_shape[at] = number
        layout = shape.layout
        self.constants.setdefault(layout, {})[self.book.shapes[at].constant] = number
        if self.layouts[0] != layout:
            self.layouts = [layout, *(other for other in self.layouts if other != layout)][:_LAYOUTS_TRIED]

    def fork(self) -> Known:
        """The same knowledge, for a look ahead that must not teach the reading anything."""
        other = Known(self.tags.fork(), self.book)
        other.layouts, other.by_shape = list(self.layouts), self.by_shape.copy()
        other.constants = {layout: dict(constants) for layout, constants in self.constants.items()}
        return other

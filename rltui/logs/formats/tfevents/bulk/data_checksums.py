"""Data CRCs as columns: a look-up for each byte that changes from point to point, one for all others.

See `crc` for why that is enough. A record of a shape is ``09 wall_time [10 step] body``; what does not
change is the shape and the length of its step.
"""

from __future__ import annotations

import google_crc32c
import numpy as np
from numpy.typing import NDArray

from rltui.logs.formats.tfevents.bulk.block import Block, Places, Words, distinct
from rltui.logs.formats.tfevents.framing import masked_crc
from rltui.logs.formats.tfevents.templates.record_template import (
    BODY,
    STEP_KEY,
    WALL_KEY,
    Layout,
    Shape,
    ShapeBook,
)

_STEPS = 8  # lengths of a step: 0 where there is none, up to 7


class DataChecksums:
    """The CRCs of the shapes of a book, their changing bytes being zero, by length of the step."""

    def __init__(self, book: ShapeBook) -> None:
        self._book = book
        self._crc = np.zeros((0, _STEPS), np.uint32)
        self._there = np.zeros((0, _STEPS), np.bool_)

    def sound(
        self,
        block: Block,
        layout: Layout,
        shape: NDArray[np.intp],
        end: Places,
        body: Places,
        opening: Words,
        step_width: Places,
        step: Words,
    ) -> NDArray[np.bool_]:
        """(n,) whether the data CRCs of records of known shapes are right.

        end: where the data end, and their CRC stands. body: bytes from the step to there. opening: as in
        `framing.Frames`. step_width, step: the varint of the step as it stands in the file.
        """
        table = masked_crc.linear().ravel()
        found = self._constant(shape, step_width)
        # Bytes behind the wall time: less than 256, so 16 bits hold their number and a byte.
        behind = (np.where(step_width > 0, step_width + 1, 0) + body).astype(np.uint16) << np.uint16(8)
        wall_bytes = np.ascontiguousarray(opening[:, 1]).view(np.uint8).reshape(-1, 8)
        for i in range(8):
            found ^= table[(7 - i) << 8 :].take(behind | wall_bytes[:, i], mode="clip")
        step_bytes = step.view(np.uint8).reshape(-1, 8)  # zeros behind the varint, which add nothing
        behind = (body + step_width - _STEPS).astype(np.uint16) << np.uint16(8)  # a body has eight and more
        for i in range(int(step_width.max(initial=0))):
            found ^= table[(_STEPS - 1 - i) << 8 :].take(behind | step_bytes[:, i], mode="clip")
        after, size = layout
        value = block.gather(end - after - size, size)
        for i in range(size):
            found ^= table[(after + size - 1 - i) << 8 :].take(value[:, i], mode="clip")
        stored: NDArray[np.uint32] = block.gather(end, 4).view("<u4")[:, 0]
        right: NDArray[np.bool_] = masked_crc.masked_columns(found) == stored
        return right

    def _constant(self, shape: NDArray[np.intp], step_width: Places) -> NDArray[np.uint32]:
        """The CRCs of the constant parts of records, computed the first time that they are asked for."""
        have, want = len(self._crc), len(self._book.shapes)
        if have < want:
            self._crc = np.concatenate([self._crc, np.zeros((want - have, _STEPS), np.uint32)])
            self._there = np.concatenate([self._there, np.zeros((want - have, _STEPS), np.bool_)])
        missing = ~self._there[shape, step_width]
        if missing.any():
            pairs, _ = distinct(shape[missing] * _STEPS + step_width[missing])
            for number, width in (divmod(pair, _STEPS) for pair in pairs.tolist()):
                self._crc[number, width] = _constant(self._book.shapes[number], width)
                self._there[number, width] = True
        constant: NDArray[np.uint32] = self._crc[shape, step_width]
        return constant


def _constant(shape: Shape, step_width: int) -> int:
    after, size = shape.layout
    before = len(shape.constant) - after
    step = bytes([STEP_KEY]) + bytes(step_width) if step_width else b""
    head = bytes([WALL_KEY]) + bytes(BODY - 1) + step
    return int(google_crc32c.value(head + shape.constant[:before] + bytes(size) + shape.constant[before:]))

"""Damage to bytes, the same for every format: flipped bits, zeros, gaps, noise, repeats, cuts, words."""

from __future__ import annotations

import random
from collections.abc import Sequence

SIZES = (1, 2, 4, 8, 16, 64, 300, 4096)


def damaged(
    data: bytes, draw: random.Random, *, times: int = 1, words: Sequence[bytes] = ()
) -> tuple[bytes, int]:
    """The bytes with one to `times` damages, and how many of the first of them are as they were.

    words: what a reader of this format may stumble over; half of the damages then put in one of them.
    """
    out = bytearray(data)
    first = len(out)
    for _ in range(draw.randint(1, times)):
        place = draw.randrange(len(out) + 1)
        if words and draw.random() < 0.5:
            gone = draw.randint(0, 30) if draw.random() < 0.4 else 0
            out[place : place + gone] = draw.choice(words) * draw.randint(1, 2)
        else:
            _damage(out, place, draw)
        first = min(first, place)
    return bytes(out), min(first, len(out))


def _damage(out: bytearray, place: int, draw: random.Random) -> None:
    size, kind = draw.choice(SIZES), draw.randrange(8)
    if kind == 0 and place < len(out):
        out[place] ^= 1 << draw.randrange(8)
    elif kind == 1:
        out[place : place + size] = bytes(min(size, len(out) - place))
    elif kind == 2:
        del out[place : place + size]
    elif kind == 3:
        out[place:place] = draw.randbytes(size)
    elif kind == 4:
        out[place:place] = out[max(0, place - size) : place]
    elif kind == 5:
        del out[place:]
    elif kind == 6 and place < len(out):
        out[place] = draw.randrange(256)
    else:
        out[place : place + size] = b"\xff" * min(size, len(out) - place)

"""What a kind of condition says of m moments."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rltui.rules.track import Floats, Ints
from rltui.rules.window import Window

Bools = NDArray[np.bool_]


@dataclass(slots=True)
class Verdict:
    """All of shape (m,), lists where m is 1.

    `on`: the condition holds. `off`: it has clearly ceased; between the two nothing changes.
    """

    on: Bools | list[bool]
    off: Bools | list[bool]
    value: Floats | list[float]
    limit: Floats | list[float]
    began: Ints | list[int] | None = None  # position of the tick at which it began; None: the moment itself
    upward: bool = True  # whether the bad side lies above the limit, for latched rules


def quiet(window: Window) -> Verdict:
    """Nothing holds and nothing ceases: not enough is known."""
    none = np.zeros(len(window), np.bool_)
    nan = np.full(len(window), np.nan)
    return Verdict(none, none, nan, nan)


def first_of(window: Window, beyond: Bools, length: int) -> Ints:
    """(m,) position of the first tick of each row of `beyond` (m, length) that is true."""
    found: Ints = window.at - (length - 1) + beyond.argmax(axis=1)
    return np.maximum(found, 0)

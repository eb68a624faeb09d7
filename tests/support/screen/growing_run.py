"""A run of 60 metrics that is written while a screen watches it: `Paced(folder).step()` appends one step."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import numpy as np

from tests.support.logs import tfwriter

TAGS = tuple(tfwriter.TAGS[:60])


class Paced:
    """An event file below `folder/name` with `history` steps, the last of them `every` seconds ago."""

    # What was written before a moment, and the dice after that: many tests begin at the same moment.
    _histories: ClassVar[dict[object, tuple[bytes, np.random.Generator]]] = {}

    def __init__(
        self,
        folder: Path,
        *,
        name: str = "grpo-7b",
        history: int = 400,
        every: float = 1.0,
        tags: tuple[str, ...] = TAGS,
        seed: int = 7,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._clock = clock
        self.tags = tags
        self.at = 0
        self._draw = np.random.default_rng(seed)
        self._level = np.abs(self._draw.normal(1.0, 0.6, len(tags))) + 0.1
        path = folder / name / "events.out.tfevents.1763600000.host.1.0"
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        now = clock()
        key = (type(self), history, every, tags, seed, now)
        if key not in self._histories:
            rows = [self._row(step, now - (history - step + 1) * every) for step in range(1, history + 1)]
            written = tfwriter.version(now - (history + 1) * every) + b"".join(rows)
            self._histories[key] = (written, copy.deepcopy(self._draw))
        written, self._draw = copy.deepcopy(self._histories[key])
        self._write(written)
        self.at = history

    def _row(self, step: int, wall: float) -> bytes:
        count = len(self.tags)
        wave = 1 + 0.2 * np.sin(step / 90 + np.arange(count)) + self._draw.normal(0, 0.04, count)
        values = self._level * wave
        return b"".join(
            tfwriter.event(step, tfwriter.simple(tag, float(value)), wall=wall)
            for tag, value in zip(self.tags, values, strict=True)
        )

    def _write(self, data: bytes) -> None:
        with self._path.open("ab", buffering=0) as file:
            file.write(data)

    def step(self) -> None:
        """One more step, now."""
        self.at += 1
        self._write(self._row(self.at, self._clock()))

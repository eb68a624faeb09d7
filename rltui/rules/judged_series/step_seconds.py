"""How long a step takes by the times at which points were logged, for writers that tell no times."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints


class StepSeconds:
    """Turns the (step, wall time) of one series into seconds per step, whatever pieces they come in."""

    def __init__(self) -> None:
        self._step = 0
        self._wall = math.nan

    def feed(self, steps: Ints, walls: Floats) -> tuple[Ints, Floats]:
        """Steps and seconds per step since the point before; nothing where clock or step stood still."""
        if len(steps) == 1:
            step, wall = int(steps[0]), float(walls[0])
            advance, seconds = step - self._step, wall - self._wall
            if advance > 0 or math.isnan(self._wall):
                self._step, self._wall = step, wall
            if advance > 0 and seconds > 0:
                return steps, np.array([seconds / advance])
            return steps[:0], np.empty(0)
        all_steps = np.concatenate(([self._step], steps))
        all_walls = np.concatenate(([self._wall], walls))
        last = np.maximum.accumulate(all_steps)
        new = np.concatenate(([True], last[1:] > last[:-1]))
        if math.isnan(self._wall):  # nothing came before: the first point is where it begins
            new[0], new[1] = False, True
        kept_steps, kept_walls = all_steps[new], all_walls[new]
        self._step, self._wall = int(kept_steps[-1]), float(kept_walls[-1])
        passed, took = np.diff(kept_steps), np.diff(kept_walls)
        with np.errstate(invalid="ignore"):
            known = (passed > 0) & (took > 0)
        return kept_steps[1:][known], took[known] / passed[known]

    def rewind(self) -> None:
        """Begin anew: what was between two attempts is no step."""
        self._step, self._wall = 0, math.nan

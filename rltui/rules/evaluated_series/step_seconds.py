"""Seconds per step from the wall times of points, for logs without a metric for it."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import Floats, Ints


class StepSeconds:
    """Turns the steps and wall times of one series into seconds per step."""

    def __init__(self) -> None:
        self._step = 0
        self._wall = math.nan

    def feed(self, steps: Ints, walls: Floats) -> tuple[Ints, Floats]:
        """Steps, and seconds per step since the point before, where both step and clock advanced."""
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
        if math.isnan(self._wall):  # the first point only begins the measurement
            new[0], new[1] = False, True
        kept_steps, kept_walls = all_steps[new], all_walls[new]
        self._step, self._wall = int(kept_steps[-1]), float(kept_walls[-1])
        passed, took = np.diff(kept_steps), np.diff(kept_walls)
        with np.errstate(invalid="ignore"):
            known = (passed > 0) & (took > 0)
        return kept_steps[1:][known], took[known] / passed[known]

    def rewind(self) -> None:
        """Start again, since the time between two attempts is not that of a step."""
        self._step, self._wall = 0, math.nan

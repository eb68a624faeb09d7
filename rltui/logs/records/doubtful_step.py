"""What the best step key of a record counts: it may be a plan, or the length of an episode.

`total_timesteps` counts in some logs, and is the planned number of steps beside a counting `timestep` in
others. `step` beside `episode` counts on, restarts in each episode, or is the number of steps that the
episode took. The first records tell which: they are held until then, so that no step changes afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rltui.common.named_tuple import NamedTuple
from rltui.logs.records.record_keys import compared, log_keys

MOST_HELD = 6  # records; so many lengths increase by chance in one of 720 logs


class Doubt(NamedTuple):
    """A key that may be no counter of all steps, and the counter beside it.

    is_plan: what the key is in that case: the planned number of steps, of which the other key is the step, or
    the length of an episode, with which the steps so far are counted.
    """

    key: str
    other: str
    is_plan: bool


def doubt_of(step_keys: Sequence[str]) -> Doubt | None:
    """The doubt about the first of some step keys; None if it is a step for certain."""
    if len(step_keys) < 2:
        return None
    known = log_keys().doubtful_steps
    best, others = step_keys[0], step_keys[1:]
    if compared(best) in known.plans:
        other = _first(others, known.counted)
        return None if other is None else Doubt(best, other, is_plan=True)
    if compared(best) in known.lengths:
        other = _first(others, known.episodes)
        return None if other is None else Doubt(best, other, is_plan=False)
    return None


def is_no_counter(doubt: Doubt, rows: Sequence[tuple[int, int]]) -> bool | None:
    """Whether the key counts no steps, by the values of both keys in the first records; None: unknown.

    A plan stays what it is while the other counter, below it, increases. Lengths fall at some time, although
    each record is of the next episode.
    """
    for (before, count), (value, next_count) in pairwise(rows):
        if doubt.is_plan:
            if value != before or value < next_count:
                return False
            if next_count > count:
                return True
        elif next_count != count + 1:
            return False
        elif value < before:
            return True
    return False if len(rows) >= MOST_HELD else None


def _first(keys: Iterable[str], known: frozenset[str]) -> str | None:
    return next((key for key in keys if compared(key) in known), None)

"""What the best step key of a record counts: it may be a plan, or the length of an episode.

`total_timesteps` counts in some logs, and is the planned number of steps beside a counting `timestep` in
others. `step` beside `episode` counts on, restarts in each episode, or is the number of steps that the
episode took. `steps` beside `episode` is the length of an episode, or counts the steps of all so far.
The first records tell which: they are held until then, so that no step changes afterwards.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from rltui.common.named_tuple import NamedTuple
from rltui.logs.records.record_keys import compared, log_keys

MOST_HELD = 6  # records; so many lengths increase by chance in one of 720 logs
# A count of all steps grows by the length of an episode with each. Mean lengths of an agent that learns to
# live longer grow as well, but by less than the steps of a short episode, or ever faster.
_SHORT_EPISODE = 4
_EVEN = 3


class Doubt(NamedTuple):
    """A key that may be no counter of all steps, and the counter beside it.

    is_plan: what the key is in that case: the planned number of steps, of which the other key is the step, or
    the length of an episode, with which the steps so far are counted. may_be_total: it is no step key by
    itself, and may count all steps.
    """

    key: str
    other: str
    is_plan: bool
    may_be_total: bool = False


def doubt_of(step_keys: Sequence[str], keys: Iterable[str] = ()) -> Doubt | None:
    """The doubt about the first of some step keys; None if it is a step for certain. keys: all there are."""
    known = log_keys().doubtful_steps
    if len(step_keys) == 1 and compared(step_keys[0]) in known.episodes:
        total = _first(keys, known.totals)
        return None if total is None else Doubt(total, step_keys[0], is_plan=False, may_be_total=True)
    if len(step_keys) < 2:
        return None
    best, others = step_keys[0], step_keys[1:]
    if compared(best) in known.plans:
        other = _first(others, known.counted)
        return None if other is None else Doubt(best, other, is_plan=True)
    if compared(best) in known.lengths:
        other = _first(others, known.episodes)
        return None if other is None else Doubt(best, other, is_plan=False)
    return None


def is_justified(doubt: Doubt, rows: Sequence[tuple[int, int]]) -> bool | None:
    """Whether a key is not what its name says, by the values of both in the first records; None: unknown.

    A plan stays what it is while the other counter, below it, increases. Lengths fall at some time, although
    each record is of the next episode.
    """
    if doubt.may_be_total:
        return _is_total(rows)
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


def _is_total(rows: Sequence[tuple[int, int]]) -> bool | None:
    """Whether the first of each row counts the steps of all episodes so far; None: unknown."""
    start = [(0, min(rows[0][1] - 1, 0))] if rows else []  # episodes are counted from 0 or 1
    grown = [(value - before, count - old) for (before, old), (value, count) in pairwise([*start, *rows])]
    if any(episodes < 1 or steps < _SHORT_EPISODE * episodes for steps, episodes in grown):
        return False
    rates = [steps / episodes for steps, episodes in grown]
    if any(episodes > 1 for _, episodes in grown) and max(rates) > _EVEN * min(rates):
        return False
    return True if len(rows) >= MOST_HELD else None


def _first(keys: Iterable[str], known: frozenset[str]) -> str | None:
    return next((key for key in keys if compared(key) in known), None)

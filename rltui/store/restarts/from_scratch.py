"""Tells attempts that began a training from scratch from those that resumed one.

A resume continues from a checkpoint: what was logged before the checkpoint belongs to both attempts, and what
the earlier attempt logged beyond it is superseded. An attempt that begins where the earlier one had begun
shares nothing with it: it is another training whose steps count from the start again, such as a session
appended to the same file or a complete run in the same folder. The points of the earlier one remain valid.

An attempt begins at that point if most of the tags that went back begin before the earlier attempt's second
logged step or, where its steps are unevenly spaced (lengths of episodes), before its `HEAD_STEPS`th. The same
holds if it logs at another interval and its first step is one such interval, so that it counts from zero. A
start that the writer declared, and a file written in place of another one, discard earlier points on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from rltui.store.points import HIGHEST
from rltui.store.restarts.segments import HEAD_STEPS, Segment

EVEN = 1.5  # largest ratio of the first distances between steps that counts as evenly spaced


def from_scratch(segments: Sequence[Segment], before: Callable[[Segment], list[Segment]]) -> set[int]:
    """The segments that began from scratch, by `id`. before: the segments that one follows, in order."""
    found: set[int] = set()
    for late in segments:
        if late.reason == "session-start" or late.first_step == HIGHEST:
            continue
        earlier = before(late)
        if any(early.log.path == late.log.path and early.log is not late.log for early in earlier):
            continue
        newest = max((at for at, early in enumerate(earlier) if id(early) in found), default=0)
        for early in earlier[newest:]:
            begins_at_start = _begins_at_start_of(early, late)
            if begins_at_start is not None:
                if begins_at_start:
                    found.add(id(late))
                break
    return found


def _begins_at_start_of(early: Segment, late: Segment) -> bool | None:
    """Whether `late` begins where `early` had begun; None where they have no tag in common."""
    size = min(len(late.first), len(early.first))
    shared = (late.first[:size] < HIGHEST) & (early.first[:size] < HIGHEST)
    if not early.head or not shared.any():
        return None
    # A new tag in front of those that went back counts to the earlier attempt with its first point.
    went_back = shared & (early.high[:size] >= late.first[:size])
    shared = went_back if went_back.any() else shared
    length = min(_length_of_start(early.head), HIGHEST)
    ends = np.minimum(early.first[:size][shared], HIGHEST - length) + length  # HIGHEST rather than beyond it
    at_start = late.first[:size][shared] < ends
    return _counts_from_zero(late.head, early.head) or bool(2 * np.count_nonzero(at_start) > len(at_start))


def _counts_from_zero(head: list[int], earlier: list[int]) -> bool:
    """Whether an attempt logs at another interval than the earlier one, and its first step is one interval.

    At the same interval it may also continue after the first step of the earlier one.
    """
    if len(head) < 2 or head[0] != head[1] - head[0]:
        return False
    return len(earlier) < 2 or earlier[1] - earlier[0] != head[0]


def _length_of_start(head: list[int]) -> int:
    """How many steps the start of an attempt covers, by its first distinct steps."""
    gaps = [late - early for early, late in pairwise(head)]
    if not gaps:
        return 1
    uneven = len(head) == HEAD_STEPS and max(gaps) > EVEN * min(gaps)
    return head[-1] - head[0] if uneven else gaps[0]

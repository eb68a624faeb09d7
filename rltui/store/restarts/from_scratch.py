"""Which attempts began a training from scratch, told from those that resumed one.

A resume goes on from a checkpoint: what was logged before it belongs to both attempts, and what the earlier
one logged beyond it was orphaned. An attempt that begins where the earlier one had begun shares nothing with
it. It is another training whose steps count from the start again: a session appended to the same file, a
complete run in the same folder. What the earlier one logged is as true as before, and is not superseded.

An attempt begins there when most of the tags that both have begin before the earlier one had gone on: before
its second logged step, or, where its steps are apart by whatever length episodes had, before its `HEAD`th.
Or it logs at another interval, and its first step is one such interval: it counts from zero. A start that the
writer declared, and a file written in place of another one, discard what was there on purpose.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from rltui.store.points import HIGHEST
from rltui.store.restarts.attempts import HEAD, Segment

EVEN = 1.5  # the largest of the first distances over the smallest, up to which steps are evenly spaced


def from_scratch(segments: Sequence[Segment], before: Callable[[Segment], list[Segment]]) -> set[int]:
    """Which segments began from scratch, by `id`. before: the segments that one follows, in order."""
    found: set[int] = set()
    for late in segments:
        if late.reason == "session-start" or late.first_step == HIGHEST:
            continue
        earlier = before(late)
        if any(early.log.path == late.log.path and early.log is not late.log for early in earlier):
            continue
        newest = max((at for at, early in enumerate(earlier) if id(early) in found), default=0)
        for early in earlier[newest:]:
            begins_there = _begins_there(late, early)
            if begins_there is not None:
                if begins_there:
                    found.add(id(late))
                break
    return found


def _begins_there(late: Segment, early: Segment) -> bool | None:
    """Whether one begins where an earlier one had begun; None where they have no tag in common."""
    size = min(len(late.first), len(early.first))
    shared = (late.first[:size] < HIGHEST) & (early.first[:size] < HIGHEST)
    if not early.head or not shared.any():
        return None
    there = late.first[:size][shared] < early.first[:size][shared] + _beginning(early.head)
    return _counts_from_zero(late.head, early.head) or bool(2 * np.count_nonzero(there) > len(there))


def _counts_from_zero(head: list[int], earlier: list[int]) -> bool:
    """Whether an attempt logs at another interval than the earlier one, and its first step is one interval.

    At the same interval it may as well go on behind the first step of the earlier one.
    """
    if len(head) < 2 or head[0] != head[1] - head[0]:
        return False
    return len(earlier) < 2 or earlier[1] - earlier[0] != head[0]


def _beginning(head: list[int]) -> int:
    """How many steps the beginning of an attempt is long, by its first distinct steps."""
    gaps = [late - early for early, late in pairwise(head)]
    if not gaps:
        return 1
    uneven = len(head) == HEAD and max(gaps) > EVEN * min(gaps)
    return head[-1] - head[0] if uneven else gaps[0]

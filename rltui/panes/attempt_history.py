"""The attempts of a training in words: when it was started again, from where, and what that replaced."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rltui.draw.numbers import format_duration, format_step

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.store.model import Attempt

SHOWN = 6  # attempts that are told one by one, the newest
SLACK = 60.0  # seconds by which clocks of two starts may disagree

_REASON = {"session-start": "declared by the writer", "rewind": "its steps went back", "file": "a later log"}


@dataclass(frozen=True, slots=True)
class Start:
    """One attempt in words. `again` are steps that had been reached before and were trained again."""

    number: int
    first_step: int
    last_step: int
    text: str
    again: int
    superseded: int  # points of earlier attempts that it replaced
    path: str


_KNOWN: WeakKeyDictionary[RunView, tuple[object, tuple[Attempt, ...]]] = WeakKeyDictionary()


def attempts_of(view: RunView) -> tuple[Attempt, ...]:
    """The attempts of a run; found anew when a start was noticed, points were superseded, or it has doubled.

    A run of hundreds of logs takes a while to sort into attempts: not at each point.
    """
    run = view.run
    segments = len(getattr(getattr(run, "restarts", None), "segments", ())) or len(run.attempts)
    key = (segments, getattr(run, "superseded", 0), run.points.bit_length())
    known = _KNOWN.get(view)
    if known is None or known[0] != key:
        known = _KNOWN[view] = (key, tuple(run.attempts))
    return known[1]


def restarts(view: RunView) -> tuple[int, ...]:
    """The steps at which later attempts began."""
    return tuple(attempt.first_step for attempt in attempts_of(view)[1:])


def starts(view: RunView) -> list[Start]:
    """The attempts of a run in order; empty for a training that was never started again."""
    attempts = attempts_of(view)
    if len(attempts) < 2:
        return []
    return [_start(attempts, index) for index in range(len(attempts))]


def _start(attempts: Sequence[Attempt], index: int) -> Start:
    one = attempts[index]
    if not index:
        text = f"steps {format_step(one.first_step)} to {format_step(one.last_step)}"
        return Start(1, one.first_step, one.last_step, text, 0, 0, one.path)
    reached = max(before.last_step for before in attempts[:index])
    first = min(before.first_step for before in attempts[:index])
    again = max(reached - one.first_step + 1, 0)
    where = format_step(one.first_step)
    word = f"started over at step {where}" if one.first_step <= first else f"resumed at step {where}"
    if not again:
        word = f"went on at step {where}"
    text = f"{word} after {format_step(reached)}"
    since = one.first_wall - attempts[0].first_wall
    if math.isfinite(since) and since > 0:
        text += f", {format_duration(since)} after the first start"
    if again:
        text += f"; {again:,} {'step' if again == 1 else 'steps'} superseded"
    if one.superseded:
        text += f" ({one.superseded:,} points)"
    text += f"; {_REASON.get(one.reason, one.reason)}"
    return Start(index + 1, one.first_step, one.last_step, text, again, one.superseded, one.path)


def lineage_text(view: RunView) -> list[str]:
    """A line per attempt, the newest `SHOWN`; empty without restarts."""
    found = starts(view)
    lines = [f"attempt {one.number}: {one.text}" for one in found[-SHOWN:]]
    if len(found) > SHOWN:
        lines.insert(0, f"{len(found) - SHOWN:,} earlier attempts")
    return lines


def forerunner(view: RunView, others: Sequence[RunView]) -> RunView | None:
    """The run in a folder beside this one that it seems to continue, the latest; None without one."""
    found = [other for other in others if continues(view, other)]
    return max(found, key=lambda other: other.run.last_wall, default=None)


def successor(view: RunView, others: Sequence[RunView]) -> RunView | None:
    """The run in a folder beside this one that seems to continue it, the first; None without one."""
    found = [other for other in others if continues(other, view)]
    return min(found, key=lambda other: other.run.last_wall, default=None)


def continues(late: RunView, early: RunView) -> bool:
    """Whether a run seems to be the same training, started again in a folder of its own.

    Some trainers open a new folder at each start: later in time, on from within the steps of the other.
    """
    folder = late.name.rpartition("/")[0]
    if late is early or not folder or early.name.rpartition("/")[0] != folder:
        return False
    span, before = late.run.span, early.run.span
    if span is None or before is None or not before[0] < span[0] <= before[1] + _gap(before):
        return False
    start, ended = getattr(late.run, "first_wall", math.nan), getattr(early.run, "last_wall", math.nan)
    if not ended <= start + SLACK:
        return False
    shared = set(late.run.series) & set(early.run.series)
    return 2 * len(shared) >= len(late.run.series)


def _gap(span: tuple[int, int]) -> int:
    """Steps that may lie between the end of a run and the start of its continuation."""
    return max((span[1] - span[0]) // 20, 1)

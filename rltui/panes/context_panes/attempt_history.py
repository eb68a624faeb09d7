"""The attempts of a run as sentences: when it was restarted, from which step, and what that superseded."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.common.display_text import count_of
from rltui.draw.numbers import format_duration, format_step
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.store.restarts.segments import Attempt

LISTED_ATTEMPTS = 6  # the newest; earlier ones are only counted

_REASON = {"session-start": "declared by the writer", "rewind": "its steps went back", "file": "a later log"}


def history_lines(view: RunView, session: Session | None = None) -> list[str]:
    """The attempts of a run, the run that it continues, and the one that continues it."""
    lines = []
    predecessor = session.predecessor(view) if session is not None else None
    successor = session.successor(view) if session is not None else None
    if predecessor is not None:
        run, step = predecessor
        lines.append(f"seems to continue {run.name}, {_steps(run)}, from step {format_step(step)}")
    lines += attempt_lines(view.run.attempts)
    if successor is not None:
        lines.append(f"seems to be continued by {successor.name}, {_steps(successor)}")
    return lines


def _steps(view: RunView) -> str:
    first, last = view.run.span or (0, 0)
    return f"steps {format_step(first)} to {format_step(last)}"


def attempt_lines(attempts: Sequence[Attempt]) -> list[str]:
    """A line for each of the newest attempts; empty for a run that was never restarted."""
    if len(attempts) < 2:
        return []
    first = max(len(attempts) - LISTED_ATTEMPTS, 0)
    lines = [f"{first:,} earlier attempts"] if first else []
    return lines + [f"attempt {at + 1}: {_sentence(attempts, at)}" for at in range(first, len(attempts))]


def _sentence(attempts: Sequence[Attempt], at: int) -> str:
    """One attempt. Superseded steps are those that an earlier attempt had reached."""
    one = attempts[at]
    if not at:
        return f"steps {format_step(one.first_step)} to {format_step(one.last_step)}"
    if one.from_scratch:
        text = f"began from scratch at step {format_step(one.first_step)}"
        if one.replaced:
            text += f"; {count_of(one.replaced, 'point')} of earlier trainings kept"
        return f"{text}{_since_start(one, attempts[0])}; {_REASON[one.reason]}"
    reached = max(before.last_step for before in attempts[:at])
    first = min(before.first_step for before in attempts[:at])
    again = max(reached - one.first_step + 1, 0)
    verb = "went on" if not again else "started over" if one.first_step <= first else "resumed"
    text = f"{verb} at step {format_step(one.first_step)} after {format_step(reached)}"
    text += _since_start(one, attempts[0])
    if again:
        text += f"; {again:,} {'step' if again == 1 else 'steps'} superseded"
    if one.replaced:
        text += f" ({count_of(one.replaced, 'point')})"
    return f"{text}; {_REASON[one.reason]}"


def _since_start(one: Attempt, first: Attempt) -> str:
    since = one.first_wall - first.first_wall
    return f", {format_duration(since)} after the first start" if math.isfinite(since) and since > 0 else ""

"""Chooses the main metric of a run, whose values are its outcome."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.panes.rows.key_rows import key_rows
from rltui.panes.rows.row import Row
from rltui.panes.runs.outcome import Outcome, outcome_of

if TYPE_CHECKING:
    from rltui.session.run_view import RunView


def outcome(view: RunView, at_step: int | None) -> Outcome | None:
    """Last and best value of the main metric, at a step (None: the last one); None without points."""
    row = outcome_row(view, at_step)
    of = (view.run.version, at_step, row and row.tag)
    return view.cached("outcome", of, lambda: None if row is None else outcome_of(row))


def outcome_row(view: RunView, at_step: int | None) -> Row | None:
    """The row of the run's main metric; the choice is repeated whenever its points have doubled."""
    of = (len(view.run.series) << 8 | view.run.points.bit_length(), at_step)
    return view.cached(
        "outcome row", of, lambda: next(iter(key_rows(view, 1, at_step=at_step, findings=())), None)
    )

"""Runs from values by tag, and the answers of their panes."""

from __future__ import annotations

from collections.abc import Mapping

from rltui.config import Config
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.answers.pane_answers import answer_of
from rltui.session.run_view import RunView
from rltui.session.session import Session
from tests.support.runs.deliveries import Row, delivery

NOW = 1_900_000_000.0
VERL = {"actor/pg_loss": 0.1, "critic/score/mean": 0.5, "response_length/mean": 100.0}  # recognised as veRL


def run(
    series: Mapping[str, object], steps: int = 60, first: int = 0, others: Mapping[str, float] = VERL,
    framework: str = "", config: Config | None = None,
) -> RunView:  # fmt: skip
    """A run of tags with a value for all steps, a list, or values by step; `others` say who wrote it."""
    rows: list[Row] = []
    for at in range(steps):
        step = first + at
        for tag, value in {**others, **series}.items():
            if isinstance(value, dict):
                rows += [(tag, step, value[step])] if step in value else []
            else:
                rows.append((tag, step, value[at] if isinstance(value, list) else value))  # type: ignore[arg-type]
    session = Session(config or Config(frameworks={"*": framework} if framework else {}))
    session.apply((delivery(rows, wall=NOW - 1000),))
    session.evaluate(force=True)
    return session.ordered()[0]


def answer(
    pane: str, series: Mapping[str, object], inputs: AnswerInputs = NO_INPUTS, **more: object
) -> Answer:
    """The answer of a pane for such a run."""
    found = answer_of(run(series, **more), pane, inputs=inputs)  # type: ignore[arg-type]
    assert found is not None
    return found


def shares(found: Answer) -> dict[str, float]:
    """The shares by title."""
    return {share.title: round(share.share, 3) for share in found.shares}

"""Which panes answer a question before they list their metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rltui.panes.answers.accelerators.gpus import gpu_answer
from rltui.panes.answers.accelerators.utilisation import utilisation_answer
from rltui.panes.answers.lengths import length_answer
from rltui.panes.answers.levels import critic_answer, policy_answer, validation_answer
from rltui.panes.answers.load_balance import load_answer
from rltui.panes.answers.model import NOTHING, Answer, Beside
from rltui.panes.answers.reward import reward_answer
from rltui.panes.answers.rollouts.rollout_use import rollout_answer
from rltui.panes.answers.step_time.step_time import step_time_answer

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

ANSWERS: Mapping[str, Callable[[RunView, int | None, Beside], Answer | None]] = {
    "timing": step_time_answer,
    "load": load_answer,
    "perf": utilisation_answer,
    "rollout": rollout_answer,
    "lengths": length_answer,
    "reward": reward_answer,
    "policy": policy_answer,
    "critic": critic_answer,
    "validation": validation_answer,
    "system": gpu_answer,
}


# What a pane says that has metrics, but none that answer its question.
UNANSWERED: Mapping[str, str] = {
    "timing": "The log has no times of steps or phases.",
    "load": "The log does not say how the load of the ranks compares.",
    "perf": "The log has neither utilisation nor throughput.",
    "rollout": "The log does not say what becomes of the rollouts.",
}


def answer_of(
    view: RunView, pane: str, at_step: int | None = None, beside: Beside = NOTHING
) -> Answer | None:
    """The answer of a pane, now or as of a step; None where the pane has none, or the log nothing of it."""
    make = ANSWERS.get(pane)
    found = make(view, at_step, beside) if make is not None and view.run.series else None
    if found is None and pane in UNANSWERED and view.tag_index.panes.get(pane):
        return Answer("", UNANSWERED[pane])
    return found

"""Which panes answer a question before they list their metrics."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from rltui.panes.answers.accelerators.gpus import gpu_answer
from rltui.panes.answers.accelerators.utilisation import utilisation_answer
from rltui.panes.answers.beside import NOTHING, Beside
from rltui.panes.answers.lengths import length_answer
from rltui.panes.answers.load_balance import load_answer
from rltui.panes.answers.model import Answer
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
    "system": gpu_answer,
}


def answer_of(
    view: RunView, pane: str, at_step: int | None = None, beside: Beside = NOTHING
) -> Answer | None:
    """The answer of a pane, now or as of a step; None where the pane has none or the log does not say."""
    make = ANSWERS.get(pane)
    return make(view, at_step, beside) if make is not None and view.run.series else None

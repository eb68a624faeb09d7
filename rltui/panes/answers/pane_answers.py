"""The registry of answers, by pane."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from types import ModuleType
from typing import TYPE_CHECKING

from rltui.draw.symbols import SEVERITY_GLYPH
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs

if TYPE_CHECKING:
    from rltui.panes.answers.answer import Answer
    from rltui.session.run_view import RunView

_DEFAULT = ("default_answer", "default_answer")
_OWN = ("own_sections", "own_section_answer")  # of panes that a run's own keys make, and of `other`
_TAKE_PANE = (_DEFAULT, _OWN)  # whose functions have the pane as a second argument
_WITHOUT_ANSWER = {"overview", "pinned", "findings", "samples", "all", "config", "console"}
OUTCOMES = (
    "reward",
    "preference",
    "reward-model",
    "validation",
)  # the first with an answer says what is achieved
# A module of this package and its function of `RunValues`; imported after the first frame of the monitor.
ANSWERS: Mapping[str, tuple[str, str]] = {
    "timing": ("step_time.step_time", "step_time_answer"),
    "load": ("load_balance", "load_answer"),
    "perf": ("accelerators.utilisation", "utilisation_answer"),
    "rollout": ("rollouts.rollout_use", "rollout_answer"),
    "lengths": ("lengths", "length_answer"),
    "reward": ("reward", "reward_answer"),
    "validation": ("default_answer", "validation_answer"),
    "system": ("accelerators.gpus", "gpu_answer"),
    **dict.fromkeys(("policy", "critic", "preference", "reward-model", "turns"), _DEFAULT),
}
_ONLY_RETURNS = "Only the returns are logged, no critic that predicts them: methods such as GRPO need none."
_EARLIER_ONLY = "Only an earlier attempt of the run logged what is listed here."


def load_answers() -> None:
    """Import the modules of the answers ahead of their use."""
    for module, _ in (*ANSWERS.values(), _OWN):
        _module(module)


def _module(name: str) -> ModuleType:
    return importlib.import_module(f"rltui.panes.answers.{name}")


def answer_of(
    view: RunView,
    pane: str,
    at_step: int | None = None,
    inputs: AnswerInputs = NO_INPUTS,
    *,
    warned: bool = True,
) -> Answer | None:
    """The answer of a pane, now or as of a step; None for panes without one, and without data for it.

    warned: whether it begins with what is wrong in the pane now.
    """
    if pane in _WITHOUT_ANSWER:
        return None
    # As `ANSWERS`: after the first frame.
    from rltui.panes.answers.answer import Answer
    from rltui.panes.answers.values.recent_values import RunValues

    answer: Answer | None = None
    if view.run.series:
        module, name = answering = ANSWERS.get(pane, _OWN)
        make, values = getattr(_module(module), name), RunValues(view, at_step, inputs)
        answer = make(values, pane) if answering in _TAKE_PANE else make(values)
    if answer is None and (sentence := _unanswered(view, pane)):
        changed = ""
        if view.run.series and sentence not in (_ONLY_RETURNS, _EARLIER_ONLY):
            changed = _module(_OWN[0]).changes_told(values, pane)
        answer = Answer(f"{changed} {sentence}".strip())
    if answer is None or not warned or at_step is not None or not (warning := _warning(view, pane)):
        return answer
    return answer._replace(sentence=f"{warning} {answer.sentence}")


def _unanswered(view: RunView, pane: str) -> str:
    """What a pane says whose metrics do not answer its question; empty without any."""
    tags, known = view.tag_index.panes.get(pane, ()), glossary().pane(pane)
    if not tags or known is None or not known.unanswered:
        return ""
    if not any(view.run.series[tag].count for tag in tags):
        return _EARLIER_ONLY
    metrics = (view.names.name(tag).canonical or "" for tag in tags)
    if pane == "critic" and all(metric.startswith("critic.return.") for metric in metrics):
        return _ONLY_RETURNS
    return known.unanswered


def outcome_sentence(view: RunView, at_step: int | None = None) -> str:
    """What a run achieves, without what is wrong with it; empty if it logs no outcome.

    An outcome of too few points stands back where another one has enough, such as evaluations at each epoch.
    """
    # Imported after the first frame, as the answers are.
    from rltui.panes.answers.values.since_start import TOO_FEW

    def make() -> str:
        panes = (pane for pane in OUTCOMES if view.tag_index.panes.get(pane))
        answers = (answer_of(view, pane, at_step, warned=False) for pane in panes)
        said = [answer.sentence for answer in answers if answer is not None]
        return next((one for one in said if TOO_FEW not in one), next(iter(said), ""))

    return view.cached("outcome-sentence", (view.run.version, at_step), make)


def _warning(view: RunView, pane: str) -> str:
    """The worst firing finding of a pane as a sentence, with its cause; empty below a warning."""
    found = view.evaluator.findings()
    titles = {one.id: one.title or one.id for one in found}
    own = [one for one in found if one.pane == pane and one.rank and one.state == "firing"]
    worst = max(own, key=lambda one: (one.explained_by is None, one.rank), default=None)
    if worst is None:
        return ""
    title, cause = worst.title or worst.message, titles.get(worst.explained_by or "", "")
    text = f"{SEVERITY_GLYPH[worst.severity]} {title} {worst.since}"
    return f"{text}, explained by: {cause}." if cause and cause not in title else f"{text}."

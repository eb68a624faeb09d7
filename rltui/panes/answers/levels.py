"""What the panes policy, critic and validation say first: the level and the trend of their key quantities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from rltui.draw.numbers import format_share, format_step, format_value
from rltui.draw.symbols import SEVERITY_GLYPH
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.beside import NOTHING, Beside
from rltui.panes.answers.model import Answer
from rltui.panes.answers.recent_steps import Values, fact, find, values_of
from rltui.panes.answers.since_start import since_start
from rltui.rules.finding import unexplained

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

TOLD = 2  # quantities of which the sentence tells
MOST = 4  # quantities of which numbers are given, those of the sentence among them
PLURAL = ("values", "Q values")
EXPLAINED = "critic.explained_variance"


class _Levels(NamedTuple):
    """The question of a pane and the quantities that answer it, most telling first, by canonical id."""

    question: str
    words: dict[str, str]


POLICY = _Levels(
    "Is the policy stable?",
    {
        "policy.entropy": "entropy",
        "policy.approx_kl": "KL of an update",
        "policy.kl_ref": "KL to the reference",
        "policy.clip_fraction": "clip fraction",
        "optimizer.grad_norm": "gradient norm",
        "policy.loss": "policy loss",
        "optimizer.learning_rate": "learning rate",
    },
)
CRITIC = _Levels(
    "Does the critic predict the returns?",
    {
        EXPLAINED: "explained variance",
        "critic.loss": "value loss",
        "critic.value.mean": "values",
        "critic.q.mean": "Q values",
        "critic.td_error": "TD error",
    },
)
HELD_OUT = (
    "validation.accuracy", "validation.success_rate", "validation.pass_at_k", "validation.return.mean",
    "validation.reward.mean", "validation.score", "validation.loss",
)  # fmt: skip


def policy_answer(view: RunView, at_step: int | None = None, beside: Beside = NOTHING) -> Answer | None:
    """The answer of the pane policy; None for a run that logs none of its quantities."""
    return _answer(view, "policy", POLICY, at_step)


def critic_answer(view: RunView, at_step: int | None = None, beside: Beside = NOTHING) -> Answer | None:
    """The answer of the pane critic; None for a run that logs none of its quantities."""
    return _answer(view, "critic", CRITIC, at_step)


def validation_answer(view: RunView, at_step: int | None = None, beside: Beside = NOTHING) -> Answer | None:
    """The answer of the pane validation: the last value on held-out data, and whether it is the best."""
    for canonical in HELD_OUT:
        tags = view.tag_index.canonical.get(canonical, ())
        found = [one for tag in tags if len((one := values_of(view, tag, at_step)).value)]
        if found:
            values = max(found, key=lambda one: len(one.value))
            metric = glossary().metrics[canonical]
            name, last = view.names.name(values.tag), float(values.value[-1])
            text = f"{name.title} is {_text(last, metric.unit)} at step {format_step(int(values.step[-1]))}"
            if len(values.value) > 1 and metric.direction in ("up", "down"):
                at = int(values.value.argmax() if metric.direction == "up" else values.value.argmin())
                best = float(values.value[at])
                where = f"{_text(best, metric.unit)} at step {format_step(int(values.step[at]))}"
                text += ", the best so far" if best == last else f"; the best was {where}"
            facts = [replace(fact(name.title, values, metric.unit), text=_text(last, metric.unit), told=True)]
            return Answer("Does it do better on held-out data?", f"{text}.", tuple(facts))
    return None


def _answer(view: RunView, pane: str, levels: _Levels, at_step: int | None) -> Answer | None:
    found: list[tuple[str, str, Values]] = []
    for canonical, word in levels.words.items():
        values = find(view, canonical, at_step)
        if values is not None and view.names.name(values.tag).pane == pane:
            found.append((canonical, word, values))
    if not found:
        return None
    told = found[:TOLD]
    text = "; ".join(_said(view, canonical, word, values, at_step) for canonical, word, values in told)
    wrong = _warning(view, pane) if at_step is None else ""
    facts = []
    for at, (canonical, word, values) in enumerate(found[:MOST]):
        unit = glossary().metrics[canonical].unit
        share = canonical == EXPLAINED and values.now > 0
        words = format_share(values.now) if share else _text(values.now, unit)
        facts.append(replace(fact(word, values, unit), text=words, told=at < TOLD and words in text))
    return Answer(levels.question, f"{wrong}{text[:1].upper()}{text[1:]}.", tuple(facts))


def _said(view: RunView, canonical: str, word: str, values: Values, at_step: int | None) -> str:
    """A quantity with its level and where that was: `entropy is 1.23, down from 2.1 at the start`."""
    unit = glossary().metrics[canonical].unit

    def text(value: float) -> str:
        if canonical != EXPLAINED:
            return _text(value, unit)
        return format_share(value) if value > 0 else "none"

    verb = "are" if word in PLURAL else "is"
    said = f"{word} {verb} {text(values.now)}"
    if canonical == EXPLAINED:
        said = f"the critic explains {text(values.now)} of the variance of the returns"
    whole = since_start(view, values.tag, at_step)
    moved = whole.words(values.now, text) if whole is not None else ""
    return f"{said}, {moved}" if moved else said


def _text(value: float, unit: str) -> str:
    return format_value(value, unit).strip()


def _warning(view: RunView, pane: str) -> str:
    """The worst finding of the pane in words, if it warns."""
    every = unexplained(view.evaluator.findings())
    found = next((one for one in every if one.pane == pane and one.rank and one.state == "firing"), None)
    if found is None:
        return ""
    since = format_step(found.since_step)
    return f"{SEVERITY_GLYPH[found.severity]} {found.title or found.message} since step {since}. "

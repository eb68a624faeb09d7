"""What panes without an answer of their own say first: the level and the trend of their key quantities."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.draw.numbers import format_share, format_step, format_value
from rltui.draw.symbols import SEVERITY_GLYPH
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.answer_metrics import Level, answer_metrics
from rltui.panes.answers.recent_values import RunValues, Values, fact
from rltui.panes.answers.since_start import since_start
from rltui.rules.finding import unexplained

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

TOLD = 2  # quantities of which the sentence tells
MOST = 4  # quantities of which numbers are given, those of the sentence among them


def validation_answer(run: RunValues) -> Answer | None:
    """The answer of the pane validation: the last value on held-out data, and whether it is the best."""
    for canonical in answer_metrics().metrics["held_out"]:
        tags = run.tags(canonical)
        found = [one for tag in tags if len((one := run.of(tag)).value)]
        if found:
            values = max(found, key=lambda one: len(one.value))
            metric = glossary().metrics[canonical]
            name, last = run.name(values.tag), float(values.value[-1])
            text = f"{name.title} is {_text(last, canonical)} at step {format_step(int(values.step[-1]))}"
            if len(values.value) > 1 and metric.direction in ("up", "down"):
                at = int(values.value.argmax() if metric.direction == "up" else values.value.argmin())
                best = float(values.value[at])
                where = f"{_text(best, canonical)} at step {format_step(int(values.step[at]))}"
                text += ", the best so far" if best == last else f"; the best was {where}"
            facts = [replace(fact(name.title, values, metric.unit), text=_text(last, canonical), told=True)]
            return Answer("Does it do better on held-out data?", f"{text}.", tuple(facts))
    return None


def level_answer(run: RunValues, pane: str) -> Answer | None:
    """The answer of one of these panes; None for a run that logs none of its quantities."""
    levels, found = answer_metrics().pane[pane], []
    for level in levels.level:
        values = run.find(level.metric)
        if values is not None and run.name(values.tag).pane == pane:
            found.append((level, values))
    if not found:
        return None
    text = "; ".join(_said(run, level, values) for level, values in found[:TOLD])
    wrong = _warning(run.view, pane) if run.at_step is None else ""
    facts = []
    for at, (level, values) in enumerate(found[:MOST]):
        one = fact(level.word, values, glossary().metrics[level.metric].unit)
        words = _text(values.now, level.metric, share=level.share)
        facts.append(replace(one, text=words, told=at < TOLD and words in text))
    return Answer(levels.question, f"{wrong}{text[:1].upper()}{text[1:]}.", tuple(facts))


def _said(run: RunValues, level: Level, values: Values) -> str:
    """A quantity with its level and where that was: `entropy is 1.23, down from 2.1 at the start`."""

    def text(value: float) -> str:
        return "none" if level.share and value <= 0 else _text(value, level.metric, share=level.share)

    said = level.said.format(word=level.word, value=text(values.now))
    whole = since_start(run, values.tag)
    moved = whole.words(values.now, text) if whole is not None else ""
    pane = run.name(values.tag).pane
    tags = (tag for tag in run.tags(level.metric) if level.share and run.name(tag).pane != pane)
    held_out = max(map(run.of, tags), key=lambda one: len(one.value), default=None)
    known = held_out is not None and len(held_out.value)
    beside = f"and {text(held_out.now)} of held-out ones" if held_out is not None and known else ""
    return ", ".join(filter(None, (said, moved, beside)))


def _text(value: float, canonical: str, *, share: bool = False) -> str:
    if share and value > 0:
        return format_share(value)
    return format_value(value, glossary().metrics[canonical].unit).strip()


def _warning(view: RunView, pane: str) -> str:
    """The worst finding of the pane in words, if it warns."""
    every = unexplained(view.evaluator.findings())
    found = next((one for one in every if one.pane == pane and one.rank and one.state == "firing"), None)
    if found is None:
        return ""
    return f"{SEVERITY_GLYPH[found.severity]} {found.title or found.message} {found.since}. "

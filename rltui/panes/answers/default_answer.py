"""The answers of panes without a module of their own: level and trend of their key quantities."""

from __future__ import annotations

import math

from rltui.draw.numbers import format_limits, format_share, format_step, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.answer_metrics import KeyQuantity, answer_metrics
from rltui.panes.answers.values.recent_values import ALMOST_NONE, RunValues, Values, level_text
from rltui.panes.answers.values.since_start import change_since_start

SENTENCE_QUANTITIES = 2
RARELY = 0.05  # a mean of counts below it, less than once in twenty, is told in words
NEGLIGIBLE = 1e-3  # times the healthy limit: what is smaller is almost 0, whatever its digits
FACT_QUANTITIES = 4  # including those of the sentence


def validation_answer(run: RunValues) -> Answer | None:
    """The answer of the pane validation: the last value on held-out data, and whether it is the best."""
    found = []
    for canonical in answer_metrics().metrics["held_out"]:
        values = max(map(run.of, run.tags(canonical)), key=lambda one: len(one.value), default=None)
        if values is not None and len(values.value):
            found.append((canonical, values))
    newest = max((int(values.step[-1]) for _, values in found), default=0)
    for canonical, values in found:
        if 2 * int(values.step[-1]) < newest:  # a score of the first steps says nothing about the run now
            continue
        metric = glossary().metrics[canonical]
        title, last = run.view.shown_title(run.name(values.tag)), float(values.value[-1])
        text = f"{title} is {_text(last, canonical)} at step {format_step(int(values.step[-1]))}"
        if len(values.value) > 1 and metric.direction in ("up", "down"):
            at = int(values.value.argmax() if metric.direction == "up" else values.value.argmin())
            best = float(values.value[at])
            where = f"{_text(best, canonical)} at step {format_step(int(values.step[at]))}"
            text += ", the best so far" if best == last else f"; the best was {where}"
        last_value = values.fact(title, metric.unit, text=_text(last, canonical), in_sentence=True)
        return Answer(f"{text}.", (last_value,))
    return None


def default_answer(run: RunValues, pane: str) -> Answer | None:
    """The answer of one of these panes; None for a run that logs none of its quantities."""
    logged, undefined = [], []
    for quantity in answer_metrics().pane[pane]:
        values = run.find(quantity.metric)
        if values is not None and run.name(values.tag).pane == pane:
            logged.append((quantity, values))
        elif values is None and (word := run.never_finite(quantity.metric)):
            undefined.append(f"{quantity.word} is {word}")
    if not logged:
        return None
    if run.at_step is None:  # what is wrong comes first; with little room the sentence has one quantity
        wrong = {tag for one in run.view.evaluator.findings() if one.rank for tag in one.metrics}
        logged.sort(key=lambda item: item[1].tag not in wrong)
    undefined = undefined[: SENTENCE_QUANTITIES - 1]  # first: what it would say is missing
    clauses = [_clause(run, quantity, values) for quantity, values in logged[:SENTENCE_QUANTITIES]]
    text = "; ".join((*undefined, *clauses)[:SENTENCE_QUANTITIES])
    facts = []
    for at, (quantity, values) in enumerate(logged[:FACT_QUANTITIES]):
        value, unit = _level(values, quantity), glossary().metrics[quantity.metric].unit
        in_sentence = at < SENTENCE_QUANTITIES and value in text
        facts.append(values.fact(quantity.word, unit, text=value, in_sentence=in_sentence))
    return Answer(f"{text[:1].upper()}{text[1:]}.", tuple(facts))


def _clause(run: RunValues, quantity: KeyQuantity, values: Values) -> str:
    """A quantity with its level and its change: `entropy is 1.23, down from 2.1 at the start`."""

    def text(value: float) -> str:
        return _share_text(value, quantity)

    name = run.name(values.tag)
    word = f"{quantity.word} (minus {name.tag})" if name.scale < 0 and not name.offset else quantity.word
    rarely = max(values.now, float(values.value[-1])) > 0 and 0 <= values.now < RARELY
    said = quantity.rare if quantity.rare and rarely else quantity.said
    said = said if values.broken is None else "{word} is {value}"
    clause = said.format(word=word, value=_level(values, quantity))
    healthy = glossary().metrics[quantity.metric].healthy_range
    if healthy is not None and not quantity.share:  # a newcomer does not know which values are healthy
        clause += f" (healthy {format_limits(*healthy)})"
    change = change_since_start(run, values.tag, values.now, text)
    pane = name.pane
    tags = (tag for tag in run.tags(quantity.metric) if quantity.share and run.name(tag).pane != pane)
    held_out = max(map(run.of, tags), key=lambda one: len(one.value), default=None)
    held_out_text = (
        f"and {text(held_out.now)} of held-out ones" if held_out is not None and len(held_out.value) else ""
    )
    return ", ".join(filter(None, (clause, change, held_out_text)))


def _level(values: Values, quantity: KeyQuantity) -> str:
    """The level of recent points, with `about` where the last value, which rows show, reads differently.

    Of a setting it is the last value: a mean over a schedule is no value that it had.
    """
    if quantity.setting and values.broken is None:
        return _share_text(float(values.value[-1]), quantity)
    return level_text(values.now, values, lambda value: _share_text(value, quantity))


def _share_text(value: float, quantity: KeyQuantity) -> str:
    if quantity.share and value <= 0:
        return "none"
    low, high = glossary().metrics[quantity.metric].healthy_range or (-math.inf, math.inf)
    if low <= 0 < abs(value) < NEGLIGIBLE * high < math.inf:
        return ALMOST_NONE
    return _text(value, quantity.metric, share=quantity.share)


def _text(value: float, canonical: str, *, share: bool = False) -> str:
    if share and value > 0:
        return format_share(value)
    return format_value(value, glossary().metrics[canonical].unit).strip()

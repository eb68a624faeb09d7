"""The answer of panes that a run's own keys make: which of its metrics changed most since the start."""

from __future__ import annotations

import numpy as np

from rltui.common.display_text import count_of, in_sentence
from rltui.draw.numbers import format_value
from rltui.panes.answers.answer import Answer
from rltui.panes.answers.values.recent_values import RunValues, Values, level_text
from rltui.panes.answers.values.since_start import SinceStart, since_start
from rltui.schema.units import units

MAX_TAGS = 40  # of a pane that are compared with their start, 0.1 ms each
MAX_NAMED = 2  # metrics in the sentence
UNCHANGED = "beyond its noise"
UNKNOWN = "whose meaning is not known"


def changes_told(run: RunValues, pane: str) -> str:
    """What changed most in a pane whose question its log does not answer; empty if nothing is known of it.

    Not how much was counted at a step, which says nothing about the pane, nor what has only begun.
    """
    answer = own_section_answer(run, pane, telling=True)
    silent = answer is None or UNKNOWN in answer.sentence
    return "" if answer is None or silent or UNCHANGED in answer.sentence else answer.sentence


def own_section_answer(run: RunValues, pane: str, *, telling: bool = False) -> Answer | None:
    """The answer of a pane without a question of its own; None for a pane without values.

    telling: only of changes that are known to be more than an amount or a beginning.
    """
    tags = [tag for tag in run.view.tag_index.panes.get(pane, ()) if not run.name(tag).statistic]
    if not tags:
        return None
    unknown = sum(run.name(tag).canonical is None for tag in tags)
    head = f"{count_of(unknown, 'metric')} {UNKNOWN}" if unknown else ""
    counters: list[Values] = []
    moved: list[tuple[float, str]] = []
    compared = 0
    for tag in tags[:MAX_TAGS]:
        values = run.of(tag)
        if _counts(values) and (pane == "other" or (values.value % 1 == 0).all()):
            counters.append(values)
        else:
            with np.errstate(over="ignore", invalid="ignore"):  # values near the largest float
                change = since_start(run, tag)
            compared += change is not None
            if change is not None and change.moved and (not telling or _tells(run, values, change)):
                moved.append((-_size(change), _clause(run, values, change)))
    clauses = [clause for _, clause in sorted(moved)[:MAX_NAMED]]
    if clauses:
        text = "; ".join(clauses)
        text = f"{head}. Most changed: {text}" if head else text
    elif compared and (head or not counters):
        which = "it did not change" if max(compared, unknown) == 1 else "none changed"
        text = f"{head or count_of(compared, 'metric')}; {which} {UNCHANGED}"
    else:
        titled = {_title(run, one): one for one in reversed(counters)}  # several count the same: the first
        named = [(title, one) for title, one in reversed(titled.items())][:MAX_NAMED]
        counts = "; ".join(f"{title} {_text(run, one)}" for title, one in named)
        text = "; ".join(filter(None, (head, counts or ("too few points to compare" if head else ""))))
    return Answer(f"{text[:1].upper()}{text[1:]}.") if text else None


def _counts(values: Values) -> bool:
    """Whether it only grows, as steps and samples so far do."""
    value = values.value
    return len(value) > 1 and bool(value[-1] > value[0] and (value[1:] >= value[:-1]).all())


def _tells(run: RunValues, values: Values, change: SinceStart) -> bool:
    """Whether a change is not that of a mere amount, such as of episodes in a step, nor one from zero.

    Of what is good or bad every change tells something.
    """
    metric = run.name(values.tag).metric
    if metric is None or metric.direction != "none":
        return True
    return metric.unit not in units().counts and 0.0 not in change.first_values


def _size(change: SinceStart) -> float:
    """How far a metric moved, as a share of its largest level."""
    largest = max(abs(change.start), abs(change.end))
    return abs(change.end - change.start) / largest if largest else 0.0


def _clause(run: RunValues, values: Values, change: SinceStart) -> str:
    """`agent acc about 0.375, down from 0.812 at the start`."""

    def text(value: float) -> str:
        return format_value(value, _unit(run, values)).strip()

    words = change.words(values.now, text)
    return f"{_title(run, values)} {level_text(values.now, values, text)}" + (f", {words}" if words else "")


def _title(run: RunValues, values: Values) -> str:
    return in_sentence(run.name(values.tag).title)


def _text(run: RunValues, values: Values) -> str:
    return format_value(float(values.value[-1]), _unit(run, values)).strip()


def _unit(run: RunValues, values: Values) -> str:
    """The unit of `RunValues.of`: of the metric where that is known, else of the key as written."""
    name = run.name(values.tag)
    return name.metric.unit if name.metric is not None and name.comparable else name.unit

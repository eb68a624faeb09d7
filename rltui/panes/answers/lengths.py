"""How long responses are: their distribution over steps, and how many are cut off."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.draw.numbers import format_share, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.beside import NOTHING, Beside
from rltui.panes.answers.distributions import band, logged_ridges, quantile_ridge, sample_ridge
from rltui.panes.answers.model import Amount, Answer
from rltui.panes.answers.recent_steps import binned, fact, find
from rltui.panes.answers.since_start import since_start

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

QUESTION = "How long are the responses, and are they cut off?"


def length_answer(view: RunView, at_step: int | None = None, beside: Beside = NOTHING) -> Answer | None:
    """The answer of the pane lengths; None for a run that logs no lengths."""
    known = answer_metrics().named
    logged = ((one, find(view, one.metric, at_step)) for one in known["length"])
    length, mean = next((pair for pair in logged if pair[1] is not None), (None, None))
    if length is None or mean is None:
        return None
    base = length.metric.removesuffix(".mean")
    cut, most = find(view, known["end"][0].metric, at_step), find(view, f"{base}.max", at_step)
    unit = glossary().metrics[length.metric].unit
    facts = [replace(fact("mean", mean, unit), text=_amount(mean.now, unit), told=True)]
    if cut is not None:
        facts.append(replace(fact("cut off", cut, "fraction"), text=format_share(cut.now), told=True))
    prompt = find(view, "lengths.prompt.mean", at_step)
    if prompt is not None:
        facts.append(replace(fact("prompts", prompt, unit), text=_amount(prompt.now, unit)))
    drawn = band(view, base, at_step)
    ridge = (
        next(logged_ridges(view, lambda tag: view.names.name(tag).pane == "lengths", at_step), None)
        or quantile_ridge(view, base, at_step)
        or sample_ridge(beside.samples, "length", "Length of samples", "", at_step)
    )
    text = f"{length.word} have {_amount(mean.now, unit)} on average"
    whole = since_start(view, mean.tag, at_step)
    if whole is not None and (moved := whole.words(mean.now, lambda value: _amount(value, unit))):
        text += f", {moved}"
    if cut is not None and cut.now > 0:
        limit = f" at {_amount(most.now, unit)}" if most is not None else ""
        text += f"; {format_share(cut.now)} are cut off{limit}"
        if facts[1].change and facts[1].change > 0:
            text += ", and more than before"
    elif cut is not None:
        text += "; none is cut off"
    return Answer(
        QUESTION, f"{text}.", tuple(facts), amounts=tuple(_ends(view, at_step)),
        amounts_words=("responses", ""), bands=() if drawn is None else (drawn,),
        ridges=() if ridge is None else (ridge,),
    )  # fmt: skip


def _amount(value: float, unit: str) -> str:
    """`512 tokens`, `1 token`."""
    text = format_value(value, unit)
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def _ends(view: RunView, at_step: int | None) -> Iterator[Amount]:
    """The shares of responses that were cut off and the like, where there are any."""
    for end in answer_metrics().named["end"]:
        values = find(view, end.metric, at_step)
        if values is not None and values.value.any():
            yield Amount(end.word, values.tag, values.now, history=binned(values.value))

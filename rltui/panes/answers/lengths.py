"""The answer of the pane lengths: how long responses are, over steps, and how many are cut off."""

from __future__ import annotations

import math
from collections.abc import Iterator

from rltui.draw.numbers import format_share, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Amount, Answer
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.distributions import band, logged_ridges, quantile_ridge, sample_ridge
from rltui.panes.answers.values.recent_values import RunValues, binned
from rltui.panes.answers.values.since_start import change_since_start


def length_answer(run: RunValues) -> Answer | None:
    """The answer of the pane lengths; None for a run that logs no lengths."""
    tables = answer_metrics().named
    logged = ((length, run.find(length.metric)) for length in tables["length"])
    length, mean = next((pair for pair in logged if pair[1] is not None), (None, None))
    if length is None or mean is None:
        return None
    base = length.metric.removesuffix(".mean")
    cut, most = run.find(tables["end"][0].metric), run.find(f"{base}.max")
    unit = glossary().metrics[length.metric].unit
    facts = [mean.fact("mean", unit, text=_amount(mean.now, unit), in_sentence=True)]
    if cut is not None:
        facts.append(cut.fact("cut off", "fraction", text=format_share(cut.now), in_sentence=True))
    prompt = run.find(answer_metrics().single.mean_prompt)
    if prompt is not None:
        facts.append(prompt.fact("prompts", unit, text=_amount(prompt.now, unit)))
    length_band = band(run, base)
    ridge = (
        next(logged_ridges(run, lambda tag: run.name(tag).pane == "lengths"), None)
        or quantile_ridge(run, base)
        or sample_ridge(run.inputs.samples, "length", "Length of samples", "", run.at_step)
    )
    text = f"{length.word} have {_amount(mean.now, unit)} on average"
    if change := change_since_start(run, mean.tag, mean.now, lambda value: _amount(value, unit)):
        text += f", {change}"
    if cut is not None and cut.now > 0:
        # Batches without a cut response, and means over batches, have a longest one below the limit.
        longest = float(most.value.max()) if most is not None else math.nan
        limit = f" at {_amount(longest, unit)}" if longest.is_integer() else ""  # a mean is no limit
        text += f"; {format_share(cut.now)} are cut off{limit}"
        if facts[1].change and facts[1].change > 0:
            text += ", and more than before"
    elif cut is not None:
        text += "; none is cut off"
    return Answer(
        f"{text}.", tuple(facts), amounts=tuple(_ends(run)),
        amounts_words=("responses", ""), bands=() if length_band is None else (length_band,),
        ridges=() if ridge is None else (ridge,),
    )  # fmt: skip


def _amount(value: float, unit: str) -> str:
    """`512 tokens`, `1 token`."""
    text = format_value(value, unit)
    return f"{text} {unit.removesuffix('s') if text == '1' else unit}"


def _ends(run: RunValues) -> Iterator[Amount]:
    """The shares of responses by the way in which they ended, without those that are always zero."""
    for end in answer_metrics().named["end"]:
        values = run.find(end.metric)
        if values is not None and values.value.any():
            yield Amount(end.word, values.tag, values.now, history=binned(values.value))

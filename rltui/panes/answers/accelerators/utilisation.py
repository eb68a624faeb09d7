"""The answer of the pane perf: utilisation with its usual range, throughput, what bounds a step.

MFU (model FLOPs utilisation) is estimated if it is not logged but its inputs are known. FLOPs of a trained
token: 6 N for forward and backward, with the N parameters that are used for a token (of a mixture of experts
the active ones), and 12 L h T for attention over T tokens in L layers of width h (A. Chowdhery et al., PaLM,
2022, appendix B). MFU is their rate divided by the peak of the accelerators.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from rltui.common.arrays import Floats, Ints, in_both, quantile
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import SHARE, format_share, format_si, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.accelerators.hardware import Hardware, SourcedNumber, hardware_of
from rltui.panes.answers.accelerators.resources import accelerators
from rltui.panes.answers.answer import Answer, Fact, Range, formulas_of
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.step_time.step_time import step_time, token_rate
from rltui.panes.answers.values.per_rank import per_rank
from rltui.panes.answers.values.recent_values import LAST, STEP, RunValues, Values
from rltui.rules.rulebook import rulebook

BOUND = 0.5  # share of generation in a step from which it bounds the step
MAX_FACTS = 6
MAX_MFU = 1.0  # a larger estimate has a wrong input


def utilisation_answer(run: RunValues) -> Answer | None:
    """The answer of the pane perf; None for a run that logs neither utilisation nor throughput."""
    first = run.first_steps
    ranges, utilisation = [], []
    for canonical, logged in run.find_all("utilisation"):
        title, values = glossary().metrics[canonical].title, logged.without_first(first)
        utilisation.append(values.fact(title, SHARE))
        ranges.append(_range(title, values, utilisation[-1].text))
    rates = []
    for canonical, values in run.find_all("rates"):
        metric = glossary().metrics[canonical]
        rates.append(token_rate(values.without_first(first).fact(metric.title, metric.unit), metric.unit))
    estimate = None if ranges else mfu_estimate(run)
    if estimate is not None:
        now = estimate.values.fact("MFU", SHARE, formula=estimate.formula)
        ranges.append(_range(f"≈ MFU of {estimate.of}", estimate.values, f"≈ {now.text}"))
        utilisation.append(now._replace(title=f"MFU of {estimate.of}, estimated,"))
    strips = per_rank(run, "perf")
    steps = step_time(run)
    if not rates and steps is not None:
        rates = [one for one in steps.answer.facts if one.title == "tokens per second"]
    if not ranges and not rates and not strips:
        return _without_rates(run)
    missing = (
        any(run.view.tag_index.canonical.get(each) for each in answer_metrics().metrics["utilisation"])
        and not ranges
    )
    share = steps.generation if steps is not None else None
    scale = (0.0, min(max(0.7, *(one.high * 1.1 for one in ranges)), 1.0) if ranges else 1.0)
    notes = []
    if estimate is not None:
        notes.append(f"MFU is estimated, not logged: {estimate.inputs}")
    if ranges:
        notes.append("MFU is the share of the accelerators' peak that the model's arithmetic uses")
        low = format_share(_limits()[0])
        notes.append(
            f"│ marks {low} (low) and {_usual_text()} (usual); ranges hold 90 % of the last {LAST} steps"
        )
    if rates and not utilisation and not rates[0].change:
        rates[0] = rates[0]._replace(in_sentence=True)
    facts = (*rates, *_waiting_and_memory(run))[:MAX_FACTS]
    formulas = () if estimate is None else (f"MFU of {estimate.of} = {estimate.formula}",)
    return Answer(
        _sentence(utilisation, rates, share, missing), facts, ranges=tuple(ranges), scale=scale,
        marks=_limits() if ranges else (), strips=strips, notes=tuple(notes),
        formulas=(*formulas, *formulas_of(facts)),
    )  # fmt: skip


def _waiting_and_memory(run: RunValues) -> Iterator[Fact]:
    """Shares of the time that is waited, and the highest recent use of memory."""
    for canonical, values in run.find_all("waiting_shares"):
        title = glossary().metrics[canonical].title.lower()
        yield values.without_first(run.first_steps).fact(title, SHARE)
    for canonical, values in run.find_all("memory"):
        if values.value.any():
            metric = glossary().metrics[canonical]
            text = format_value(float(values.value[-LAST:].max()), metric.unit)
            yield values.fact(metric.title.lower(), metric.unit, text=text)
            break


def _without_rates(run: RunValues) -> Answer | None:
    """The answer for a log that has tokens of steps, but no times; None without tokens."""
    tokens = run.find_first("tokens")
    if tokens is None:
        return None
    count = tokens.fact("tokens a step", "tokens", text=format_si(tokens.now))
    sentence = "The log has the tokens of a step, but no times: throughput and MFU are not known."
    return Answer(sentence, (count,))


def _range(title: str, values: Values, text: str) -> Range:
    """The range of nine tenths of the last values."""
    last = values.value[-LAST:]
    return Range(title, quantile(last, 0.05), values.now, quantile(last, 0.95), text)


def _limits() -> tuple[float, float, float]:
    """The limit of the rule on a low MFU, and the usual range."""
    usual = glossary().metrics[answer_metrics().single.mfu].healthy_range
    assert usual is not None
    return rulebook().rules["mfu-low"].numbers["below"], *usual


def _usual_text() -> str:
    _, low, high = _limits()
    return f"{100 * low:.0f} to {format_share(high)}"


def _sentence(utilisation: list[Fact], rates: list[Fact], generation: float | None, missing: bool) -> str:
    """How busy the accelerators are, and what bounds a step."""
    if utilisation:
        head, (low, usual, most) = utilisation[0], _limits()
        how = (
            f"below {format_share(low)}: the accelerators wait" if head.value < low
            else f"below the usual {_usual_text()}" if head.value < usual
            else "in the usual range" if head.value <= most
            else f"above the usual {_usual_text()}"
        )  # fmt: skip
        text = f"{head.title} is {head.text.strip()}, {how}"
        if head.change:
            text += f", {head.trend()}"
    else:
        text = "how busy the accelerators are (MFU) is not logged"
        if missing:
            text = "how busy the accelerators are (MFU) is not known: the log has only zeros"
        if rates:
            change, rate = rates[0].change, rates[0].text.strip()
            how = "" if change is None else ", steady" if not change else " and has "
            how += ("risen" if change > 0 else "fallen") if change else ""
            text = f"throughput is {rate}{how}; {text}"
        text = text[:1].upper() + text[1:]
    if generation is not None and generation >= BOUND:
        text += f". Generation bounds a step: {format_share(generation)} of its time"
    elif generation is not None:
        text += f". Generation takes {format_share(generation)} of a step"
    return text + "."


# ---- the estimate of MFU


class MfuEstimate(NamedTuple):
    """Estimated MFU at each step: of the update if its time is logged, else of the whole step."""

    of: str
    values: Values
    formula: str
    inputs: str


def mfu_estimate(run: RunValues) -> MfuEstimate | None:
    """The estimate; None if an input is unknown or the result impossible."""
    hardware = hardware_of(run)
    gpus, peak = accelerators(run), hardware.peak_tflops
    parameters = hardware.active_parameters or hardware.parameters or _logged_parameters(run)
    if gpus is None or peak is None or parameters is None:
        return None
    first = run.first_steps
    tokens, update = run.find_first("tokens"), run.find_first("updates")
    seconds = update or run.find(STEP)
    if tokens is None or seconds is None:
        return None
    steps = in_both(tokens.step, seconds.step)
    spent = seconds.at(steps)
    steps, spent = steps[spent > 0], spent[spent > 0]
    if not len(steps):
        return None
    attention, attention_term = _attention(run, hardware, steps)
    flops = (6 * parameters.value + attention) * tokens.at(steps)
    values = Values("", steps, flops / (spent * gpus.value * peak.value * 1e12)).without_first(first)
    if not 0 < values.now <= MAX_MFU:
        return None
    of = "the update" if update is not None else "the whole step"
    active = " active" if hardware.active_parameters is not None else ""
    formula = f"(6 N{attention_term}) × tokens / (seconds of {of} × GPUs × peak)"
    inputs = (
        f"N = {format_si(parameters.value)}{active} parameters ({parameters.source}), "
        f"{gpus.value:,.0f} GPUs ({gpus.source}), "
        f"peak {peak.value:,.0f} TFLOP/s ({peak.source})"
    )
    return MfuEstimate(of, values, formula, inputs)


def _logged_parameters(run: RunValues) -> SourcedNumber | None:
    count = run.find(answer_metrics().single.parameters)
    return None if count is None or not count.now > 0 else SourcedNumber(count.now, count.tag)


def _attention(run: RunValues, hardware: Hardware, steps: Ints) -> tuple[Floats | float, str]:
    """FLOPs of attention for a token at (n,) steps, and their term of the formula; 0 and "" if unknown."""
    layers, width = hardware.layers, hardware.hidden_size
    if layers is None or width is None:
        return 0.0, ""
    length = run.find(answer_metrics().single.mean_tokens)
    if length is not None:
        tokens = length.held(steps)
    else:
        parts = [values for _, values in run.find_all("prompt_and_response")]
        if not parts:
            return 0.0, ""
        tokens = np.sum([one.held(steps) for one in parts], axis=0)
    return 12 * layers.value * width.value * tokens, " + 12 L h T"

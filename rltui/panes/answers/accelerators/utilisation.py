"""What a run gets for its hardware: utilisation with its usual band, throughput, what bounds a step."""

from __future__ import annotations

from dataclasses import replace

from rltui.common.arrays import quantile
from rltui.draw.numbers import SHARE, format_si, format_value
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.accelerators.mfu_estimate import mfu_estimate
from rltui.panes.answers.answer import Answer, Fact, Range
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.per_rank import per_rank
from rltui.panes.answers.recent_values import LAST, RunValues, Values, fact
from rltui.panes.answers.step_time.step_time import step_time, token_rate

QUESTION = "What do I get for the hardware?"
LOW = 0.3  # the limit of the rule mfu-low, as in the glossary
USUAL = (0.5, 0.6)  # the band of the glossary
BOUND = 0.5  # share of generation from which it bounds a step
MOST_FACTS = 6


def utilisation_answer(run: RunValues) -> Answer | None:
    """The answer of the pane perf; None for a run that logs neither utilisation nor throughput."""
    first = run.first_steps
    ranges, said = [], []
    for canonical, every in run.find_all("utilisation"):
        title, values = glossary().metrics[canonical].title, every.without_first(first)
        said.append(fact(title, values, SHARE))
        ranges.append(_range(title, values, said[-1].text))
    rates = []
    for canonical, values in run.find_all("rates"):
        metric = glossary().metrics[canonical]
        rates.append(token_rate(fact(metric.title, values.without_first(first), metric.unit), metric.unit))
    estimate = None if ranges else mfu_estimate(run)
    if estimate is not None:
        now = fact("MFU", estimate.values, SHARE, formula=estimate.formula)
        ranges.append(_range(f"≈ MFU of {estimate.of}", estimate.values, f"≈ {now.text}"))
        said.append(replace(now, title=f"MFU of {estimate.of}, estimated,"))
    strips = per_rank(run, "perf")
    steps = step_time(run)
    if not rates and steps is not None:
        rates = [one for one in steps.answer.facts if one.title == "tokens per second"]
    if not ranges and not rates and not strips:
        return _without_rates(run)
    waiting = []
    for canonical, values in run.find_all("waiting_shares"):
        title = glossary().metrics[canonical].title.lower()
        waiting.append(fact(title, values.without_first(first), SHARE))
    for canonical, values in run.find_all("memory"):
        if values.value.any():
            metric = glossary().metrics[canonical]
            text = format_value(float(values.value[-LAST:].max()), metric.unit)
            waiting.append(replace(fact(metric.title.lower(), values, metric.unit), text=text))
            break
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
        notes.append(f"│ marks 30 % (low) and 50 to 60 % (usual); ranges hold 90 % of the last {LAST} steps")
    facts = (*rates, *waiting)[:MOST_FACTS]
    return Answer(
        QUESTION, _sentence(said, rates, share, missing), facts, ranges=tuple(ranges), scale=scale,
        marks=(LOW, *USUAL) if ranges else (), strips=strips, notes=tuple(notes),
        formulas=(
            *((f"MFU of {estimate.of} = {estimate.formula}",) if estimate is not None else ()),
            *(f"{one.title} = {one.formula}" for one in facts if one.formula),
        ),
    )  # fmt: skip


def _without_rates(run: RunValues) -> Answer | None:
    """What is said of a log that has tokens, or times, but not both; None without either."""
    tokens = run.find_first("tokens")
    if tokens is None:
        return None
    count = fact("tokens a step", tokens, "tokens")
    said = "The log has the tokens of a step, but no times: throughput and MFU are not known."
    return Answer(QUESTION, said, (replace(count, text=format_si(count.value)),))


def _range(title: str, values: Values, text: str) -> Range:
    """Where nine tenths of the last values lie."""
    last = values.value[-LAST:]
    return Range(title, quantile(last, 0.05), values.now, quantile(last, 0.95), text)


def _sentence(said: list[Fact], rates: list[Fact], generation: float | None, missing: bool) -> str:
    """How busy the accelerators are, and what bounds a step."""
    if said:
        head = said[0]
        how = (
            "below 30 %: the accelerators wait" if head.value < LOW
            else "below the usual 50 to 60 %" if head.value < USUAL[0]
            else "in the usual range" if head.value <= USUAL[1]
            else "above the usual 50 to 60 %"
        )  # fmt: skip
        text = f"{head.title} is {head.text.strip()}, {how}"
        if head.change:
            text += f", {100 * head.change:+.0f} % over {head.change_steps:,} steps"
    else:
        text = "MFU is not reported: the log has zeros alone" if missing else "The log has no MFU"
        if rates and rates[0].change is not None:
            how = "steady" if not rates[0].change else "rising" if rates[0].change > 0 else "falling"
            text += f"; throughput is {how}"
    if generation is not None and generation >= BOUND:
        text += f". Generation bounds a step: {100 * generation:.0f} % of its time"
    elif generation is not None:
        text += f". Generation takes {100 * generation:.0f} % of a step"
    return text + "."

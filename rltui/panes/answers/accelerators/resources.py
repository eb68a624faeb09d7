"""What a run has used: accelerators, hours, tokens; each with its source."""

from __future__ import annotations

import numpy as np

from rltui.common.arrays import in_both, median
from rltui.draw.numbers import format_duration, format_short, format_si
from rltui.panes.answers.accelerators.hardware import SourcedNumber, hardware_of
from rltui.panes.answers.answer import Fact
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.recent_values import STEP, RunValues, Values
from rltui.session.time_travel import span_of

WHOLE = 0.02  # distance from a whole number within which a quotient is a number of accelerators
MAX_ACCELERATORS = 100_000


def accelerators(run: RunValues) -> SourcedNumber | None:
    """The number of accelerators: configured, else derived from throughputs; None if unknown.

    It is the total throughput divided by that per accelerator, or tokens of a step / (step time × throughput
    per accelerator), provided that the quotient is a whole number.
    """
    configured = hardware_of(run).gpus
    if configured is not None:
        return configured
    per_one = run.find(answer_metrics().single.throughput_per_accelerator)
    if per_one is None:
        return None
    total = run.find(answer_metrics().single.total_throughput)
    if total is not None:
        count = _whole_quotient(total, per_one)
        if count:
            return SourcedNumber(count, "tokens/s / tokens/s per GPU")
    tokens, step = run.find_first("tokens"), run.find(STEP)
    if tokens is not None and step is not None:
        steps = in_both(tokens.step, step.step)
        seconds = step.at(steps)
        timed = seconds > 0
        rate = Values("", steps[timed], tokens.at(steps[timed]) / seconds[timed])
        count = _whole_quotient(rate, per_one)
        if count:
            return SourcedNumber(count, "tokens of a step / (step time × tokens/s per GPU)")
    return None


def _whole_quotient(total: Values, one: Values) -> int:
    """The whole number that total / one is at nine of ten steps; 0 if there is none."""
    steps = in_both(total.step, one.step)
    divisor = one.at(steps)
    positive = divisor > 0
    if int(positive.sum()) < 3:
        return 0
    ratio = total.at(steps[positive]) / divisor[positive]
    count = round(median(ratio))
    near = float(np.mean(np.abs(ratio - count) <= WHOLE * max(count, 1)))
    return count if 1 <= count <= MAX_ACCELERATORS and near >= 0.9 else 0


def hours(run: RunValues) -> SourcedNumber | None:
    """Hours so far: the sum of step times, else from the first point to the last; None if unknown."""
    total = total_of(run, STEP)
    if total is not None and total > 0:
        return SourcedNumber(total / 3600, "sum of the step times")
    stored = run.view.run
    if run.at_step is not None and run.at_step < span_of(stored)[1]:
        return None
    spent = stored.last_wall - stored.first_wall
    return SourcedNumber(spent / 3600, "from the first point to the last") if spent > 0 else None


def total_of(run: RunValues, canonical: str) -> float | None:
    """The sum of all points of a metric in training up to a step; None without any."""
    values = run.find(canonical)
    if values is None:
        return None
    series = run.view.run.series[values.tag]
    first, last = series.first_step, run.as_of.last_step_of(series)
    if first is None or last is None or last < max(first, series.exact_from - 1):
        return None
    cut = series.columns_of_steps(first, last, 1)
    count = int(cut.count[0])
    return None if not count else float(run.in_canonical_unit(values.tag, cut.mean)[0]) * count


def tokens_so_far(run: RunValues) -> SourcedNumber | None:
    """Tokens so far: a counter in the log, else the sum of the tokens of steps; None if unknown."""
    counter = run.find(answer_metrics().single.token_counter)
    if counter is not None and len(counter.value):
        return SourcedNumber(float(counter.value[-1]))
    for canonical, values in run.find_all("tokens"):
        if len(values.value) > 3 and bool((np.diff(values.value) > 0).all()):  # it is a counter
            return SourcedNumber(float(values.value[-1]))
        total = total_of(run, canonical)
        if total is not None:
            return SourcedNumber(total, "sum of the tokens of the steps")
    return None


def resource_facts(run: RunValues) -> list[Fact]:
    """Accelerator hours and tokens so far."""
    facts = []
    spent, count = hours(run), accelerators(run)
    if spent is not None and count is not None:
        used = spent.value * count.value
        formula = f"{count.value:,.0f} GPUs ({count.source}) × {spent.source}"
        text = f"{format_short(used)} GPU-hours so far"
        facts.append(Fact("GPU-hours so far", used, text, formula=formula, plain=True))
    elif spent is not None:
        text = f"{format_duration(3600 * spent.value)} of steps so far"
        facts.append(Fact("hours so far", spent.value, text, formula=spent.source, plain=True))
    tokens = tokens_so_far(run)
    if tokens is not None:
        text = f"{format_si(tokens.value)} tokens so far"
        facts.append(Fact("tokens so far", tokens.value, text, formula=tokens.source, plain=True))
    return facts

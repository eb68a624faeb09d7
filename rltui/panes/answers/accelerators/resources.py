"""What a run has used: accelerators, hours, tokens; each with the way it is known."""

from __future__ import annotations

import math

import numpy as np

from rltui.common.arrays import median
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_duration, format_si
from rltui.panes.answers.accelerators.hardware import hardware_of
from rltui.panes.answers.answer import Fact
from rltui.panes.answers.recent_values import RunValues, Values
from rltui.session.time_travel import span_of

STEP = "timing.step"
COUNTER = "progress.tokens"
WHOLE = 0.02  # distance from a whole number within which a quotient is a number of accelerators
MOST_ACCELERATORS = 100_000


class Used(NamedTuple):
    """A number and how it is known: empty `formula` for what the log or the settings say."""

    value: float
    formula: str = ""


def accelerators(run: RunValues) -> Used | None:
    """How many accelerators train: as the user or the settings say, else as throughputs imply; None unknown.

    A throughput in total by that per accelerator is their number where it is a whole one; so is tokens of a
    step / (step time x throughput per accelerator).
    """
    told = hardware_of(run).gpus
    if told is not None:
        return Used(told.value, told.source)
    per_one = run.find("perf.throughput")
    if per_one is None:
        return None
    total = run.find("perf.tokens_per_second")
    if total is not None:
        found = _whole(total, per_one)
        if found:
            return Used(found, "tokens/s / tokens/s per GPU")
    tokens, step = run.find_first("tokens"), run.find(STEP)
    if tokens is not None and step is not None:
        steps = np.intersect1d(tokens.step, step.step)
        seconds = step.at(steps)
        there = seconds > 0
        rate = Values("", steps[there], tokens.at(steps[there]) / seconds[there])
        found = _whole(rate, per_one)
        if found:
            return Used(found, "tokens of a step / (step time × tokens/s per GPU)")
    return None


def _whole(total: Values, one: Values) -> int:
    """The whole number that total / one is at most steps; 0 where it is none."""
    steps = np.intersect1d(total.step, one.step)
    below = one.at(steps)
    there = below > 0
    if int(there.sum()) < 3:
        return 0
    ratio = total.at(steps[there]) / below[there]
    count = round(median(ratio))
    near = float(np.mean(np.abs(ratio - count) <= WHOLE * max(count, 1)))
    return count if 1 <= count <= MOST_ACCELERATORS and near >= 0.9 else 0


def hours(run: RunValues) -> Used | None:
    """Hours so far: the sum of step times, else from the first point to the last; None unknown."""
    total = total_of(run, STEP)
    if total is not None and total > 0:
        return Used(total / 3600, "sum of the step times")
    stored = run.view.run
    if run.at_step is not None and run.at_step < span_of(stored)[1]:
        return None
    spent = stored.last_wall - stored.first_wall
    return Used(spent / 3600, "from the first point to the last") if spent > 0 else None


def total_of(run: RunValues, canonical: str) -> float | None:
    """The sum of all shown points of a metric of training up to a step; None without any."""
    found = run.find(canonical)
    if found is None:
        return None
    series, name = run.view.run.series[found.tag], run.name(found.tag)
    first, last = series.first_step, series.last_step
    if first is None or last is None or (run.at_step is not None and run.at_step < series.exact_from - 1):
        return None
    end = last if run.at_step is None else min(last, run.at_step)
    cut = series.columns(float(first), math.nextafter(end + 1.0, 0.0), 1)
    count = int(cut.count[0])
    return None if not count else (float(cut.mean[0]) * name.scale + name.offset) * count


def tokens_so_far(run: RunValues) -> Used | None:
    """Tokens so far: a counter of the log, else the sum of the tokens of its steps; None unknown."""
    counter = run.find(COUNTER)
    if counter is not None and len(counter.value):
        return Used(float(counter.value[-1]))
    for canonical, values in run.find_all("tokens"):
        if len(values.value) > 3 and bool((np.diff(values.value) > 0).all()):
            return Used(float(values.value[-1]))  # it counts on by itself
        total = total_of(run, canonical)
        if total is not None:
            return Used(total, "sum of the tokens of the steps")
    return None


def resource_facts(run: RunValues) -> list[Fact]:
    """Accelerator hours and tokens so far."""
    found = []
    spent, count = hours(run), accelerators(run)
    if spent is not None and count is not None:
        used = spent.value * count.value
        formula = f"{count.value:,.0f} GPUs ({count.formula}) × {spent.formula}"
        text = f"{format_hours(used)} GPU-hours so far"
        found.append(Fact("GPU-hours so far", used, text, formula=formula, plain=True))
    elif spent is not None:
        text = f"{format_duration(3600 * spent.value)} of steps so far"
        found.append(Fact("hours so far", spent.value, text, formula=spent.formula, plain=True))
    tokens = tokens_so_far(run)
    if tokens is not None:
        text = f"{format_si(tokens.value)} tokens so far"
        found.append(Fact("tokens so far", tokens.value, text, formula=tokens.formula, plain=True))
    return found


def format_hours(hours: float) -> str:
    """`0.42`, `12.3`, `1,204`."""
    return f"{hours:,.0f}" if hours >= 100 else f"{hours:.3g}"

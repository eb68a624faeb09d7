"""The answer of the pane load: which ranks wait, before and after balancing, and slow samples."""

from __future__ import annotations

from rltui.draw.numbers import format_plain, format_share
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Answer, Fact, Range, formulas_of
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.per_rank import per_rank
from rltui.panes.answers.values.recent_values import LAST, RunValues, Values

EVEN = 0.05  # share of idle time below which the load is even
SLOW = 1.5  # times the usual sample, from which the slowest one delays the others
SAME_LOAD = 1e-9  # share of idle time below which ranks have the same load, or there is one rank


def load_answer(run: RunValues) -> Answer | None:
    """The answer of the pane load; None for a run that logs no load of ranks."""
    before, after = (_triple(run, f"{when}_balancing") for when in ("before", "after"))
    strips = per_rank(run, "load")
    logged = _value(run, answer_metrics().single.load_imbalance)
    stragglers = _stragglers(run)
    if before is None and after is None and not strips and logged is None and not stragglers:
        return None
    ranges = tuple(
        Range(title, *load, text=_load_text(load))
        for title, load in (("before balancing", before), ("after balancing", after))
        if load is not None
    )
    formulas = glossary().metrics[answer_metrics().single.heaviest_load].derived if ranges else ()
    facts = list(_facts(before, after)) if ranges else []
    if not ranges and logged is None and stragglers:
        stragglers = (stragglers[0]._replace(in_sentence=True), *stragglers[1:])
    if logged is not None and before is None:
        now = f"{logged.now:.2f}"
        steps = int(logged.step[-1] - logged.step[0])
        facts.append(Fact("heaviest / mean", logged.now, now, logged.change, steps, in_sentence=not ranges))
    low = min((one.low for one in ranges), default=0.0)
    high = max((one.high for one in ranges), default=1.0)
    room = (high - low) * 0.1 or max(abs(high) * 0.05, 1.0)
    return Answer(
        _sentence(before, after, logged, stragglers), (*facts, *stragglers),
        ranges=ranges, scale=(low - room, high + room), strips=strips,
        notes=(f"medians of the last {LAST} steps, tokens per rank",) if ranges else (),
        formulas=(*formulas, *formulas_of(stragglers)),
    )  # fmt: skip


def imbalance(load: tuple[float, float, float]) -> float:
    """Load of the heaviest rank divided by the mean load: 1 is even."""
    return load[2] / load[1] if load[1] > 0 else 1.0


def idle_share(load: tuple[float, float, float]) -> float:
    """Share of the heaviest rank's time for which the lightest waits, if time is proportional to tokens."""
    return 1 - load[0] / load[2] if load[2] > 0 else 0.0


def _value(run: RunValues, canonical: str) -> Values | None:
    values = run.find(canonical)
    return None if values is None else values.without_first(run.first_steps)


def _triple(run: RunValues, listed: str) -> tuple[float, float, float] | None:
    """Medians of minimum, mean and maximum; the mean of both if the mean is not logged."""
    low, mean, high = (_value(run, metric) for metric in answer_metrics().metrics[listed])
    if low is None or high is None or low.now > high.now:
        return None
    middle = mean.now if mean is not None else (low.now + high.now) / 2
    return low.now, min(max(middle, low.now), high.now), high.now


def _load_text(load: tuple[float, float, float]) -> str:
    return f"{format_plain(load[0])} … {format_plain(load[1])} … {format_plain(load[2])} tokens"


def _facts(
    before: tuple[float, float, float] | None, after: tuple[float, float, float] | None
) -> tuple[Fact, ...]:
    facts = []
    for when, load in (("before", before), ("after", after)):
        if load is not None:
            ratio, idle = imbalance(load), idle_share(load)
            facts.append(Fact(f"max / mean {when}", ratio, f"{ratio:.2f}", formula="heaviest / mean load"))
            formula = "1 - lightest / heaviest"
            facts.append(Fact("lightest idle", idle, format_share(idle), formula=formula, in_sentence=True))
    return tuple(facts)


def _stragglers(run: RunValues) -> tuple[Fact, ...]:
    facts = []
    for title, most, usual in answer_metrics().straggler:
        slowest = _value(run, most)
        mean = _value(run, usual) if usual else None
        if slowest is None or (usual and (mean is None or not mean.now > 0)):
            continue
        ratio = slowest.now if mean is None else slowest.now / mean.now
        formula = "slowest / mean" if mean is not None else ""
        times = f"{ratio:.2g} times" if f"{ratio:.2g}" != "1" else "no more than"
        facts.append(Fact(title, ratio, f"{times} the {'mean' if usual else 'median'}", formula=formula))
    return tuple(facts)


def _sentence(
    before: tuple[float, float, float] | None,
    after: tuple[float, float, float] | None,
    logged: Values | None,
    stragglers: tuple[Fact, ...],
) -> str:
    load = after or before
    if load is None:
        if logged is not None:
            return f"The heaviest rank has {logged.now:.2f} times the mean load; the others wait for it."
        if stragglers and stragglers[0].value < SLOW:
            return f"No sample holds up the others: the {stragglers[0].title} is {stragglers[0].text}."
        if stragglers:
            return f"The batch waits for its {stragglers[0].title}: {stragglers[0].text}."
        return "The log has values of single ranks, but not how they compare."
    idle = idle_share(load)
    when = "After balancing" if after is not None else "Before balancing"
    if idle <= SAME_LOAD:
        return f"{'After balancing all' if after else 'All'} ranks have the same load: nobody waits."
    was = f" ({format_share(idle_share(before))} before)" if after is not None and before is not None else ""
    if idle < EVEN:
        return f"{when} the lightest rank waits {format_share(idle)} of the time{was}: the load is even."
    return f"{when} the lightest rank waits {format_share(idle)} of the time for the heaviest{was}."

"""Who waits for whom: the load of the ranks before and after balancing, and what slow samples cost."""

from __future__ import annotations

from dataclasses import replace

from rltui.draw.numbers import format_plain, format_share
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Answer, Fact, Range
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.per_rank import per_rank
from rltui.panes.answers.recent_values import LAST, RunValues, Values

QUESTION = "Who waits for whom?"
IMBALANCE = "load.imbalance"
EVEN = 0.05  # share of idle time below which nobody waits for anybody
WORTH = 1.5  # times the usual one from which the slowest holds up the others
SINGLE = 1e-9  # ranks whose loads differ by less are one rank, or as good as one


def load_answer(run: RunValues) -> Answer | None:
    """The answer of the pane load; None for a run that logs no load of ranks."""
    before, after = (_triple(run, f"{when}_balancing") for when in ("before", "after"))
    strips = per_rank(run, "load")
    logged = _value(run, IMBALANCE)
    stragglers = _stragglers(run)
    if before is None and after is None and not strips and logged is None and not stragglers:
        return None
    ranges = tuple(
        Range(title, *one, text=_words(one))
        for title, one in (("before balancing", before), ("after balancing", after))
        if one is not None
    )
    formulas = glossary().metrics["load.seqlen.max"].derived if ranges else ()
    facts = list(_facts(before, after)) if ranges else []
    if not ranges and logged is None and stragglers:
        stragglers = (replace(stragglers[0], told=True), *stragglers[1:])
    if logged is not None and before is None:
        now = f"{logged.now:.2f}"
        facts.append(Fact("heaviest / mean", logged.now, now, logged.change, _span(logged), told=not ranges))
    low = min((one.low for one in ranges), default=0.0)
    high = max((one.high for one in ranges), default=1.0)
    room = (high - low) * 0.1 or max(abs(high) * 0.05, 1.0)
    return Answer(
        QUESTION, _sentence(before, after, logged, stragglers), (*facts, *stragglers),
        ranges=ranges, scale=(low - room, high + room), strips=strips,
        notes=(f"medians of the last {LAST} steps, tokens per rank",) if ranges else (),
        formulas=(*formulas, *(f"{one.title} = {one.formula}" for one in stragglers if one.formula)),
    )  # fmt: skip


def imbalance(load: tuple[float, float, float]) -> float:
    """Load of the heaviest rank by the mean one: 1 is even."""
    return load[2] / load[1] if load[1] > 0 else 1.0


def idle_share(load: tuple[float, float, float]) -> float:
    """Share of the time of the heaviest rank for which the lightest waits, if time goes with tokens."""
    return 1 - load[0] / load[2] if load[2] > 0 else 0.0


def _value(run: RunValues, canonical: str) -> Values | None:
    found = run.find(canonical)
    return None if found is None else found.without_first(run.first_steps)


def _triple(run: RunValues, listed: str) -> tuple[float, float, float] | None:
    """Medians of minimum, mean and maximum; the middle of both where the mean is not logged."""
    low, mean, high = (_value(run, each) for each in answer_metrics().metrics[listed])
    if low is None or high is None or low.now > high.now:
        return None
    middle = mean.now if mean is not None else (low.now + high.now) / 2
    return low.now, min(max(middle, low.now), high.now), high.now


def _words(load: tuple[float, float, float]) -> str:
    return f"{format_plain(load[0])} … {format_plain(load[1])} … {format_plain(load[2])} tokens"


def _facts(
    before: tuple[float, float, float] | None, after: tuple[float, float, float] | None
) -> tuple[Fact, ...]:
    found = []
    for when, load in (("before", before), ("after", after)):
        if load is not None:
            ratio, idle = imbalance(load), idle_share(load)
            found.append(Fact(f"max / mean {when}", ratio, f"{ratio:.2f}", formula="heaviest / mean load"))
            formula = "1 - lightest / heaviest"
            found.append(Fact("lightest idle", idle, format_share(idle), formula=formula, told=True))
    return tuple(found)


def _stragglers(run: RunValues) -> tuple[Fact, ...]:
    found = []
    for title, most, usual in answer_metrics().straggler:
        top = _value(run, most)
        base = _value(run, usual) if usual else None
        if top is None or (usual and (base is None or not base.now > 0)):
            continue
        ratio = top.now if base is None else top.now / base.now
        formula = "slowest / mean" if base is not None else ""
        beside = f"{ratio:.2g} times" if f"{ratio:.2g}" != "1" else "no more than"
        found.append(Fact(title, ratio, f"{beside} the {'mean' if usual else 'median'}", formula=formula))
    return tuple(found)


def _span(values: Values) -> int:
    return int(values.step[-1] - values.step[0])


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
        if stragglers and stragglers[0].value < WORTH:
            return f"No sample holds up the others: the {stragglers[0].title} is {stragglers[0].text}."
        if stragglers:
            return f"The batch waits for its {stragglers[0].title}: {stragglers[0].text}."
        return "The log has values of single ranks, but not how they compare."
    idle = idle_share(load)
    when = "After balancing" if after is not None else "Before balancing"
    if idle <= SINGLE:
        return "All ranks have the same load: nobody waits."
    was = f" ({format_share(idle_share(before))} before)" if after is not None and before is not None else ""
    if idle < EVEN:
        return f"{when} the lightest rank waits {format_share(idle)} of the time{was}: the load is even."
    return f"{when} the lightest rank waits {format_share(idle)} of the time for the heaviest{was}."

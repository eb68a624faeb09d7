"""The answer of the pane timing: the phases of a step, their parts, and the remainder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints, median, quantile
from rltui.common.display_text import first_of, in_sentence
from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_pace, format_plain, format_seconds, format_share, format_step
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer import Answer, Fact, Share, StepPhase, formulas_of
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.step_time.step_gantt import gantt, longest
from rltui.panes.answers.step_time.step_phases import (
    OVERLAP,
    Phase,
    by_frequency,
    logged_phases,
    waits_for_others,
    within_step,
    without_nan,
)
from rltui.panes.answers.values.recent_values import LAST, STEP, RunValues, Values, binned

PER_TOKEN = "timing.per_token."

SMALL = 0.01  # share below which phases are combined
DOMINANT = 0.35  # share from which the largest phase is the bottleneck
SLOW_FIRST = 1.5  # times the median, from which the time of the first step is noted

STEP_FACT = "step"
FORMULAS = {"steps per minute": "60 / step time", "tokens per second": "tokens of a step / step time"}


class StepTime(NamedTuple):
    """The time of steps and of their phases, without the first step."""

    answer: Answer
    generation: float | None = None  # its share


def step_time_answer(run: RunValues) -> Answer | None:
    """The answer of the pane timing; None for a run without times of steps, phases and points."""
    time, spans = step_time(run), run.inputs.spans
    chart = gantt(run, spans)
    text = "" if chart is None else f"Spans of {chart.title} are {'; '.join(longest(chart))}"
    if time is None:
        if chart is None:
            return _by_points(run)
        return Answer(f"{text}.", gantt=chart, notes=spans.notes)
    notes = (*time.answer.notes, *filter(None, [text]), *spans.notes)
    return time.answer._replace(gantt=chart, notes=notes)


def _by_points(run: RunValues) -> Answer | None:
    """The time of a step by the wall times of points; None if they are unknown, or for an earlier step."""
    seconds = run.view.seconds_per_step if run.at_step is None else None
    if seconds is None:
        return None
    rate = f" ({format_plain(1 / seconds, 3)} a second)" if seconds < 1 else ""
    by_points = f"By the times of its points a step takes {format_seconds(seconds)}{rate}"
    return Answer(f"{by_points}; times of phases are not logged.")


def step_time(run: RunValues) -> StepTime | None:
    """The shares of a step's time up to a step; None without times of steps or phases."""
    first = run.first_steps
    whole = _step_values(run)
    phases = logged_phases(run, first)
    steps = whole.without_first(first) if whole is not None else None
    inside = {phase.tag: phase.inside.tag for phase in phases if phase.inside is not None}
    inside |= _per_token_tags(run, phases)
    phases, unknown = without_nan(run, phases)
    regular, seldom = by_frequency(phases, steps)
    if steps is None and not regular:
        return _one_phase(phases)
    axis = steps.step if steps is not None else _common(regular)
    if not len(axis):
        return None
    top = [phase for phase in regular if phase.inside is None]
    lengths = steps.at(axis) if steps is not None else np.zeros(len(axis))
    work = np.sum([phase.values.at(axis) for phase in top], axis=0) if top else np.zeros(len(axis))
    waits = waits_for_others(top, lengths, work)
    if waits:
        top = [phase for phase in top if phase not in waits]
        work = np.sum([phase.values.at(axis) for phase in top], axis=0)
    between = {id(phase): within_step(phase, axis, lengths - work) for phase in seldom}
    for phase in seldom:
        if between[id(phase)]:
            lengths = np.maximum(lengths - phase.values.at(axis), 0.0)
    last, count = slice(-LAST, None), min(LAST, len(axis))
    total, busy = float(lengths[last].sum()), float(work[last].sum())
    overlap = total > 0 and busy > OVERLAP * total
    base = busy if overlap or not total else max(total, busy)
    shares, kept = _shares(top, axis[last], base, base - busy)
    facts = _facts(run, steps)
    if not shares:
        facts = tuple(one._replace(in_sentence=one.title == STEP_FACT) for one in facts)
    per_token = _per_token(run, axis)
    parts = _parts(kept, axis, lengths if total and not overlap else work, base, last, per_token)
    parts += [_seldom_part(phase, axis, lengths, between[id(phase)]) for phase in seldom]
    of = f"the last {count} steps" if count > 1 else f"step {format_step(int(axis[-1]))}"
    notes = [*unknown, *_notes(whole, first, steps, top, kept, base, axis[last])]
    notes += _wait_notes(waits, axis[last], total)
    sentence = _sentence(shares, total / count, busy / count, overlap, facts, bool(unknown))
    answer = Answer(
        sentence, facts,
        shares_of=_shares_of(total, overlap, of, any(between.values())), shares=shares, parts=tuple(parts),
        inside=inside, notes=tuple(notes),
        formulas=_formulas(of if shares else "", overlap or not total, facts, parts),
    )  # fmt: skip
    generation = [phase for phase in kept if phase.canonical in answer_metrics().metrics["generation"]]
    return StepTime(answer, _generation(generation, axis[last], base))


def _generation(phases: Sequence[Phase], steps: Ints, base: float) -> float | None:
    """The share of phases that generate; None without any."""
    if not phases or not base:
        return 0.0 if phases else None
    return float(sum(phase.values.at(steps).sum() for phase in phases)) / base


def _wait_notes(waits: Sequence[Phase], steps: Ints, total: float) -> Iterator[str]:
    """The phases in which one process waits for others, as shares of the `total` time of these steps."""
    for phase in waits:
        spent = format_share(float(phase.values.at(steps).sum()) / total)
        yield f"{in_sentence(phase.title)}: {spent} of a step, while other phases run"


def _step_values(run: RunValues) -> Values | None:
    """The step time; of several keys the one with most points, then the longest."""
    names = ((tag, run.name(tag)) for tag in run.tags(STEP))
    logged = [run.of(tag) for tag, name in names if not name.held_out and not name.statistic]
    return max(
        (values for values in logged if len(values.value)),
        key=lambda values: (len(values.value), median(values.value)),
        default=None,
    )


def _one_phase(phases: Sequence[Phase]) -> StepTime | None:
    """The answer for a single phase, with its parts, without times of steps; None for several or none."""
    top = [phase for phase in phases if phase.inside is None]
    if len(top) != 1 or not top[0].values.now > 0:
        return None
    phase = top[0]
    time = phase.values.fact(phase.title.lower(), "s")
    part = max(phase.parts, key=lambda part: part.values.now, default=None)
    most = ""
    if part is not None and part.values.now > 0:
        share = min(part.values.now / phase.values.now, 1.0)
        most = f", {format_share(share)} of it {in_sentence(part.title)}"
    alone = "the log has no time of whole steps to compare it with"
    text = f"{phase.title} takes {_with_trend(time)}{most}; {alone}."
    return StepTime(Answer(text, (time._replace(in_sentence=True),)))


def _with_trend(time: Fact) -> str:
    """`12.3 s, up 20 % over 60 steps`."""
    return ", ".join(filter(None, (time.text, time.trend(in_words=True))))


def _common(phases: Sequence[Phase]) -> Ints:
    """The steps of the phase with most of them."""
    return max((phase.values.step for phase in phases), key=len)


def _shares(
    top: Sequence[Phase], steps: Ints, base: float, rest: float
) -> tuple[tuple[Share, ...], list[Phase]]:
    """Shares that add up to one, the largest first, the remainder last; and the phases of at least 1 %."""
    if not base > 0 or not top:
        return (), []
    sums = sorted(((float(one.values.at(steps).sum()), one) for one in top), key=lambda pair: -pair[0])
    large = [(seconds, one) for seconds, one in sums if seconds >= SMALL * base]
    small = sum(seconds for seconds, _ in sums[len(large) :])
    count = len(steps)
    shares = [Share(one.title, seconds / base, seconds / count) for seconds, one in large]
    if small + rest > 0:
        shares.append(Share("other", (small + rest) / base, (small + rest) / count, named=False))
    return tuple(shares), [one for _, one in large]


def _parts(
    top: Sequence[Phase],
    axis: Ints,
    lengths: Floats,
    base: float,
    last: slice,
    per_token: dict[str, tuple[float, bool]],
) -> list[StepPhase]:
    """The phases as lines, each followed by its parts, the longest first."""
    lines: list[StepPhase] = []
    generation = answer_metrics().metrics["generation"]

    def add(phase: Phase, depth: int) -> None:
        at = phase.values.at(axis)
        ran = at[at > 0]
        share = float(at[last].sum()) / base if base else 0.0
        with np.errstate(invalid="ignore", divide="ignore"):
            history = np.where(lengths > 0, at / lengths, np.nan)
        token, derived = per_token.get(phase.tag, per_token.get(phase.canonical, (None, False)))
        # Generation only makes the tokens of responses, not all of the batch.
        if token is None and "" in per_token and phase.canonical not in generation:
            token, derived = 1e3 * float(at[last].sum()) / per_token[""][0], True
        lines.append(
            StepPhase(
                phase.title, phase.tag, median(ran), quantile(ran, 0.95), None if depth else share, depth,
                "inside" if depth else "", token, derived, binned(history),
            )
        )  # fmt: skip
        for one in sorted(phase.parts, key=lambda one: -float(one.values.at(axis).sum())):
            if depth < 3 and float(one.values.at(axis[last]).sum()) >= SMALL * base:
                add(one, depth + 1)

    for phase in top:
        add(phase, 0)
    return lines


def _seldom_part(phase: Phase, axis: Ints, lengths: Floats, inside: bool) -> StepPhase:
    """A phase that runs every N steps, with the time that it adds to a step on average."""
    values = phase.values
    cost, usual = float(values.value.mean()), median(lengths[lengths > 0]) if (lengths > 0).any() else 0.0
    if len(values.step) < 2:
        note = f"once, at step {format_step(int(values.step[-1]))}"
    else:
        every = median(np.diff(values.step).astype(float))
        stride = median(np.diff(axis).astype(float)) if len(axis) > 1 else 1.0
        note = f"every {every:,.0f} steps"
        if usual > 0 and every > 0:
            note += f", +{format_share(cost / (every / max(stride, 1.0)) / usual)} a step"
    if not inside and usual > 0:
        note += ", outside the step time"
    middle, high = median(values.value), quantile(values.value, 0.95)
    return StepPhase(phase.title, phase.tag, middle, high, None, 0, note)


def _facts(run: RunValues, steps: Values | None) -> tuple[Fact, ...]:
    """Step time and tokens per second with their trends, and steps per minute."""
    first = run.first_steps
    facts: list[Fact] = []
    if steps is not None and steps.now > 0:
        length = steps.fact(STEP_FACT, "s")
        rate, text = 60 / steps.now, format_pace(steps.now)
        formula = FORMULAS["steps per minute"]
        # The trend of the step time says how this changed.
        facts = [length, Fact("steps per minute", rate, text, formula=formula, plain=True)]
    for canonical, values in run.find_all("tokens_per_second"):
        unit = glossary().metrics[canonical].unit
        facts.append(token_rate(values.without_first(first).fact("tokens per second", unit), unit))
        return tuple(facts)
    tokens = _tokens(run)
    if tokens is not None and steps is not None:
        at = tokens.at(steps.step)
        known = (at > 0) & (steps.value > 0)
        if known.any():
            rate_values = Values("", steps.step[known], at[known] / steps.value[known])
            formula = FORMULAS["tokens per second"]
            derived = rate_values.fact("tokens per second", "tokens/s", formula=formula)
            facts.append(token_rate(derived, "tokens/s"))
    return tuple(facts)


def token_rate(rate: Fact, unit: str) -> Fact:
    """A rate of tokens with its unit spelled out."""
    number = rate.text.split(" ")[0]
    spelled = {"tokens/s/gpu": "tok/s per GPU", "tokens/s": "tok/s"}.get(unit, unit)
    return rate._replace(text=f"{number} {spelled}", plain=True)


def _tokens(run: RunValues) -> Values | None:
    """Tokens of each step; None if they are not logged, or only as a cumulative count."""
    logged = (values for _, values in run.find_all("tokens"))
    return next((values for values in logged if not _is_cumulative(values)), None)


def _is_cumulative(values: Values) -> bool:
    steps = np.diff(values.value)
    return (
        len(steps) >= 3 and bool((steps > 0).all()) and float(values.value[-1]) > 2 * float(values.value[0])
    )


def _per_token(run: RunValues, axis: Ints) -> dict[str, tuple[float, bool]]:
    """Milliseconds per token by phase as logged, and under `""` the sum of the tokens of the last steps."""
    per_token: dict[str, tuple[float, bool]] = {}
    for canonical in run.view.tag_index.canonical:
        if canonical.startswith(PER_TOKEN) and not canonical.endswith(".other"):
            values = run.find(canonical)
            if values is not None:
                per_token[f"timing.{canonical.removeprefix(PER_TOKEN)}"] = (values.now, False)
    tokens = _tokens(run)
    if tokens is not None:
        at = tokens.at(axis[-LAST:])
        if (at > 0).all() and len(at):
            per_token[""] = (float(at.sum()), True)
    return per_token


def _per_token_tags(run: RunValues, phases: Sequence[Phase]) -> dict[str, str]:
    """Keys of times per token, each with the key of its phase."""
    heads = {phase.canonical: phase.tag for phase in phases if phase.inside is None}
    return {
        tag: heads[phase]
        for canonical, tags in run.view.tag_index.canonical.items()
        if (phase := f"timing.{canonical.removeprefix(PER_TOKEN)}") in heads
        and canonical.startswith(PER_TOKEN)
        for tag in tags
    }


def _shares_of(total: float, overlap: bool, of: str, rest: bool) -> str:
    if overlap:
        return f"all phases together, {of}"
    if not total:
        return f"all phases that are logged, {of}"
    return f"the step time, {of}" + (", without what runs every N steps" if rest else "")


def _sentence(
    shares: Sequence[Share], step: float, busy: float, overlap: bool, facts: Sequence[Fact], unknown: bool
) -> str:
    """The bottleneck, or the time of steps without phases; unknown: whether times of phases are NaN."""
    if not shares:
        known = "the times of their phases are NaN" if unknown else "their phases are not logged"
        time = next((one for one in facts if one.title == STEP_FACT), None)
        return (
            f"{known[:1].upper()}{known[1:]}."
            if time is None
            else f"Steps take {_with_trend(time)}; {known}."
        )
    named = [share for share in shares if share.named]
    if overlap:
        longest, work, whole = named[0], format_seconds(busy), format_seconds(step)
        return (
            f"Phases run at the same time: {work} of work in a step of {whole}; "
            f"the longest is {in_sentence(longest.title)}, {format_seconds(longest.seconds)}."
        )
    rest = next((share for share in shares if not share.named), None)
    if rest is not None and (not named or rest.share > max(0.5, named[0].share)):
        tail = (
            f"; the longest named one is {in_sentence(named[0].title)}, {format_share(named[0].share)}"
            if named
            else ""
        )
        where = "in no phase whose time is known" if unknown else "in no phase that the log names"
        return f"{format_share(rest.share)} of a step is {where}{tail}."
    head, of = named[0], "a step" if step > 0 else "the logged time"
    tail = ""
    if len(named) > 1:
        second = f"{in_sentence(named[1].title)} {format_share(named[1].share)}"
        if head.share < DOMINANT:
            first = f"{in_sentence(head.title)} takes {format_share(head.share)}"
            return f"No phase dominates: {first}, {second} of {of}."
        tail = f"; {second}"
    return f"The bottleneck is {in_sentence(head.title)}: {format_share(head.share)} of {of}{tail}."


def _notes(
    whole: Values | None, first: Ints, steps: Values | None, top: Sequence[Phase], kept: Sequence[Phase],
    base: float, last: Ints,
) -> list[str]:  # fmt: skip
    """Notes on phases that are combined, and on the first step if it is left out."""
    notes = []
    small = [phase for phase in top if phase not in kept]
    if small and base > 0:
        share = sum(float(one.values.at(last).sum()) for one in small) / base
        word = "phase" if len(small) == 1 else "phases"
        names = first_of([one.title for one in small], 4)
        notes.append(f"{len(small)} {word} below 1 %, together {format_share(share)}: {names}")
    if whole is not None and steps is not None and whole.step[0] <= first[0] < steps.step[0]:
        slow = float(whole.value[0])
        if slow > SLOW_FIRST * steps.now > 0:
            notes.append(f"step {format_step(int(first[0]))} is left out: it took {format_seconds(slow)}")
    return notes


def _formulas(
    steps: str, of_phases: bool, facts: Sequence[Fact], parts: Sequence[StepPhase]
) -> tuple[str, ...]:
    """How values were derived that are not logged."""
    formulas = [*formulas_of(facts)]
    if steps:
        of = "all phases" if of_phases else "the steps"
        formulas.insert(0, f"share of a phase = its seconds / seconds of {of}, both summed over {steps}")
    if any(part.per_token_derived for part in parts):
        formulas.append("per token = phase seconds / tokens of the batch, where it is not logged (marked ≈)")
    return tuple(formulas)

"""The phases of a step that a run logs: which key is a phase, of which other, and at which steps it runs.

Which metrics are phases, and of which they may be parts, is data (`within` of a metric). Ambiguities are
resolved by values: a part is never longer than its whole, a phase that is missing at most steps runs every N
steps, and phases that add up to more than the step run at the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from rltui.common.arrays import Floats, Ints, median
from rltui.metrics.glossary_files import glossary
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.values.recent_values import LAST, RunValues, Values

OVERLAP = 1.02  # steps; phases that add up to more overlap, less is rounding of timers
SELDOM = 0.6  # share of the steps below which a phase runs every N steps
UNKNOWN = 0.1  # share of the last steps; a phase that is NaN at more of them is left out
PART_SLACK = 1.05  # timers of a part and of its whole start and stop at different moments
MAX_PHASES = 200  # keys; in a log with more they are no phases


@dataclass(slots=True)
class Phase:
    """A key that logs the time of a phase. `inside` is the phase that it is a part of."""

    values: Values
    title: str
    canonical: str
    inside: Phase | None = None
    parts: list[Phase] = field(default_factory=list)

    @property
    def tag(self) -> str:
        """The key that logs it."""
        return self.values.tag


def waits_for_others(top: Sequence[Phase], lengths: Floats, work: Floats) -> list[Phase]:
    """The phases of waiting if phases exceed the step: other phases run during them."""
    waits = [phase for phase in top if phase.canonical in answer_metrics().metrics["waiting_phases"]]
    last = slice(-LAST, None)
    exceeds = 0 < OVERLAP * float(lengths[last].sum()) < float(work[last].sum())
    return waits if exceeds and len(waits) < len(top) else []


def logged_phases(run: RunValues, first: Ints) -> list[Phase]:
    """The phases that a run logs, each with the phase that it is a part of."""
    metrics, named = glossary().metrics, answer_metrics().metrics["named_phases"]
    phases: list[Phase] = []
    for canonical, tags in run.view.tag_index.canonical.items():
        metric = metrics.get(canonical)
        if metric is None or not metric.within:
            continue
        for tag in tags[:MAX_PHASES]:
            name = run.name(tag)
            if name.held_out and canonical != answer_metrics().single.validation_time:
                continue
            if name.statistic not in ("", "mean"):
                continue  # extremes of a time are no phases
            values = run.of(tag)
            if len(values.value) and bool((values.value > 0).any()):
                title = _key_title(tag) if canonical in named else _short(name.title)
                phases.append(Phase(values, title, canonical))
    largest: dict[str, Phase] = {}
    for phase in sorted(phases, key=lambda one: -float(one.values.value.sum())):
        if phase.canonical in named:
            continue
        whole = largest.setdefault(phase.canonical, phase)
        if whole is not phase and np.isin(phase.values.step, whole.values.step).all():
            phase.inside, phase.title = whole, _key_title(phase.tag)
    for phase in phases:
        if phase.inside is None:
            phase.inside = _whole_of(phase, phases, largest)
    for phase in phases:
        phase.values = phase.values.without_first(first)
        if phase.inside is not None:
            phase.inside.parts.append(phase)
    return phases


def without_nan(run: RunValues, phases: list[Phase]) -> tuple[list[Phase], list[str]]:
    """The phases without those that are NaN at many steps, and notes on these."""
    kept, notes = [], []
    tags = [(phase.tag, phase.title) for phase in phases]
    always_nan = [
        (tag, _short(run.name(tag).title))
        for canonical, listed in run.view.tag_index.canonical.items()
        if canonical in glossary().metrics and glossary().metrics[canonical].within
        for tag in listed[:MAX_PHASES]
        if run.view.run.series[tag].nonfinite and tag not in dict(tags) and not run.name(tag).held_out
    ]
    for tag, title in (*tags, *always_nan):
        shown = run.points(tag).value
        lost = int((~np.isfinite(shown[-LAST:])).sum())
        if lost > UNKNOWN * min(len(shown), LAST):
            notes.append(f"{title} is NaN at {lost} of the last {min(len(shown), LAST)} steps and left out")
        else:
            kept += [phase for phase in phases if phase.tag == tag]
    for phase in kept:
        phase.inside = phase.inside if phase.inside in kept else None
        phase.parts = [part for part in phase.parts if part in kept]
    return kept, notes


def _whole_of(phase: Phase, phases: Sequence[Phase], largest: dict[str, Phase]) -> Phase | None:
    """The phase that another one is a part of: by its key, else by the glossary."""
    candidates = [one for one in phases if one is not phase and phase.tag.startswith(f"{one.tag}/")]
    for canonical in glossary().metrics[phase.canonical].within:
        candidates += [largest[canonical]] if canonical in largest else []
    for candidate in candidates:
        whole = candidate.values.at(phase.values.step)
        timed = whole > 0
        shorter = phase.values.value[timed] <= PART_SLACK * whole[timed]
        if candidate is not phase and timed.any() and bool(shorter.all()):
            return candidate
    return None


def _short(title: str) -> str:
    """`Generation` for `Generation time`: the pane is about times."""
    return title.removesuffix(" time").removesuffix(" phase")


def _key_title(tag: str) -> str:
    return tag.rpartition("/")[2] or tag


def by_frequency(phases: Sequence[Phase], steps: Values | None) -> tuple[list[Phase], list[Phase]]:
    """Phases of every step, and those that run every N steps.

    Without step times the most frequent phase is taken as every step; phases at other steps are then ignored,
    except for evaluation and checkpoints.
    """
    if steps is None:
        axis = max((phase.values.step for phase in phases), key=len, default=np.empty(0, np.int64))
    else:
        axis = steps.step
    regular: list[Phase] = []
    seldom: list[Phase] = []
    for phase in phases:
        at = phase.values.at(axis)
        begun = max(int(np.argmax(at > 0)), 0)
        ran = int((at > 0).sum())
        if not ran:
            continue
        if ran >= SELDOM * (len(at) - begun) and (ran > 1 or len(at) == 1):
            regular.append(phase)
        elif phase.inside is None:
            seldom.append(phase)
    known = [one for one in seldom if one.canonical in answer_metrics().metrics["seldom_phases"]]
    if steps is None and (len(known) < len(seldom) or len([p for p in regular if p.inside is None]) < 2):
        return [], []  # a single phase, or phases of different units of work
    for phase in regular:
        if phase.inside is not None and phase.inside not in regular:
            phase.inside = None
    return regular, seldom


def within_step(phase: Phase, axis: Ints, left: Floats) -> bool:
    """Whether the step time includes a phase that runs every N steps: the remainder is longer when it ran."""
    at = phase.values.at(axis)
    ran = at > 0
    if not ran.any():
        return False
    usual = median(left[~ran]) if (~ran).any() else 0.0
    return median(left[ran]) - usual >= 0.5 * median(at[ran])

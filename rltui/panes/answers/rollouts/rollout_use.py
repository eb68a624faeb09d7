"""The answer of the pane rollout: the share of rollouts that was of use, losses by reason, waiting, cost.

Rollouts are lost before training, or of no use in it: in groups whose samples all have the same reward.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.display_text import count_of
from rltui.draw.numbers import format_duration, format_share, format_short
from rltui.panes.answers.accelerators.resources import accelerators, hours, resource_facts
from rltui.panes.answers.answer import Amount, Answer, Fact, Share, formulas_of
from rltui.panes.answers.answer_metrics import answer_metrics
from rltui.panes.answers.rollouts.rollout_losses import (
    Loss,
    LostShares,
    losses_of,
    lost_shares,
    rollout_table,
    take_parts_out,
)
from rltui.panes.answers.step_time.step_time import step_time
from rltui.panes.answers.values.recent_values import LAST, RunValues, Values, binned

SMALL = 0.001  # share below which a reason is not named
NO_WAITING = 0.05  # share of waiting below which it is ignored
STARVES = 0.2  # share of waiting from which a side starves
MANY_CUT = 0.05  # share of responses cut off from which the sentence has it
TRAINING, GENERATION = "training waits", "generation idles"
COST = "lost share × hours"


def rollout_answer(run: RunValues) -> Answer | None:
    """The answer of the pane rollout; None for a run that does not log the use of its rollouts."""
    table = rollout_table()
    losses = list(losses_of(run, table.lost))
    inside = list(losses_of(run, table.without_signal))
    waiting = _waiting(run)
    lag = _lag(run)
    if not losses and not inside and not waiting and lag is None:
        return None
    facts = [*([lag] if lag is not None else []), *waiting]
    axis = max((one.values.step for one in (*losses, *inside)), key=len, default=np.empty(0, np.int64))[-400:]
    notes: list[str] = []
    found = lost_shares(run, losses, axis)
    among = found.among
    if among:
        notes.append("shares of the discarded rollouts: the log does not say how many were used")
    amounts, shares, lost = _partition(found, inside, axis, notes)
    counted = [one for one in found.counted if one.values.now > 0]
    amounts += [
        Amount(one.title, one.values.tag, None, one.values.now, _count_text(one), "the log has no total")
        for one in counted
    ]
    cut = run.find(answer_metrics().single.cut_off)
    if cut is not None and cut.now > 0:
        history = binned(cut.at(axis)) if len(axis) else ()
        note = "of what is used: cut off, but trained on"
        amounts.append(Amount("truncated", cut.tag, None, cut.now, format_share(cut.now), note, history))
    resources = resource_facts(run)
    cost = None if among or not lost else _cost(run, lost)
    facts += [*resources, *([cost] if cost is not None else [])]
    steps = min(LAST, len(axis))
    of = "discarded rollouts" if among else "rollouts"
    return Answer(
        _sentence(shares, counted, waiting, lag, cut, among=among), tuple(facts),
        shares_of=f"{of}, the last {count_of(steps, 'step')}" if shares else "", shares=shares,
        amounts=tuple(amounts), amounts_words=("outcome", "a step"), notes=tuple(notes),
        formulas=(*_formulas(bool(shares), bool(inside), among=among), *formulas_of(facts)),
    )  # fmt: skip


def _partition(
    lost: LostShares, inside: list[Loss], axis: Ints, notes: list[str]
) -> tuple[list[Amount], tuple[Share, ...], float]:
    """Lines of the table, shares that add up to one, and the share that was lost in the last steps."""
    if not len(axis) or not (lost.shared or inside):
        return [], (), 0.0
    last = slice(-LAST, None)
    for one in inside:
        one.share = np.clip(one.values.held(axis), 0.0, 1.0)
    take_parts_out(inside)
    if any(one.reason.signal and one.share.any() for one in lost.shared) and inside:
        flat = sum(float(one.share[last].mean()) for one in inside)
        if flat > SMALL:
            notes.append(
                f"{format_share(flat)} of the groups have equal rewards, as logged besides the filtered ones"
            )
        inside = []
    before = sum((one.share for one in lost.shared), np.zeros(len(axis)))
    if (over := float(before[last].mean())) > 1 + 1e-9:
        notes.append(f"reasons overlap: they add up to {format_share(over)} of the rollouts")
    scale = 1.0 / np.maximum(before, 1.0)  # so that overlapping reasons do not exceed one
    trained = 1.0 - np.minimum(before, 1.0)
    scale_inside = 1.0 / np.maximum(sum((one.share for one in inside), np.zeros(len(axis))), 1.0)
    lines: dict[str, tuple[Loss, Floats]] = {}
    for one, share in (
        *((one, one.share * scale) for one in lost.shared),
        *((one, one.share * scale_inside * trained) for one in inside),
    ):
        previous = lines.get(one.title)
        lines[one.title] = (one, share if previous is None else previous[1] + share)
    use = np.clip(1.0 - sum((share for _, share in lines.values()), np.zeros(len(axis))), 0.0, 1.0)
    title = "with a signal" if inside else "used"
    now = float(use[last].mean())
    shares = [] if lost.among else [Share(title, now, 0.0)]
    amounts = [] if lost.among else [Amount(title, "", now, history=binned(use))]
    for one, share in sorted(lines.values(), key=lambda line: -float(line[1][last].mean())):
        size = float(share[last].mean())
        if not share.any():
            continue
        count, text = (one.values.now, _count_text(one)) if one.counts else (None, "")
        amounts.append(Amount(one.title, one.values.tag, size, count, text, history=binned(share)))
        if size >= SMALL:
            shares.append(Share(one.title, size, 0.0))
    left = 1.0 - sum(one.share for one in shares)
    if left > 1e-9 and shares:
        shares.append(Share("other", left, 0.0, named=False))
    return amounts, tuple(shares), 0.0 if lost.among else 1.0 - now


def _count_text(one: Loss) -> str:
    return f"{format_short(one.values.now)} {'groups' if one.groups else 'rollouts'}"


# ---- waiting, age and cost


def _waiting(run: RunValues) -> list[Fact]:
    """The shares of time in which training and generation wait for each other."""
    facts = []
    for title, side in ((TRAINING, "training"), (GENERATION, "generation")):
        for canonical, whole in answer_metrics().waiting[side]:
            values = run.find(canonical)
            base = run.find(whole) if whole else None
            if values is None or (whole and base is None):
                continue
            formula = ""
            if base is not None:
                seconds = base.at(values.step)
                timed = seconds > 0
                if not timed.any():
                    continue
                share = np.minimum(values.value[timed] / seconds[timed], 1)
                values = Values(values.tag, values.step[timed], share)
                formula = "time spent waiting / step time"
            facts.append(values.fact(title, "fraction", text=format_share(values.now), formula=formula))
            break
    return facts


def _lag(run: RunValues) -> Fact | None:
    """The age, in versions, of the weights that generated the rollouts."""
    mean, most = (run.find(canonical) for canonical in rollout_table().lag)
    if mean is None:
        return None
    versions = format_short(mean.now)
    text = f"{versions} version{'' if versions == '1' else 's'}"
    if most is not None:
        text += f" (at most {format_short(float(most.value[-LAST:].max()))})"
    return mean.fact("policy lag", "versions", text=text)


def _cost(run: RunValues, lost: float) -> Fact | None:
    """The cost of generating the lost share so far; an upper bound if phases are unknown."""
    spent, count = hours(run), accelerators(run)
    if spent is None or lost < SMALL:
        return None
    steps = step_time(run)
    part = steps.generation if steps is not None else None
    total = spent.value * (count.value if count is not None else 1) * lost
    formula = COST
    if part is not None:
        total, formula = total * part, f"{COST} × generation's share of a step ({format_share(part)})"
    amount = f"{format_short(total)} GPU-hours" if count is not None else format_duration(3600 * total)
    return Fact(
        "lost rollouts cost", total, amount if part is not None else f"{amount} at most", formula=formula
    )


# ---- text


def _sentence(
    shares: Sequence[Share],
    counted: Sequence[Loss],
    waiting: Sequence[Fact],
    lag: Fact | None,
    cut: Values | None,
    *,
    among: bool,
) -> str:
    """Which share was of use, which was lost, and which side waits."""
    sentences = []
    named = [f"{one.title} {format_share(one.share)}" for one in shares if one.named]
    use = next((one for one in shares if one.named), None)
    if among and named:
        sentences.append(f"Discarded rollouts: {', '.join(named[:3])}")
    elif use is not None and len(named) > 1:
        verb = "are used" if use.title == "used" else "are used and carry a signal"
        lost = ", ".join(named[1:4])
        sentences.append(f"{format_share(use.share)} of the rollouts {verb}; lost: {lost}")
    elif use is not None:
        sentences.append("All rollouts are used" + ("" if use.title == "used" else " and carry a signal"))
    if cut is not None and cut.now >= MANY_CUT and use is not None and not among:
        sentences.append(f"{format_share(cut.now)} of the responses are cut off at their limit")
    starved = max(waiting, key=lambda one: one.value, default=None)
    if starved is not None and starved.value >= NO_WAITING:
        side, verb = ("Training", "waits") if starved.title == TRAINING else ("Generation", "idles")
        side = f"{side} starves: it" if starved.value >= STARVES else side
        sentences.append(f"{side} {verb} {format_share(starved.value)} of the time")
    elif len(waiting) > 1:
        sentences.append("Neither side waits for the other")
    if counted and not named:
        losses = ", ".join(f"{one.title} {_count_text(one)}" for one in counted[:3])
        sentences.insert(0, f"Lost in a step: {losses}; of how many is not logged")
    if not sentences and lag is not None:
        sentences.append(f"Rollouts are {lag.text} old when they are trained on; what is lost is not logged")
    return ". ".join(sentences or ["The log says what is lost, but not of how many rollouts"]) + "."


def _formulas(shares: bool, inside: bool, *, among: bool) -> list[str]:
    formulas = []
    if shares:
        of = "the discarded rollouts" if among else "all rollouts (used + lost)"
        formulas.append(f"share of an outcome = its rollouts / {of}, mean of the last {LAST} steps")
    if shares and inside and not among:
        formulas.append("with a signal = used × (1 - share of groups whose samples all earned the same)")
    return formulas

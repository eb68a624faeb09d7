"""The rollouts that a run loses, by reason, as shares of all rollouts.

The metrics of each reason are data (`rltui/data/rollout_losses.toml`). Ambiguities are resolved by values:
shares of reasons that add up to one at each step are shares of the discarded rollouts, and a count that never
falls counts since the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.answers.values.recent_values import RunValues, Values
from rltui.schema.metric import MetricReference
from rltui.schema.toml_files import read_table

CUMULATIVE_POINTS = 8  # from which a count that never falls counts since the start
CUMULATIVE_RISES = 3  # times that it must rise
AMONG_LOST = 0.02  # distance of a sum of shares from one within which they are shares of the lost rollouts
_LETTERS = regex(r"[^a-z]+")


class Reason(NamedTuple):
    """A reason for losing rollouts. All names are canonical ids.

    `inverted`: metrics of the share that is not lost. `part_of`: metrics that may include this reason.
    `named`: each key is a reason of its own, named by the run. `total`: the sum of all reasons. `signal`:
    lost because their group has no advantage.
    """

    title: str
    metrics: tuple[MetricReference, ...]
    inverted: tuple[MetricReference, ...] = ()
    part_of: tuple[MetricReference, ...] = ()
    named: bool = False
    total: bool = False
    signal: bool = False


class RolloutTable(NamedTuple):
    """The tables of the file."""

    generated: tuple[MetricReference, ...]
    used: tuple[MetricReference, ...]
    groups: tuple[MetricReference, ...]
    lag: tuple[MetricReference, ...]
    words_of_groups: tuple[str, ...]
    words_of_evaluation: tuple[str, ...]
    lost: tuple[Reason, ...]
    without_signal: tuple[Reason, ...]


@cache
def rollout_table() -> RolloutTable:
    """The table of the file, read at the first call."""
    return read_table("rollout_losses", RolloutTable)


@dataclass(slots=True)
class Loss:
    """Rollouts lost for one reason: `values` are shares, or counts of rollouts or of groups."""

    title: str
    reason: Reason
    values: Values
    counts: bool = False
    groups: bool = False
    share: Floats = field(default_factory=lambda: np.empty(0))  # of all rollouts, at the steps of an axis


def losses_of(run: RunValues, reasons: Sequence[Reason]) -> Iterator[Loss]:
    """The logged losses of each reason; of several metrics the first, shares before counts."""
    for reason in reasons:
        losses = [loss for canonical in reason.metrics for loss in _of_metric(run, reason, canonical)]
        if reason.named:
            yield from (loss for loss in losses if loss.values.value.any())
        elif losses:
            yield min(losses, key=lambda loss: loss.counts)


def _of_metric(run: RunValues, reason: Reason, canonical: str) -> Iterator[Loss]:
    """The losses of a metric in training; of several keys the largest count, or the mean share."""
    evaluation = set(rollout_table().words_of_evaluation)
    tags = [
        tag
        for tag in run.tags(canonical)
        if not run.name(tag).held_out and evaluation.isdisjoint(_LETTERS.split(tag.lower()))
    ]
    own = [tag for tag in tags if not run.name(tag).part]
    losses: list[Loss] = []
    for tag in tags if reason.named else own or tags:
        name, values = run.name(tag), run.of(tag)
        if not len(values.value):
            continue
        counts = name.unit not in ("fraction", "percent")
        if not counts:
            scale = 1.0 if name.comparable or name.unit == "fraction" else 0.01
            share = np.clip(values.value * scale, 0.0, 1.0)
            values = Values(tag, values.step, 1 - share if canonical in reason.inverted else share)
        elif canonical in reason.inverted:
            continue
        title = tag.rpartition("/")[2] if reason.named else reason.title
        groups = any(word in tag.lower() for word in rollout_table().words_of_groups)
        losses.append(Loss(title, reason, _each_step(values) if counts else values, counts, groups))
    if reason.named or len(losses) < 2:
        yield from losses
    elif any(loss.counts for loss in losses):
        yield max((loss for loss in losses if loss.counts), key=lambda loss: float(loss.values.value.sum()))
    else:
        steps = max((loss.values.step for loss in losses), key=len)
        mean = np.mean([loss.values.at(steps) for loss in losses], axis=0)
        yield replace(losses[0], values=Values(losses[0].values.tag, steps, mean))


def _each_step(values: Values) -> Values:
    """The count of each step: the differences of a count since the start."""
    rises = np.diff(values.value)
    enough = len(values.value) >= CUMULATIVE_POINTS and int((rises > 0).sum()) >= CUMULATIVE_RISES
    cumulative = enough and bool((rises >= 0).all())
    return Values(values.tag, values.step[1:], rises) if cumulative else values


def _counter(run: RunValues, canonicals: Sequence[str]) -> Values | None:
    """The counts of each step of the first metric that is not always zero."""
    for canonical in canonicals:
        values = run.find(canonical)
        if values is not None and values.value.any():
            return _each_step(values)
    return None


@dataclass(slots=True)
class LostShares:
    """Losses as shares on an axis that do not overlap, and counts whose total is not known.

    `among`: the shares are of the discarded rollouts, whose share of all rollouts is not known.
    """

    shared: list[Loss]
    counted: list[Loss]
    among: bool = False


def lost_shares(run: RunValues, losses: Sequence[Loss], axis: Ints) -> LostShares:
    """The shares of losses at (n,) steps: as logged, or from counts and their total."""
    named = [loss for loss in losses if not loss.reason.total]
    whole = next((loss for loss in losses if loss.reason.total and loss.counts), None)
    totals = {groups: _total(run, named, whole, axis, groups=groups) for groups in (False, True)}
    shares = LostShares([], [], _are_of_the_lost(named, axis))
    for loss in named:
        if not loss.counts:
            loss.share = loss.values.held(axis)
        elif (total := totals[loss.groups]) is not None:
            loss.share = _quotient(loss.values.at(axis), total)
        else:
            shares.counted.append(loss)
            continue
        shares.shared.append(loss)
    take_parts_out(shares.shared)
    if whole is None:
        return shares
    total = totals[whole.groups]
    if total is None:
        shares.counted += [] if shares.shared else [whole]
        return shares
    lost = _quotient(whole.values.at(axis), total)
    if shares.among:
        for loss in shares.shared:
            loss.share = loss.share if loss.counts else loss.share * lost
        shares.among = False
    explained = sum((loss.share for loss in shares.shared), np.zeros(len(axis)))
    title = "other reasons" if shares.shared else whole.title
    shares.shared.append(replace(whole, title=title, share=np.maximum(lost - explained, 0.0)))
    return shares


def _are_of_the_lost(named: Sequence[Loss], axis: Ints) -> bool:
    """Whether shares of reasons add up to one at nine of ten steps with losses: not all rollouts are lost."""
    fractions = [loss.values.held(axis) for loss in named if not loss.counts and not loss.reason.part_of]
    sums = sum(fractions, np.zeros(len(axis)))
    positive = sums[sums > 0]
    return len(positive) >= 3 and float(np.mean(np.abs(positive - 1) <= AMONG_LOST)) >= 0.9


def _total(
    run: RunValues, named: Sequence[Loss], whole: Loss | None, axis: Ints, *, groups: bool
) -> Floats | None:
    """All rollouts or groups at the steps of an axis: generated, or used and lost; None if unknown."""
    table = rollout_table()
    counts = [
        loss.values.at(axis) for loss in named
        if loss.counts and loss.groups == groups and not is_part(loss, named)
    ]  # fmt: skip
    lost = sum(counts, np.zeros(len(axis)))
    if whole is not None and whole.groups == groups:
        lost = np.maximum(lost, whole.values.at(axis))
    generated = None if groups else _counter(run, table.generated)
    if generated is not None:
        return np.maximum(generated.at(axis), lost)
    used = _counter(run, table.groups if groups else table.used)
    return None if used is None else used.at(axis) + lost


def _quotient(count: Floats, total: Floats) -> Floats:
    """Count / total, 0 where the total is 0."""
    out: Floats = np.divide(count, total, out=np.zeros(len(count)), where=total > 0)
    return out


def is_part(one: Loss, others: Sequence[Loss]) -> bool:
    """Whether another logged reason includes it."""
    return any(set(one.reason.part_of) & set(other.reason.metrics) for other in others)


def take_parts_out(losses: Sequence[Loss]) -> None:
    """Subtract from the first reason that has parts the shares of its parts.

    Parts with a larger sum than the reason are shares of it (all failed and all succeeded among the groups
    without advantage), unless they are counts, which the reason then does not include.
    """
    parts = [loss for loss in losses if is_part(loss, losses)]
    for whole in losses:
        own = [loss for loss in parts if set(loss.reason.part_of) & set(whole.reason.metrics)]
        if not own:
            continue
        together = sum((loss.share for loss in own), np.zeros(len(whole.share)))
        if float(together.sum()) > 1.02 * float(whole.share.sum()):
            if any(loss.counts for loss in own):
                return
            for loss in own:
                loss.share = loss.share * whole.share
            together = together * whole.share
        whole.share = np.maximum(whole.share - together, 0.0)
        return

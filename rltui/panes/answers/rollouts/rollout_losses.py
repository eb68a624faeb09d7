"""Rollouts that a run loses, by reason: which keys say it, and which share of all rollouts they are.

Which metric says what is data (`rltui/data/rollout_losses.toml`). What a log leaves open is decided by its
values: shares of reasons that add up to one at every step are shares of the discarded rollouts, and a count
that never falls counts since the start.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from functools import cache

import numpy as np

from rltui.common.arrays import Floats, Ints
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.panes.answers.recent_values import RunValues, Values
from rltui.schema.fields import ListField, TableField, table_of
from rltui.schema.toml_files import read_table

STEADY_STEPS = 8  # points from which a count that never falls counts since the start
RISES = 3  # of which so many must rise
AMONG_LOST = 0.02  # distance of a sum of reasons from one within which they are shares of the lost ones
_LETTERS = regex(r"[^a-z]+")


class Reason(NamedTuple):
    """Why rollouts are lost. All names are canonical ids.

    `inverted`: metrics that are the share that is not lost. `part_of`: metrics that may count it as well.
    `named`: each key is a reason that the run names. `total`: for whatever reason. `signal`: lost because
    their group has no advantage, so that what is trained on has one.
    """

    title: str
    metrics: tuple[str, ...]
    inverted: tuple[str, ...] = ()
    part_of: tuple[str, ...] = ()
    named: bool = False
    total: bool = False
    signal: bool = False


class RolloutTable(NamedTuple):
    """What becomes of rollouts, as the file lists it."""

    generated: tuple[str, ...]
    used: tuple[str, ...]
    groups: tuple[str, ...]
    lag: tuple[str, ...]
    words_of_groups: tuple[str, ...]
    words_of_evaluation: tuple[str, ...]
    lost: tuple[Reason, ...]
    without_signal: tuple[Reason, ...]


def _rollout_table_field() -> TableField[RolloutTable]:
    reasons = ListField(table_of(Reason))
    return table_of(RolloutTable, lost=reasons, without_signal=reasons)


@cache
def rollout_table() -> RolloutTable:
    """The table of the file, read at the first call."""
    return read_table("rollout_losses", _rollout_table_field)


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
    """What the log says of each reason; of several metrics the first, shares before counts."""
    for reason in reasons:
        found = [
            one
            for canonical in reason.metrics
            for one in _of_metric(run, reason, canonical, every=reason.named)
        ]
        if reason.named:
            yield from (one for one in found if one.values.value.any())
        elif found:
            yield min(found, key=lambda one: one.counts)


def _of_metric(run: RunValues, reason: Reason, canonical: str, *, every: bool) -> Iterator[Loss]:
    """The keys of a metric in training; of several that count the same the largest, of shares their mean."""
    evaluation = set(rollout_table().words_of_evaluation)
    tags = [
        tag
        for tag in run.tags(canonical)
        if not run.name(tag).held_out and evaluation.isdisjoint(_LETTERS.split(tag.lower()))
    ]
    own = [tag for tag in tags if not run.name(tag).part]
    found: list[Loss] = []
    for tag in tags if every else own or tags:
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
        found.append(Loss(title, reason, _each_step(values) if counts else values, counts, groups))
    if every or len(found) < 2:
        yield from found
    elif any(one.counts for one in found):
        yield max((one for one in found if one.counts), key=lambda one: float(one.values.value.sum()))
    else:
        steps = max((one.values.step for one in found), key=len)
        mean = np.mean([one.values.at(steps) for one in found], axis=0)
        yield replace(found[0], values=Values(found[0].values.tag, steps, mean))


def _each_step(values: Values) -> Values:
    """A count of each step: the differences of one that counts since the start."""
    rises = np.diff(values.value)
    since_start = (
        len(values.value) >= STEADY_STEPS and bool((rises >= 0).all()) and int((rises > 0).sum()) >= RISES
    )
    return Values(values.tag, values.step[1:], rises) if since_start else values


def _counter(run: RunValues, canonicals: Sequence[str]) -> Values | None:
    """The first of several metrics that counts something, at each step."""
    for canonical in canonicals:
        found = run.find(canonical)
        if found is not None and found.value.any():
            return _each_step(found)
    return None


@dataclass(slots=True)
class LostShares:
    """Losses as shares on an axis that do not overlap, and counts that no total is known for.

    `among`: the shares are of the discarded rollouts, of which nobody knows how many of all they are.
    """

    shared: list[Loss]
    counted: list[Loss]
    among: bool = False


def lost_shares(run: RunValues, losses: Sequence[Loss], axis: Ints) -> LostShares:
    """The shares of losses at (n,) steps: as they are written, or by what is counted beside them."""
    named = [one for one in losses if not one.reason.total]
    whole = next((one for one in losses if one.reason.total and one.counts), None)
    totals = {groups: _total(run, named, whole, axis, groups=groups) for groups in (False, True)}
    found = LostShares([], [], _are_of_the_lost(named, axis))
    for one in named:
        if not one.counts:
            one.share = one.values.held(axis)
        elif (total := totals[one.groups]) is not None:
            one.share = _quotient(one.values.at(axis), total)
        else:
            found.counted.append(one)
            continue
        found.shared.append(one)
    take_parts_out(found.shared)
    if whole is None:
        return found
    total = totals[whole.groups]
    if total is None:
        found.counted += [] if found.shared else [whole]
        return found
    lost = _quotient(whole.values.at(axis), total)
    if found.among:
        for one in found.shared:
            one.share = one.share if one.counts else one.share * lost
        found.among = False
    explained = sum((one.share for one in found.shared), np.zeros(len(axis)))
    title = "other reasons" if found.shared else whole.title
    found.shared.append(replace(whole, title=title, share=np.maximum(lost - explained, 0.0)))
    return found


def _are_of_the_lost(named: Sequence[Loss], axis: Ints) -> bool:
    """Whether shares of reasons add up to one wherever anything is lost: of all, they would leave nothing."""
    fractions = [one.values.held(axis) for one in named if not one.counts and not one.reason.part_of]
    sums = sum(fractions, np.zeros(len(axis)))
    some = sums[sums > 0]
    return len(some) >= 3 and float(np.mean(np.abs(some - 1) <= AMONG_LOST)) >= 0.9


def _total(
    run: RunValues, named: Sequence[Loss], whole: Loss | None, axis: Ints, *, groups: bool
) -> Floats | None:
    """All rollouts, or groups of them, at the steps of an axis: generated, or used and lost; None unknown."""
    table = rollout_table()
    counts = [
        one.values.at(axis) for one in named
        if one.counts and one.groups == groups and not is_part(one, named)
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
    """Count / total, 0 where there is none of either."""
    out: Floats = np.divide(count, total, out=np.zeros(len(count)), where=total > 0)
    return out


def is_part(one: Loss, others: Sequence[Loss]) -> bool:
    """Whether another reason of the log counts it as well."""
    return any(set(one.reason.part_of) & set(other.reason.metrics) for other in others)


def take_parts_out(losses: Sequence[Loss]) -> None:
    """Leave of a reason only what its parts do not count.

    Parts that add up to more than the reason are shares of it (all failed and all succeeded of the groups
    without advantage); counts that do were not counted in it.
    """
    parts = [one for one in losses if is_part(one, losses)]
    for whole in losses:
        mine = [one for one in parts if set(one.reason.part_of) & set(whole.reason.metrics)]
        if not mine:
            continue
        together = sum((one.share for one in mine), np.zeros(len(whole.share)))
        if float(together.sum()) > 1.02 * float(whole.share.sum()):
            if any(one.counts for one in mine):
                return
            for one in mine:
                one.share = one.share * whole.share
            together = together * whole.share
        whole.share = np.maximum(whole.share - together, 0.0)
        return

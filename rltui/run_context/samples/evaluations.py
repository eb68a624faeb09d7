"""Pass rates of each data set at each step, from the samples of evaluations."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from rltui.logs.sample_layouts.sample import Evaluation, SampleHead

HELD_OUT = frozenset({"eval", "val", "valid", "validation", "test"})


def pass_at_k(responses: int, passed: int, k: int) -> float:
    """The probability that one of `k` responses passes, from `responses` >= `k` of which `passed` do.

    ``1 - C(n - c, k) / C(n, k)``, unbiased for responses drawn independently (M. Chen et al., Evaluating
    Large Language Models Trained on Code, 2021, equation 1).
    """
    return 1.0 - math.comb(responses - passed, k) / math.comb(responses, k)


def evaluations_of(heads: Iterable[SampleHead]) -> tuple[Evaluation, ...]:
    """One evaluation for each data set and step of held-out samples, by data set, then by step.

    A response passes if its reward is the greater of two values, such as 1 of 0 and 1. A data set with more
    than two values, or with a single one other than 0 and 1, has means but no rates. k is the smallest number
    of responses to a task.
    """
    found: dict[tuple[str, int], list[SampleHead]] = {}
    for head in heads:
        if head.split.partition("/")[0].lower() in HELD_OUT:
            found.setdefault((head.dataset or head.split, head.step), []).append(head)
    values: dict[str, set[float]] = {}
    for (dataset, _), group in found.items():
        known = values.setdefault(dataset, set())
        if len(known) < 3:
            known.update(head.reward for head in group if head.reward is not None)
    return tuple(_evaluation(*key, found[key], _passing(values[key[0]])) for key in sorted(found))


def _passing(values: set[float]) -> float | None:
    """The reward of a response that passes; None if rewards are graded or inconclusive."""
    if len(values) == 2 and all(map(math.isfinite, values)):
        return max(values)
    return 1.0 if values in ({0.0}, {1.0}) else None


def _evaluation(dataset: str, step: int, heads: Sequence[SampleHead], passing: float | None) -> Evaluation:
    tasks: dict[object, list[float]] = {}
    for head in heads:
        if head.reward is not None:
            tasks.setdefault(head.prompt if head.group is None else head.group, []).append(head.reward)
    rewards = [reward for task in tasks.values() for reward in task]
    passed = at_k = None
    k = min(map(len, tasks.values()), default=0)
    if passing is not None and rewards:
        passed = rewards.count(passing) / len(rewards)
        if k > 1:
            at_k = math.fsum(pass_at_k(len(task), task.count(passing), k) for task in tasks.values())
            at_k /= len(tasks)
    mean = math.fsum(rewards) / len(rewards) if rewards and all(map(math.isfinite, rewards)) else None
    return Evaluation(dataset, step, len(heads), len(tasks), mean, passed, k, at_k)

"""Policies really trained, under the names of many frameworks: healthy ones stay quiet, sick ones are found.

A wide sweep: `python -m tests.rules.test_trained_policies [SEEDS]`.
"""

from __future__ import annotations

import sys
from collections import Counter
from fnmatch import fnmatchcase

import pytest

from tests.support.toys.recipes import SICK, healthy_control, healthy_language, run, sick_runs, styles
from tests.support.toys.styles import alarms, told_of, written


def healthy_alarms(seed: int, of_control: bool, every: int = 1, short: bool = False) -> dict[str, set[str]]:
    """What a healthy run raises in each style, or in every so many of them."""
    make = healthy_control if of_control else healthy_language
    recipe = make(seed, (60,) if of_control else (100,)) if short else make(seed)
    series = run(recipe, of_control)
    chosen = list(styles(recipe, of_control).items())[seed % every :: every]
    return {name: alarms(told_of(written(series, tags))) for name, tags in chosen}


def missed(name: str, seed: int, every: int = 1, short: bool = False) -> dict[str, set[str]]:
    """The styles, or every so many of them, in which a sickness was not named, with what was said instead."""
    series, able = sick_runs(name, seed, short)
    chosen = list(able.items())[seed % min(every, len(able)) :: every]
    found = {style: alarms(told_of(written(series, tags), cuts=4)) for style, tags in chosen}
    return {
        style: told
        for style, told in found.items()
        if not any(fnmatchcase(each, answer) for each in told for answer in SICK[name].answers)
    }


@pytest.mark.parametrize("seed", range(6))
def test_a_healthy_language_run_stays_quiet(seed: int) -> None:
    """No alarm while it learns, nor when it has learnt: each run in the words of three frameworks."""
    assert not any(healthy_alarms(seed, False, every=3, short=True).values())


@pytest.mark.parametrize("seed", range(4))
def test_a_healthy_control_run_stays_quiet(seed: int) -> None:
    """Grid worlds and linear systems, rewards of all scales and signs, in every style of classic RL."""
    assert not any(healthy_alarms(seed, True, short=True).values())


@pytest.mark.parametrize("name", SICK)
def test_a_sickness_is_named(name: str) -> None:
    """Whatever the framework calls its metrics, if they show the sickness then it is named."""
    assert missed(name, 3, every=4, short=True) == {}


def main(seeds: int) -> None:
    """Print the rates of a wide sweep."""
    for of_control in (False, True):
        told = [healthy_alarms(seed, of_control) for seed in range(1000, 1000 + seeds)]
        count = Counter(name for each in told for raised in each.values() for name in raised)
        judged = sum(map(len, told))
        loud = sum(bool(raised) for each in told for raised in each.values())
        print(
            f"healthy {'control' if of_control else 'language':9} {loud / judged:6.2%} of {judged} logs",
            dict(count),
        )
    for name in SICK:
        lost = able = 0
        where: Counter[str] = Counter()
        for seed in range(1000, 1000 + seeds):
            able += len(sick_runs(name, seed)[1])
            missing = missed(name, seed)
            lost += len(missing)
            where.update(missing.keys())
        print(f"sick    {name:20} found in {1 - lost / able:6.1%} of {able} logs", dict(where))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 40)

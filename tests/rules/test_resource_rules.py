"""Findings of the panes timing, load, MFU and rollouts: remarks, too, stay away from healthy runs."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from rltui.rules.rulebook import load, rulebook
from rltui.schema.toml_files import DATA
from tests.rules.test_synthetic_runs import RUNS
from tests.support.runs.evaluators import grow, new_evaluator
from tests.support.runs.synthetic_runs import (
    Series,
    bottleneck_shift,
    healthy,
    memory_leak,
    random_shape,
    slower_tokens,
)

FILE = (DATA / "rules" / "resources.toml").read_text(encoding="utf-8")
NEW = tuple(one.id for one in rulebook().rules.values() if one.shown and f'id = "{one.id}"' in FILE)
# Remarks, which the sweep over pathologies does not count: what is done, which rules may tell it.
REMARKS: dict[str, tuple[Callable[[Series, int], Series], tuple[str, ...]]] = {
    "bottleneck": (bottleneck_shift, ("bottleneck-reward", "step-slow")),
    "slower": (slower_tokens, ("token-slow", "token-slows", "step-slow")),
    "leak": (memory_leak, ("memory-rising",)),
}


def told(series: Series, cuts: int = 6) -> set[str]:
    """Everything that a run is told while it grows, remarks as well."""
    evaluator, found = new_evaluator(), set()
    for _ in grow(evaluator, series, cuts):
        found |= {finding.id for finding in evaluator.findings()}
    return found | {finding.id for finding in evaluator.history()}


def false_remarks(seeds: range) -> dict[int, set[str]]:
    """The healthy runs of which one of the rules said something."""
    found = {seed: told(healthy("timed", random_shape(seed))) & set(NEW) for seed in seeds}
    return {seed: ids for seed, ids in found.items() if ids}


def found_of(name: str, seeds: range) -> tuple[int, list[int]]:
    """Runs that are long enough for a fault, and those of which nobody was told of it."""
    make, answers = REMARKS[name]
    evaluated, missed = 0, []
    for seed in seeds:
        shape = random_shape(seed)
        if shape.n < 150 or shape.noise > 1.2:
            continue
        evaluated += 1
        if not told(make(healthy("timed", shape), int(shape.n * 0.6))) & set(answers):
            missed.append(seed)
    return evaluated, missed


def test_the_rules_have_a_file_of_their_own() -> None:
    """Each of them states its reason, and the file has no fault."""
    assert len(NEW) >= 15
    assert load(DATA / "rules").problems == ()
    assert all(rulebook().rules[one].source.startswith(("reason:", "Training")) for one in NEW)


def test_healthy_runs_are_left_alone() -> None:
    """Growing answers, compilation, outliers and slow noise are neither a warning nor a remark."""
    assert false_remarks(range(RUNS)) == {}


@pytest.mark.parametrize("name", REMARKS)
def test_what_costs_accelerators_is_remarked(name: str) -> None:
    """A bottleneck that moves, tokens that take longer and memory that creeps up are told."""
    evaluated, missed = found_of(name, range(12))
    assert evaluated >= 4
    assert missed == []


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    wrong = false_remarks(range(1000, 1000 + count))
    print(f"healthy timed: {len(wrong) / count:.2%} of {count} runs", dict(list(wrong.items())[:8]))
    for each in REMARKS:
        number, lost = found_of(each, range(1000, 1000 + count))
        print(f"{each}: found in {1 - len(lost) / max(number, 1):.1%} of {number}", lost[:8])

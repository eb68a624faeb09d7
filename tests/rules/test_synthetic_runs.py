"""Synthetic runs: healthy noise stays quiet, each pathology is found. A wide sweep: run it as a module."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

import numpy as np
import pytest

from tests.fault_sweep import faulty
from tests.support.healthy_kinds import ALARMED_AT_TIMES, UNUSUAL
from tests.support.judged import evaluator, fresh
from tests.support.synthetic import KINDS, PATHOLOGIES, Series, healthy, random_shape

RUNS = 14  # of each kind, in the fast version
UNUSUAL_SEEDS = range(100, 106)
CUTS = 6  # looks at each healthy run while it grows: an alarm that passes is an alarm


def alarms(series: Series, cuts: int = CUTS) -> set[str]:
    """Everything of at least a warning that a run raises while it grows."""
    judge, told = evaluator(), set()
    for k in range(cuts):
        pieces = []
        for tag, values in series.items():
            edges = np.linspace(0, len(values), cuts + 1).astype(int)
            part = slice(edges[k], edges[k + 1])
            if edges[k + 1] > edges[k]:
                stretch = max(len(each) for each in series.values()) // len(values) or 1
                steps = stretch * np.arange(1, len(values) + 1)
                pieces.append(fresh(tag, values[part], steps[part]))
        judge.feed(pieces)
        told |= {finding.id for finding in judge.findings() if finding.rank}
    told |= {finding.id for finding in judge.history() if finding.rank}
    return told


def false_alarms(kind: str, seeds: range) -> dict[int, set[str]]:
    """The healthy runs that raised an alarm, with what they raised."""
    found = {}
    for seed in seeds:
        told = alarms(healthy(kind, random_shape(seed), missing=0.3 if seed % 3 == 0 else 0.0))
        if told:
            found[seed] = told
    return found


def missed(name: str, seeds: range) -> list[int]:
    """The sick runs whose pathology was not found."""
    sick = PATHOLOGIES[name]
    found = []
    for seed in seeds:
        shape = random_shape(seed)
        if shape.n < sick.least:
            continue
        rng = np.random.default_rng([seed, 5])
        onset = int(shape.n * rng.uniform(0.35, 0.75))
        told = alarms(sick.make(healthy(sick.kind, shape), onset), 4)
        if not any(fnmatchcase(each, answer) for each in told for answer in sick.answers):
            found.append(seed)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_healthy_noise_stays_quiet(kind: str) -> None:
    """Healthy runs of all lengths, scales and noise levels raise no alarm, not even for a while."""
    assert false_alarms(kind, range(RUNS)) == {}


@pytest.mark.parametrize("kind", sorted(UNUSUAL.keys() - set(ALARMED_AT_TIMES)))
def test_unusual_healthy_runs_stay_quiet(kind: str) -> None:
    """Self-play, late successes, annealing, heavy tails and the like raise no alarm, not even for a while."""
    assert {seed: told for seed in UNUSUAL_SEEDS if (told := alarms(UNUSUAL[kind](random_shape(seed))))} == {}


@pytest.mark.parametrize("name", PATHOLOGIES)
def test_a_pathology_is_found(name: str) -> None:
    """Each pathology is found, whatever the scale, noise and length of the run."""
    assert missed(name, range(8)) == []


def test_the_sweep_dates_a_fault_from_its_onset() -> None:
    """A fault of the sweep is named after its onset and not before, and stays told."""
    found = faulty(PATHOLOGIES["kl_runaway"], 5003)
    assert found.named
    assert not found.early
    assert not found.flaps
    assert found.delay is not None
    assert 0 < found.delay < 0.25


def main(runs: int) -> None:
    """Print the rates of a wide sweep."""
    for kind in KINDS:
        found = false_alarms(kind, range(1000, 1000 + runs))
        print(f"healthy {kind:11} {len(found) / runs:6.2%} of {runs} runs", dict(list(found.items())[:6]))
    for name in PATHOLOGIES:
        seeds = range(1000, 1000 + runs)
        judged = sum(random_shape(seed).n >= PATHOLOGIES[name].least for seed in seeds)
        lost = missed(name, seeds)
        print(f"sick    {name:17} found in {1 - len(lost) / max(judged, 1):6.1%} of {judged}", lost[:8])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 200)

"""Synthetic runs: healthy noise stays quiet, each pathology is found. A wide sweep: run it as a module."""

from __future__ import annotations

import sys
from fnmatch import fnmatchcase

import numpy as np
import pytest

from rltui.config import Config
from rltui.metrics.catalogue import catalogue
from rltui.metrics.frameworks.patterns import is_wild
from rltui.metrics.resolve import MetricNames
from tests.fault_sweep import MAX_POINTS, faulty, shape_of, told
from tests.support.runs.evaluators import fresh, grow, new_evaluator
from tests.support.runs.synthetic_runs import KINDS, PATHOLOGIES, Series, healthy, random_shape
from tests.support.runs.unusual_runs import ALARMED_AT_TIMES, UNUSUAL

RUNS = 8  # of each kind, in the fast version
UNUSUAL_SEEDS = range(100, 104)
CUTS = 6  # looks at each healthy run while it grows: an alarm that passes is an alarm


def alarms(series: Series, cuts: int = CUTS) -> set[str]:
    """Everything of at least a warning that a run raises while it grows."""
    evaluator, raised = new_evaluator(), set()
    for _ in grow(evaluator, series, cuts):
        raised |= {finding.id for finding in evaluator.findings() if finding.rank}
    raised |= {finding.id for finding in evaluator.history() if finding.rank}
    return raised


def false_alarms(kind: str, seeds: range) -> dict[int, set[str]]:
    """The healthy runs that raised an alarm, with what they raised."""
    found = {}
    for seed in seeds:
        raised = alarms(healthy(kind, random_shape(seed), missing=0.3 if seed % 3 == 0 else 0.0))
        if raised:
            found[seed] = raised
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
        raised = alarms(sick.make(healthy(sick.kind, shape), onset), 4)
        if not any(fnmatchcase(each, answer) for each in raised for answer in sick.answers):
            found.append(seed)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_healthy_noise_stays_quiet(kind: str) -> None:
    """Healthy runs of all lengths, scales and noise levels raise no alarm, not even for a while."""
    assert false_alarms(kind, range(RUNS)) == {}


@pytest.mark.parametrize("kind", sorted(UNUSUAL.keys() - set(ALARMED_AT_TIMES)))
def test_unusual_healthy_runs_stay_quiet(kind: str) -> None:
    """Self-play, late successes, annealing, heavy tails and the like raise no alarm, not even for a while."""
    assert {seed: ids for seed in UNUSUAL_SEEDS if (ids := alarms(UNUSUAL[kind](random_shape(seed))))} == {}


@pytest.mark.parametrize("framework", ["verl", "trl", "openrlhf", "stable_baselines3", "cleanrl"])
def test_healthy_runs_stay_quiet_under_the_names_of_a_framework(framework: str) -> None:
    """What is quiet under canonical names is quiet as veRL, TRL, OpenRLHF, SB3 and CleanRL write them."""
    known = catalogue().frameworks.get(framework)
    assert known is not None
    names = MetricNames(framework, Config())
    written = {
        entry.canonical: name for name, entry in known.names.items() if not (is_wild(name) or entry.unit)
    }
    for kind, make in KINDS.items():
        series = {written[tag]: values for tag, values in make(shape_of(9100)).items() if tag in written}
        evaluator = new_evaluator(names)
        evaluator.feed([fresh(tag, values) for tag, values in series.items()])
        assert not [finding.id for finding in evaluator.findings() if finding.rank], kind


@pytest.mark.parametrize(
    ("kind", "seed"), [("grpo", 41016), ("single_episodes", 41014), ("slow_learning", 41002)]
)
def test_what_is_known_better_later_ends_what_was_said_before(kind: str, seed: int) -> None:
    """A reward that has not risen in 40 points, a lucky start, a small gain: no alarm later."""
    assert told((KINDS | UNUSUAL)[kind](shape_of(seed)), 1, MAX_POINTS, ()).early == frozenset()


@pytest.mark.parametrize("name", PATHOLOGIES)
def test_a_pathology_is_found(name: str) -> None:
    """Each pathology is found, whatever the scale, noise and length of the run."""
    assert missed(name, range(6)) == []


def test_a_blow_up_of_the_values_stays_an_alarm_whatever_level_is_told() -> None:
    """Whether the returns explain a loss is judged by the ticks before its rise, not by its usual level."""
    outcome = faulty(PATHOLOGIES["value_blow_up"], 5007)
    assert outcome.flagged and not outcome.flaps


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

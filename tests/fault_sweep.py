"""Prints how faults of random size, onset, noise and logging are told: `python -m tests.fault_sweep [RUNS]`.

Each fault of `tests.support.runs.synthetic_runs` befalls RUNS runs of 20 to 100,000 points, logged at every
step or at every hundredth, with noise that is white or correlated, at an onset between a quarter and four
fifths of the run, in full or only in part. Each run is fed in forty pieces, as if it were being written, and
is over at its end. Printed: how many are called sick at the end, in how many the headline names the fault, in
how many there was an alarm before the onset, in how many the health went back to ok, and how late the fault
was named, as a share of the run.
Then how many healthy runs of each kind were ever alarmed.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

import numpy as np

from rltui.rules.finding import order, unexplained
from tests.support.runs.evaluators import fresh, new_evaluator
from tests.support.runs.synthetic_runs import (
    KINDS,
    PATHOLOGIES,
    SLOW_FAULTS,
    Pathology,
    Series,
    Shape,
    healthy,
)
from tests.support.runs.unusual_runs import UNUSUAL

PIECES = 40
MIN_POINTS, MAX_POINTS = 20, 100_000  # points
# Correlated noise of a long run takes a while to make: most runs are shorter.
LENGTHS = (1.3, 5.0)  # powers of ten
PART = (0.5, 1.0)  # of the size of a fault


@dataclass(frozen=True, slots=True)
class Outcome:
    """What was said of a run while it grew."""

    flagged: bool  # at the end
    named: bool  # the fault is the headline at the end
    early: frozenset[str]  # alarms before the onset
    flaps: int
    delay: float | None  # share of the run from the onset until the fault was named


def shape_of(seed: int) -> Shape:
    """A run drawn at random."""
    rng = np.random.default_rng([seed, 77])
    return Shape(
        n=int(np.clip(10 ** rng.uniform(*LENGTHS), MIN_POINTS, MAX_POINTS)),
        noise=float(rng.uniform(0.2, 1.5)),
        scale=float(rng.choice([0.3, 1.0, 10.0, 300.0])),
        offset=float(rng.choice([0.0, -1.0, 2.0])),
        entropy=float(rng.choice([0.25, 0.7, 2.0, 4.0])),
        correlated=float(rng.choice([0.0, 0.3, 0.6])),
        seed=seed,
    )


def told(series: Series, every: int, onset: int, answers: Sequence[str]) -> Outcome:
    """Feed a run in pieces. `onset` is a point of its longest series."""
    evaluator, longest = new_evaluator(), max(len(values) for values in series.values())
    given = dict.fromkeys(series, 0)
    ranks, early, delay = [], set(), None
    for end in np.unique(np.linspace(0, longest, PIECES + 1).astype(int)[1:]).tolist():
        pieces = []
        for tag, values in series.items():
            stretch = longest // len(values)
            upto = end // stretch
            if upto > given[tag]:
                steps = every * stretch * np.arange(given[tag] + 1, upto + 1)
                pieces.append(fresh(tag, values[given[tag] : upto], steps))
                given[tag] = upto
        evaluator.feed(pieces)
        alarms = [finding for finding in evaluator.findings() if finding.rank]
        if end <= onset:
            early |= {finding.id for finding in alarms}
        else:
            ranks.append(max((finding.rank for finding in alarms), default=0))
            if delay is None and any(_names(finding.id, answers) for finding in alarms):
                delay = (end - onset) / longest
    evaluator.set_run_over(True)
    alarms = [finding.id for finding in evaluator.findings() if finding.rank]
    if longest <= onset:
        early.update(alarms)
    elif delay is None and any(_names(name, answers) for name in alarms):
        delay = (longest - onset) / longest
    head = sorted(unexplained(finding for finding in evaluator.findings() if finding.rank), key=order)
    flaps = sum(before > 0 == rank for before, rank in pairwise(ranks))
    return Outcome(bool(head), bool(head) and _names(head[0].id, answers), frozenset(early), flaps, delay)


def _names(found: str, answers: Sequence[str]) -> bool:
    return any(fnmatchcase(found, answer) for answer in answers)


def faulty(fault: Pathology, seed: int) -> Outcome:
    """One run with the fault."""
    shape, rng = shape_of(seed), np.random.default_rng([seed, 78])
    onset = int(shape.n * rng.uniform(0.25, 0.8)) if fault.begins else 0
    well = healthy(fault.kind, shape)
    size = rng.uniform(*PART) if fault.begins else 1.0
    sick = {tag: _part(well.get(tag), values, size) for tag, values in fault.make(well, onset).items()}
    return told(sick, int(rng.choice([1, 10, 100])), onset, fault.answers)


def _part(well: np.ndarray | None, sick: np.ndarray, size: float) -> np.ndarray:
    """A fault of a part of its size; of what is never below zero, a part of the factor."""
    if well is None or len(well) != len(sick):
        return sick
    if well.min() > 0 and sick.min() > 0:
        return well * (sick / well) ** size
    return well + size * (sick - well)


def line(name: str, found: Sequence[Outcome]) -> str:
    """A row of the table."""
    count = max(len(found), 1)
    delays = sorted(each.delay if each.delay is not None else np.inf for each in found)
    shares = [sum(getattr(each, key) for each in found) / count for key in ("flagged", "named")]
    early = sum(bool(each.early) for each in found)
    flaps = sum(each.flaps > 0 for each in found)
    middle, most = (delays[min(int(share * count), count - 1)] for share in (0.5, 0.9))
    within = sum(delay <= 0.1 for delay in delays) / count
    return (
        f"{name:20}{len(found):5}{shares[0]:9.0%}{shares[1]:8.0%}{early:7}{flaps:7}"
        f"{middle:9.1%}{most:9.1%}{within:9.0%}"
    )


def main(runs: int, names: Sequence[str] = ()) -> None:
    """Print the tables."""
    chosen = {name: each for name, each in (PATHOLOGIES | SLOW_FAULTS).items() if not names or name in names}
    print(f"{'fault':20}{'runs':>5}{'flagged':>9}{'named':>8}{'early':>7}{'flaps':>7}", end="")
    print(f"{'median':>9}{'9 of 10':>9}{'in 10 %':>9}")
    every: list[Outcome] = []
    for name, fault in chosen.items():
        found = [faulty(fault, 5000 + seed) for seed in range(runs)]
        every += found
        print(line(name, found), flush=True)
    print(line("all", every))
    for kind, make in () if names else (KINDS | UNUSUAL).items():
        seeds = range(9000, 9000 + 2 * runs)
        wrong = [
            (seed, *sorted(each.early))
            for seed in seeds
            if (each := told(make(shape_of(seed)), 1, MAX_POINTS, ())).early
        ]
        print(f"healthy {kind:18} alarmed {len(wrong)} of {len(seeds)}", *wrong[:5])


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20, sys.argv[2:])

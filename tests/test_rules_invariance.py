"""What the judge finds depends on the points, not on the pieces in which they came."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rltui.rules.judge import Judge
from rltui.rules.track import CAP, Track
from tests.support.judged import FakeNames, FakeRun, fresh
from tests.support.synthetic import PATHOLOGIES, Shape, healthy

SICK = sorted(PATHOLOGIES)


def said(judge: Judge) -> list[tuple[object, ...]]:
    """Everything that a judge says, comparable."""
    found = [*judge.findings(), *judge.history()]
    return [
        (f.id, f.severity, f.since_step, f.state, f.resolved_step, f.metrics, repr(f.value), f.explained_by)
        for f in found
    ]


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(name=st.sampled_from(SICK), seed=st.integers(0, 999), cuts=st.lists(st.floats(0, 1), max_size=6))
def test_any_split_gives_the_same_findings(name: str, seed: int, cuts: list[float]) -> None:
    """Points fed at once, in any pieces, or with tags in another order say the same."""
    sick = PATHOLOGIES[name]
    series = sick.make(healthy(sick.kind, Shape(n=700, seed=seed)), 400)
    whole = Judge(FakeRun(), FakeNames())
    whole.feed([fresh(tag, values) for tag, values in series.items()])
    pieces = Judge(FakeRun(), FakeNames())
    edges = sorted({0.0, 1.0, *cuts})
    for low, high in pairwise(edges):
        for tag, values in series.items():
            part = slice(int(low * len(values)), int(high * len(values)))
            steps = np.arange(1, len(values) + 1)
            pieces.feed([fresh(tag, values[part], steps[part])])
    assert said(pieces) == said(whole)


@pytest.mark.parametrize("name", ["kl_runaway", "grad_explosion", "truncation", "return_crash"])
def test_point_by_point_is_the_same_as_at_once(name: str) -> None:
    """A live run, one point at a time, is judged as its finished log."""
    sick = PATHOLOGIES[name]
    series = sick.make(healthy(sick.kind, Shape(n=600, seed=3)), 350)
    whole, single = Judge(FakeRun(), FakeNames()), Judge(FakeRun(), FakeNames())
    whole.feed([fresh(tag, values) for tag, values in series.items()])
    for k in range(600):
        single.feed([fresh(tag, values[k : k + 1], [k + 1]) for tag, values in series.items()])
    assert said(single) == said(whole)
    assert said(whole)


def test_ticks_are_bounded() -> None:
    """A hundred thousand points fit in 512 ticks."""
    values = np.random.default_rng(1).normal(size=100_000)
    track = Track("x", None)
    track.feed(np.arange(100_000), values, lambda track, begun: None)
    assert track.n <= CAP
    assert track.stride == 256


def test_a_rewind_forgets_what_comes_again() -> None:
    """After a resume from a checkpoint the judge has seen each step once."""
    judge = Judge(FakeRun(), FakeNames())
    judge.feed([fresh("policy.kl_ref", [0.1] * 60 + [20.0] * 40)])
    assert "kl-ref-runaway" in {finding.id for finding in judge.findings()}
    judge.feed([fresh("policy.kl_ref", [0.1] * 60, range(61, 121), rewound_to=61)])
    assert judge.findings() == []
    assert judge.series["policy.kl_ref"].track.n == 120

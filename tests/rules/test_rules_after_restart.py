"""After a restart, findings depend only on the points that a later attempt did not supersede."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.config import Threshold
from rltui.config.user_config import Config
from rltui.rules.evaluated_series.rewindable_counter import KEPT, RewindableCounter
from rltui.rules.evaluated_series.ticks import CAP, NONFINITE_KEPT, Ticks
from rltui.rules.evaluator import Evaluator
from rltui.session.session import Session
from tests.support.logs.live_logs import Live, append, line, write
from tests.support.runs.evaluators import fresh, ids, new_evaluator
from tests.support.runs.synthetic_runs import PATHOLOGIES, Shape, healthy

SICK = sorted(PATHOLOGIES)
Logged = dict[str, tuple[np.ndarray, np.ndarray]]  # steps and values by tag


def said(evaluator: Evaluator) -> tuple[object, ...]:
    """All findings of an evaluator, in comparable form."""
    found = [*evaluator.findings(), *evaluator.history()]
    return (
        evaluator.health,
        evaluator.sentence(),
        [repr(finding) for finding in found],
        [(problem.code, problem.message, problem.count) for problem in evaluator.diagnostics()],
    )


def logged(series: dict[str, np.ndarray]) -> Logged:
    """Series with their steps from 1 on; shorter ones are written every so many steps."""
    longest = max(map(len, series.values()))
    return {
        tag: (np.arange(1, len(values) + 1) * (longest // len(values)), values)
        for tag, values in series.items()
    }


def part(log: Logged, low: float, high: float) -> Logged:
    """The points at steps in [low, high)."""
    found = {}
    for tag, (steps, values) in log.items():
        keep = (steps >= low) & (steps < high)
        found[tag] = (steps[keep], values[keep])
    return found


def feed(
    evaluator: Evaluator, log: Logged, cuts: Sequence[float] = (), rewound_to: int | None = None
) -> None:
    """Feed a log in pieces, cut at shares of its steps; the first piece is a restart."""
    last = max((int(steps[-1]) for steps, _ in log.values() if len(steps)), default=0)
    first = min((int(steps[0]) for steps, _ in log.values() if len(steps)), default=0)
    edges = sorted({first + share * (last - first) for share in cuts} | {first, last + 1})
    for low, high in pairwise(edges):
        pieces = part(log, low, high)
        evaluator.feed([fresh(tag, values, steps, rewound_to) for tag, (steps, values) in pieces.items()])
        rewound_to = None


def noisy(log: Logged, seed: int) -> Logged:
    """The same, with non-finite values and values outside the bounds."""
    rng = np.random.default_rng(seed)
    found = {}
    for tag, (steps, values) in log.items():
        values = values.copy()
        for _ in range(rng.integers(0, 4)):
            at = rng.integers(0, len(values))
            values[at : at + rng.integers(1, 9)] = rng.choice([np.nan, np.inf, 7.5])
        found[tag] = (steps, values)
    return found


OWN = Config(
    thresholds=(
        Threshold("optimizer.grad_norm", above=0.6, for_=2),
        Threshold("reward.mean", below=0.4),
        Threshold("critic.loss", above=0.5, for_=3),
    )
)


@settings(max_examples=12)
@given(
    name=st.sampled_from(SICK),
    seed=st.integers(0, 999),
    scale=st.sampled_from([0.2, 1.0, 4.0]),
    back=st.sampled_from([0.0, 0.02, 0.3, 0.5, 0.9]),
    before=st.lists(st.floats(0, 1), max_size=3),
    after=st.lists(st.floats(0, 1), max_size=3),
    odd=st.booleans(),
)
def test_only_what_is_shown_counts(
    name: str, seed: int, scale: float, back: float, before: list[float], after: list[float], odd: bool
) -> None:
    """An attempt, a restart anywhere and another attempt give the findings of the remaining points."""
    sick = PATHOLOGIES[name]
    first = logged(sick.make(healthy(sick.kind, Shape(n=240, seed=seed)), 120))
    second = logged(healthy(sick.kind, Shape(n=300, seed=seed + 1, scale=scale)))
    first, second = (
        {tag: log[tag] for tag in sorted(first.keys() & second.keys())} for log in (first, second)
    )
    if odd:
        first, second = noisy(first, seed), noisy(second, seed + 1)
    step = int(240 * back)
    live, shown = (new_evaluator(config=OWN) for _ in range(2))
    feed(live, first, before)
    feed(live, part(second, step, 1e9), after, rewound_to=step)
    kept, new = part(first, 0, step), part(second, step, 1e9)
    feed(
        shown,
        {tag: tuple(map(np.concatenate, zip(kept[tag], new[tag], strict=True))) for tag in second},
    )
    assert said(live) == said(shown)


def test_a_restart_among_pieces_that_were_held_back() -> None:
    """History fed at once, including restarts, gives the findings of the remaining points."""
    rng = np.random.default_rng(4)
    parts = [(0, 900, 1.0), (300, 1200, 3.0), (100, 1100, 0.3)]
    pieces = []
    for begin, end, level in parts:
        values = level * (1 + 0.05 * rng.normal(size=end - begin))
        pieces.append(
            fresh("optimizer.grad_norm", values.tolist(), range(begin, end), begin if pieces else None)
        )
    held, shown = (new_evaluator() for _ in range(2))
    held.feed(pieces)
    values = np.concatenate((pieces[0].points.value[:100], pieces[2].points.value))
    shown.feed([fresh("optimizer.grad_norm", values, range(1100))])
    assert said(held) == said(shown)


@pytest.mark.parametrize("points", [300, 3_000])
def test_a_job_that_starts_over_has_no_past(points: int) -> None:
    """A run of any length that restarts at its first step has the findings of a new run."""
    rise = np.linspace(0, 1, points) + 0.02 * np.random.default_rng(1).normal(size=points)
    live, new = (new_evaluator() for _ in range(2))
    live.feed([fresh("reward.mean", rise, range(points))])
    for evaluator, back in ((live, 0), (new, None)):
        evaluator.feed([fresh("reward.mean", rise[:1] * 0.5, [0], back)])
        for step in range(1, 200):
            evaluator.feed([fresh("reward.mean", rise[step : step + 1] * 0.5, [step])])
            assert evaluator.findings() == []
    assert said(live) == said(new)


@pytest.mark.parametrize("points", [300, 3_000])
@pytest.mark.parametrize("share", [0.02, 0.5, 0.95])
def test_resuming_from_an_old_checkpoint_is_no_crash(points: int, share: float) -> None:
    """The reward of an older checkpoint is lower, which is not a loss."""
    rise = np.linspace(0, 1, points) + 0.02 * np.random.default_rng(2).normal(size=points)
    evaluator = new_evaluator()
    evaluator.feed([fresh("reward.mean", rise, range(points))])
    begin = int(points * share)
    for step in range(begin, points):
        evaluator.feed(
            [fresh("reward.mean", rise[step : step + 1], [step], begin if step == begin else None)]
        )
    assert evaluator.findings() == evaluator.history() == []


def test_too_few_joined_ticks_are_dropped_at_a_restart() -> None:
    """A long run that restarts near its beginning has ticks of single points again."""
    ticks = Ticks("x", None)
    ticks.feed(np.arange(100_000), np.ones(100_000), lambda begun: None)
    assert ticks.stride == 256
    assert ticks.rewind(600)
    assert (ticks.n, ticks.stride, ticks.serial, ticks.points) == (0, 1, 0, 0)
    ticks.feed(np.arange(600, 700), np.ones(100), lambda begun: None)
    assert (ticks.n, ticks.stride, ticks.points) == (100, 1, 100)
    ticks.feed(np.arange(700, 100_000), np.ones(99_300), lambda begun: None)
    assert ticks.rewind(50_000)
    assert ticks.stride == 256
    assert ticks.n < CAP
    assert ticks.last[ticks.n - 1] < 50_000 == ticks.last[ticks.n - 1] + 50_000 - ticks.last_step


def test_episodes_resolved_before_a_restart_are_kept() -> None:
    """A long run that resumes near its end keeps its history."""
    values = 0.02 * np.exp(0.1 * np.random.default_rng(3).normal(size=4_000))
    values[300:340] = 20.0
    evaluator = new_evaluator()
    evaluator.feed([fresh("policy.kl_ref", values, range(4_000))])
    before = [repr(finding) for finding in evaluator.history()]
    assert before
    assert not ids(evaluator)
    evaluator.feed([fresh("policy.kl_ref", values[3_900:], range(3_900, 4_000), 3_900)])
    assert [repr(finding) for finding in evaluator.history()] == before
    assert not ids(evaluator)


def test_stored_episodes_of_non_finite_values_are_bounded() -> None:
    """Of many episodes of non-finite values, the first and the last ones are stored."""
    values = np.ones(100_000)
    values[::30] = np.nan
    ticks = Ticks("x", None)
    ticks.feed(np.arange(100_000), values, lambda begun: None)
    assert len(ticks.nonfinite_before) == NONFINITE_KEPT
    assert ticks.nonfinite_before[0].since_step == 0
    assert ticks.nonfinite_count == 3_334
    ticks.rewind(99_900)
    assert ticks.nonfinite_count == 3_330


@given(
    sizes=st.lists(st.integers(1, 900), min_size=1, max_size=6),
    back=st.integers(0, 5_000),
)
def test_rewinding_a_counter_does_not_depend_on_the_pieces(sizes: list[int], back: int) -> None:
    """Rewinding is exact for few points and close for many, and never keeps superseded points."""
    size = sum(sizes)
    steps = np.arange(1, size + 1)
    whole, pieces = RewindableCounter(), RewindableCounter()
    whole.add(steps, steps * 2.0)
    at = 0
    for count in sizes:
        pieces.add(steps[at : at + count], steps[at : at + count] * 2.0)
        at += count
    assert whole.rewind(back) == pieces.rewind(back) == (back > 1)
    if back > 1:
        assert (
            (whole.count, whole.note)
            == (pieces.count, pieces.note)
            == (whole.last_step, (whole.last_step * 2.0,))
        )
        true = min(back - 1, size)
        assert true - max(size // (KEPT // 2), 0) <= whole.count <= true
        if size < KEPT:
            assert whole.count == true


def test_a_live_job_that_starts_over_raises_no_alarm(tmp_path: Path) -> None:
    """The reward rises, the job starts over and it rises again: as for the finished log."""
    rng = np.random.default_rng(0)
    rise = np.linspace(0, 1, 300) + 0.02 * rng.normal(size=300)
    path = write(tmp_path / "run" / "metrics.jsonl", "")
    live, session = Live(tmp_path), Session()

    def written(step: int, value: float) -> None:
        append(path, line(step, **{"critic/score/mean": value, "actor/grad_norm": 0.5, "actor/entropy": 1.0}))
        session.apply(live.after(1.0))
        session.evaluate()

    for step in range(300):
        written(step, float(rise[step]))
    for step in range(200):
        written(step, float(rise[step]) + 0.01)
        assert session.runs["run"].evaluator.findings() == [], step
    finished = Session.load([tmp_path])
    assert said(session.runs["run"].evaluator) == said(finished.runs["run"].evaluator)
    run = session.runs["run"].run
    assert (run.superseded, run.earlier) == (0, 900)  # it resumes nothing
    assert json.loads(path.read_text().splitlines()[-1])["step"] == 199

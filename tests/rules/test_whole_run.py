"""Rules on an outcome over the whole run: what they find at any length, and how rarely they are wrong."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.judged import evaluator, fresh, ids

RETURN = "reward.episode_return.mean"
FALLS = {"outcome-lost", "outcome-fell", "return-crash", "return-drop"}


def _correlated(rng: np.random.Generator, size: int, lasts: float) -> np.ndarray:
    """Noise of deviation 1 whose correlation falls by half in about `lasts` points."""
    keep = 0.5 ** (1 / lasts) if lasts else 0.0
    found = np.empty(size)
    value = rng.normal()
    for k in range(size):
        value = keep * value + np.sqrt(1 - keep**2) * rng.normal()
        found[k] = value
    return found


def _learnt_and_lost(rng: np.random.Generator, size: int) -> np.ndarray:
    """A return that rises from 0 to 500, stays, and is back at 0 in the last fifth."""
    at = np.arange(size) / size
    level = np.clip((at - 0.1) / 0.4, 0, 1) * (at < 0.8) * 500
    return level + rng.normal(0, 60 if size > 100 else 20, size)


@pytest.mark.parametrize("size", [60, 500, 20_000, 2_000_000])
def test_a_lost_gain_is_found_in_runs_of_any_length(size: int) -> None:
    """60 points or 2 million, logged at every step or at every thousandth: the gain is gone."""
    values = _learnt_and_lost(np.random.default_rng(3), size)
    for every in (1, 1000):
        judge = evaluator()
        judge.feed([fresh(RETURN, values, [every * (k + 1) for k in range(size)])])
        assert ids(judge, "warning") & FALLS


def test_a_lost_gain_stays_told_until_it_comes_back() -> None:
    """The finding is the same however long the outcome stays low, and is resolved when it has recovered."""
    rng = np.random.default_rng(5)
    judge = evaluator()
    values = np.concatenate(
        (np.linspace(0.1, 0.8, 100), np.full(60, 0.8), np.full(240, 0.1), np.full(80, 0.8))
    )
    values += rng.normal(0, 0.03, len(values))
    told = []
    for begin in range(0, len(values), 10):
        steps = list(range(begin + 1, begin + 11))
        judge.feed([fresh("reward.success_rate", values[begin : begin + 10], steps)])
        told.append(
            bool(ids(judge, "warning") & {"outcome-lost", "outcome-fell", "reward-crash", "reward-drop"})
        )
    first = told.index(True)
    assert 160 <= 10 * first <= 230
    assert all(told[first:40])
    assert not told[-1]


@pytest.mark.parametrize("lasts", [0, 2, 8])
@pytest.mark.parametrize("size", [60, 400])
def test_healthy_runs_are_rarely_called_lost(size: int, lasts: float) -> None:
    """Flat noise and a steady climb, correlated over up to eight points: fewer than one in a hundred."""
    rng = np.random.default_rng(11)
    wrong = runs = 0
    for _ in range(60):
        noise = _correlated(rng, size, lasts)
        for values in (3 + noise, 3 + noise + 6 * np.linspace(0, 1, size) ** 0.5):
            judge = evaluator()
            judge.feed([fresh("reward.score.mean", values)])
            found = {*judge.state.firing, *(finding.id for finding in judge.history())}
            wrong += bool(found & {"outcome-lost", "outcome-fell"})
            runs += 1
    assert wrong <= 0.01 * runs


def test_no_gain_is_only_a_remark() -> None:
    """A flat outcome may be a hard task: it is told, and is no alarm."""
    judge = evaluator()
    judge.feed([fresh(RETURN, np.random.default_rng(2).normal(780, 60, 400))])
    assert "outcome-no-gain" in ids(judge)
    assert not ids(judge, "warning")


def test_an_unknown_tag_does_not_silence_a_rule() -> None:
    """Rules that prefer the score to the total judge other outcomes of a run whose tags are not all known."""
    values = _learnt_and_lost(np.random.default_rng(3), 400)
    judge = evaluator()
    judge.feed([fresh("reward.success_rate", values / 500), fresh("home made", np.ones(400))])
    assert ids(judge, "warning") & {"outcome-lost", "outcome-fell", "reward-crash", "reward-drop"}

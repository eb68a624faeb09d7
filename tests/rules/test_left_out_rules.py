"""Rules on a metric for which another one is judged instead (`unless_logged`)."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.rules.evaluated_series.ticks import CAP, START
from rltui.rules.evaluator import Evaluator
from rltui.rules.rule_states.rule_state import RuleState
from tests.support.runs.evaluators import fresh, new_evaluator, only

POINTS = 3 * CAP
BOOK = only("reward-crash", "reward-below-start")  # on the score where one is logged
DRAW = np.random.default_rng(4)
RISE = np.concatenate((np.linspace(0.2, 0.8, POINTS // 2), np.full(POINTS - POINTS // 2, 0.8)))
SCORE = RISE + 0.02 * DRAW.standard_normal(POINTS)
MEAN = np.where(np.arange(POINTS) < POINTS // 2, RISE, 0.1) + 0.02 * DRAW.standard_normal(POINTS)


def states_of(evaluator: Evaluator) -> list[RuleState]:
    """The states of rules on the mean."""
    ruled = evaluator.series["reward.mean"].ruled
    return [state for state in (*ruled.shown, *ruled.recording_rules) if state.rule.unless_logged]


def found(evaluator: Evaluator) -> list[tuple[str, int | None]]:
    """The findings with their steps."""
    return [(each.id, each.since_step) for each in evaluator.findings()]


@pytest.mark.parametrize("tags", [("reward.mean", "reward.score.mean"), ("reward.score.mean", "reward.mean")])
@pytest.mark.parametrize("pieces", [1, 7])
def test_no_rule_is_evaluated_where_another_metric_is_judged(tags: tuple[str, ...], pieces: int) -> None:
    """The mean of the rewards falls, and no rule looks at it, since the score is logged and does well."""
    values = {"reward.mean": MEAN, "reward.score.mean": SCORE}
    evaluator, steps = new_evaluator(book=BOOK), np.arange(1, POINTS + 1)
    for part in np.array_split(np.arange(POINTS), pieces):
        evaluator.feed([fresh(tag, values[tag][part], steps[part]) for tag in tags])
    assert states_of(evaluator)
    for state in states_of(evaluator):
        assert (state.period, state.past, state.waiting, state.idle_range) == (None, (), None, None)
    assert not found(evaluator)
    alone = new_evaluator(book=BOOK)
    alone.feed([fresh("reward.mean", MEAN)])
    assert "reward-crash" in dict(found(alone))


@pytest.mark.parametrize("before", [1, 200, CAP + 9, POINTS])
def test_what_was_found_is_forgotten_when_another_metric_begins(before: int) -> None:
    """Points of the mean before the first ones of the score leave no state behind."""
    evaluator, steps = new_evaluator(book=BOOK), np.arange(1, POINTS + 1)
    evaluator.feed([fresh("reward.mean", MEAN[:before], steps[:before])])
    few = START - 1
    evaluator.feed([fresh("reward.score.mean", SCORE[:few])])
    judged = before == POINTS
    assert ("reward-crash" in dict(found(evaluator))) is judged
    evaluator.feed([fresh("reward.score.mean", SCORE[few:], steps[few:])])
    assert not found(evaluator)
    evaluator.feed([fresh("reward.mean", MEAN[before:], steps[before:])])
    assert not found(evaluator)
    assert all(state.period is None and not state.past for state in states_of(evaluator))


def test_a_metric_is_judged_again_without_the_other_one() -> None:
    """Once a restart has superseded the score, the mean is judged on all ticks that are held."""
    evaluator, steps = new_evaluator(book=BOOK), np.arange(1, POINTS + 1)
    evaluator.feed([fresh("reward.mean", MEAN), fresh("reward.score.mean", SCORE)])
    assert not found(evaluator)
    evaluator.feed([fresh("reward.score.mean", SCORE[:1], [1], rewound_to=1)])
    alone = new_evaluator(book=BOOK)
    alone.feed([fresh("reward.mean", MEAN)])
    assert found(evaluator) == found(alone)
    assert found(alone)
    evaluator.feed([fresh("reward.score.mean", SCORE[1:], steps[1:])])
    assert not found(evaluator)

"""Thresholds of the user's configuration."""

from __future__ import annotations

import numpy as np

from rltui.config import Threshold
from rltui.config.user_config import Config
from tests.support.runs.evaluators import fresh, ids, new_evaluator


def test_a_threshold_that_is_crossed_again_is_resolved_as_soon_as_before() -> None:
    """Three points within the limits resolve it, however often it fired: alarms of rltui's own rules wait."""
    evaluator = new_evaluator(config=Config(thresholds=(Threshold("reward.mean", above=2),)))
    values = np.tile([1.0, 1.0, 1.0, 3.0, 3.0], 8)
    for step, value in enumerate(values.tolist()):
        evaluator.feed([fresh("reward.mean", np.array([value]), [step])])
    told = [each for each in evaluator.history() if each.id == "own-reward-mean"]
    assert sorted((each.since_step, each.resolved_step) for each in told) == [
        (step, step + 4) for step in range(3, 38, 5)
    ]
    assert "own-reward-mean" in ids(evaluator)

"""A run whose framework shows only with a second log is judged by all of its first one."""

from __future__ import annotations

import numpy as np

from rltui.config import Config
from rltui.session.session import Session
from tests.support.runs.deliveries import delivery

TAGS = ("actor/entropy", "actor/kl_loss", "actor/pg_clipfrac", "actor/grad_norm", "actor/pg_loss")
STEPS, FELL = 30_000, 10_000  # far more than stay exact in a run that is not looked at


def test_what_is_no_longer_exact_counts_after_the_framework_has_changed() -> None:
    """A reward that fell long before the newest points is told as fallen, from the step of the fall."""
    noise = np.random.default_rng(3).normal(0.0, 0.02, STEPS)
    reward = np.where(np.arange(STEPS) < FELL, np.linspace(0.1, 1.7, STEPS), 0.1) + noise
    session = Session(Config())
    session.focus()
    session.apply([delivery([("critic/score/mean", *row) for row in enumerate(reward.tolist())], run="run")])
    session.evaluate(force=True)
    view = session.runs["run"]
    assert view.recognition.label == "unknown"
    rest = [(tag, step, 0.1) for step in range(STEPS - 50, STEPS) for tag in TAGS]
    session.apply([delivery(rest, "other.jsonl", run="run")])
    session.evaluate(force=True)
    assert view.recognition.label == "verl"
    assert view.run.series["critic/score/mean"].exact_from > FELL
    since = [one.since_step for one in view.evaluator.findings() if "critic/score/mean" in one.metrics]
    assert since and abs(since[0] - FELL) < STEPS // 100

"""A run whose framework shows only with a second log is judged by all of its first one."""

from __future__ import annotations

import numpy as np

from rltui.config import Config
from rltui.logs.delivery import Delivery
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


def _collapsing() -> list[tuple[str, int, float]]:
    """A training whose entropy and reward fall early and stay down."""
    rows = []
    for step in range(400):
        fallen = step >= 60
        rows += [
            ("actor/entropy", step, 0.001 if fallen else 0.9 + 0.01 * (step % 5)),
            ("actor/pg_loss", step, 0.1),
            ("actor/grad_norm", step, 0.5),
            ("critic/score/mean", step, 0.05 if fallen else 0.4 + 0.01 * (step % 7)),
            ("response_length/mean", step, 200.0 + step % 11),
        ]
    return rows


def _found(deliveries: list[Delivery], *, recognise_after: int) -> set[tuple[str, int]]:
    """The findings after deliveries; a frame, which recognises the framework, is drawn after some of them."""
    session = Session(Config())
    for at, one in enumerate(deliveries):
        session.apply([one])
        if at == recognise_after:
            session.runs["run"].recognise()
    session.evaluate(force=True)
    return {(one.id, one.since_step) for one in session.runs["run"].evaluator.findings()}


def test_the_end_that_is_shown_first_is_not_judged_before_the_rest() -> None:
    """The first frame of a long log has only its end: the verdict is that of the whole log nevertheless."""
    rows = _collapsing()
    whole = _found([delivery(rows, size=9000, read=9000)], recognise_after=-1)
    assert any(step < 70 for _, step in whole)
    end = delivery(rows[-300:], kind="newest", size=9000)
    assert _found([end, delivery(rows, size=9000, read=9000)], recognise_after=0) == whole


def test_what_waits_for_its_evaluation_does_not_displace_what_was_evaluated() -> None:
    """A second log shows the framework while new points of the first one wait."""
    rows = [row for row in _collapsing() if row[0] == "critic/score/mean"]
    others = [row for row in _collapsing() if row[0] != "critic/score/mean"]
    session = Session(Config())
    session.apply([delivery(rows[:300])])
    session.evaluate(force=True)
    session.apply([delivery(rows[300:])])
    session.apply([delivery(others, "other.jsonl")])
    session.runs["run"].recognise()
    session.evaluate(force=True)
    found = {(one.id, one.since_step) for one in session.runs["run"].evaluator.findings()}
    assert found == _found([delivery(rows), delivery(others, "other.jsonl")], recognise_after=-1)

"""The remark on a run that has stopped writing, and the sentence for a run that logs no outcome."""

from __future__ import annotations

import numpy as np

from rltui.rules.finding import ConsoleEvidence, Finding
from rltui.rules.run_status.liveness import Liveness
from rltui.rules.run_status.liveness_finding import liveness_finding
from tests.support.runs.evaluators import fresh, new_evaluator


def test_a_stall_names_phase_gap_and_last_line() -> None:
    """The missing phase, the usual gap, and the last line of its console."""
    liveness = Liveness("stalled", age=2100.0, gap=64.0, quiet="timing_s/gen is missing for step 812")
    found = liveness_finding(liveness, 811, "Waiting for 3 rollouts")
    assert found is not None
    assert (found.id, found.severity, found.since_step) == ("run-stalled", "info", 811)
    for part in ("35m", "1m 04s", "timing_s/gen is missing for step 812", "Waiting for 3 rollouts"):
        assert part in found.message
    assert len(liveness_finding(liveness, 811, "x" * 5000).message) < 500


def test_an_early_end_is_reported_and_a_complete_one_is_not() -> None:
    """A run that ended before its planned steps or by a failure has a remark; a complete one has none."""
    early = liveness_finding(Liveness("ended", age=9e4, total=1000, progress=0.8, known=False), 800)
    assert early is not None
    assert (early.id, early.value, early.limit) == ("run-ended-early", 800, 1000)
    assert "nothing since step 800 of 1,000" in early.message
    failed = liveness_finding(Liveness("ended", age=9e4, exit_code=137), 800, "Killed")
    assert failed is not None and "exit code 137 at step 800; the last line" in failed.message
    assert liveness_finding(Liveness("ended", age=9e4, total=1000, progress=1.0), 1000) is None
    assert liveness_finding(Liveness("ended", age=9e4), 1000) is None
    assert liveness_finding(Liveness("live", age=5.0, gap=4.0), 1000) is None


def test_a_run_without_an_outcome_is_not_called_healthy() -> None:
    """Only a run with a return is said to have nothing wrong, not one that logs only losses."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("optimizer.loss", 1 / np.arange(1, 60))])
    assert "shows what the run achieves" in evaluator.sentence()
    evaluator.feed([fresh("reward.episode_return.mean", np.linspace(0, 60, 59))])
    assert evaluator.sentence().startswith("nothing is wrong")
    assert not evaluator.unknown_outcome()


def test_a_young_run_needs_no_outcome() -> None:
    """The first episode must end before an outcome can be logged."""
    evaluator = new_evaluator()
    evaluator.feed([fresh("optimizer.loss", np.ones(10))])
    assert not evaluator.unknown_outcome()


def test_a_failure_in_a_console_replaces_the_remark() -> None:
    """A run that an exception ended has one finding; that it no longer writes is a consequence."""
    line = ConsoleEvidence("train.log", 10, "ValueError: 3", 2, None)
    died = Finding("exception", "critical", "console", (), (), 5, "An exception ended it", console=line)
    stalled = Liveness("stalled", age=2100.0, gap=64.0)
    assert liveness_finding(stalled, 49) is not None
    assert liveness_finding(stalled, 49, others=[died]) is None
    assert liveness_finding(stalled, 49, others=[died._replace(severity="info")]) is not None

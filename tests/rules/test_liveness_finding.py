"""The remark that a run writes no more, and the sentence about a run whose outcome nobody logs."""

from __future__ import annotations

import numpy as np

from rltui.rules.finding import ConsoleEvidence, Finding
from rltui.rules.run_status.liveness import Liveness
from rltui.rules.run_status.liveness_finding import liveness_finding
from tests.support.runs.evaluators import evaluator, fresh


def test_a_stall_tells_phase_gap_and_last_line() -> None:
    """What was going on when it went silent, how often it usually writes, what its console said last."""
    alive = Liveness("stalled", age=2100.0, gap=64.0, quiet="timing_s/gen is missing for step 812")
    found = liveness_finding(alive, 811, "Waiting for 3 rollouts")
    assert found is not None
    assert (found.id, found.severity, found.since_step) == ("run-stalled", "info", 811)
    for part in ("35m", "1m 04s", "timing_s/gen is missing for step 812", "Waiting for 3 rollouts"):
        assert part in found.message
    assert len(liveness_finding(alive, 811, "x" * 5000).message) < 500


def test_an_early_end_is_told_and_a_complete_one_is_not() -> None:
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


def test_silence_about_an_outcome_is_not_health() -> None:
    """A run that logs only losses is not said to have nothing wrong; one with a return is."""
    judge = evaluator()
    judge.feed([fresh("optimizer.loss", 1 / np.arange(1, 60))])
    assert "tells what the run achieves" in judge.sentence()
    judge.feed([fresh("reward.episode_return.mean", np.linspace(0, 60, 59))])
    assert judge.sentence().startswith("nothing is wrong")
    assert not judge.unknown_outcome()


def test_a_young_run_is_not_asked_for_its_outcome() -> None:
    """The first episode has to end first."""
    judge = evaluator()
    judge.feed([fresh("optimizer.loss", np.ones(10))])
    assert not judge.unknown_outcome()


def test_a_failure_that_a_console_tells_of_is_all_there_is_to_say() -> None:
    """A run that an exception ended has one finding: that it writes no more is what follows."""
    line = ConsoleEvidence("train.log", 10, "ValueError: 3", 2, None)
    died = Finding("exception", "critical", "console", (), (), 5, "An exception ended it", console=line)
    stalled = Liveness("stalled", age=2100.0, gap=64.0)
    assert liveness_finding(stalled, 49) is not None
    assert liveness_finding(stalled, 49, told=[died]) is None
    assert liveness_finding(stalled, 49, told=[died._replace(severity="info")]) is not None

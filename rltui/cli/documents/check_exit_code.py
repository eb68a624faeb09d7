"""The exit code of `check` and `merge`."""

from __future__ import annotations

from typing import Literal

from rltui.cli.exit_codes import FOUND, STALLED, WRONG
from rltui.many_runs.merged_verdicts import EvaluatedRuns
from rltui.rules.finding import RANK
from rltui.rules.run_status.liveness import Liveness

FailOn = Literal["warning", "critical", "never"]
# Seconds after the last point for which a run that ended early affects the exit code. Without a limit, a run
# that was stopped months ago would determine the exit code of its folder forever.
EARLY_END_COUNTS = 7 * 86400


def exit_code(evaluated: EvaluatedRuns, fail_on: FailOn, at_step: int | None = None) -> int:
    """The documented exit code for these runs; with `at_step`, no run counts as stalled."""
    verdicts = evaluated.verdicts
    if evaluated.incomplete or (verdicts and all(verdict.health == "unjudged" for verdict in verdicts)):
        return WRONG
    if fail_on == "never":
        return 0
    if max((verdict.rank for verdict in verdicts), default=-1) >= RANK[fail_on]:
        return FOUND
    if at_step is not None:
        return 0
    return STALLED if any(_should_be_live(verdict.liveness) for verdict in verdicts) else 0


def _should_be_live(found: Liveness) -> bool:
    recent = found.age is not None and found.age <= EARLY_END_COUNTS
    return found.state == "stalled" or (found.cut_short and recent)

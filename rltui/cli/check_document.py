"""The document of `check --json` and the exit code that goes with it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from rltui.cli.loading import as_of
from rltui.cli.output import FOUND, STALLED, WRONG
from rltui.rules.finding import RANK, as_json, worst
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import clean

# Problems of a metric, not of its file: files with such metrics are healthy.
REMARKS = frozenset({"not-reported"})
OWN = "own-"  # rules of the user's configuration
FailOn = Literal["warning", "critical", "never"]


def exit_code(views: Sequence[RunView], fail_on: FailOn, at_step: int | None = None) -> int:
    """The promised code for these runs. As of an earlier step no run has stalled."""
    if all(view.health == "unjudged" for view in views):
        return WRONG
    if fail_on == "never":
        return 0
    rank = max((finding.rank for view in views for finding in view.evaluator.findings()), default=-1)
    if rank >= RANK[fail_on]:
        return FOUND
    stalled = any(view.liveness(as_of(view, at_step)).state == "stalled" for view in views)
    return STALLED if stalled else 0


def report(
    session: Session, logdir: str, at_step: int | None = None, logdirs: Sequence[str] = ()
) -> dict[str, Any]:
    """The promised JSON document."""
    views = session.ordered()
    problems = [(problem, problem.as_json()) for problem in session.diagnostics()]
    damaged = all(_damaged(view) for view in views)
    return {
        **head(logdirs or (logdir,), "unreadable" if damaged else worst(view.health for view in views)),
        "runs": []
        if damaged
        else [{**view.describe(as_of(view, at_step)), **_judged(view)} for view in views],
        "diagnostics": [data for problem, data in problems if problem.code not in REMARKS],
        "notes": [data for problem, data in problems if problem.code in REMARKS],
    }


def head(logdirs: Sequence[str], health: str) -> dict[str, Any]:
    """The fields that every such document begins with."""
    return {
        "schema": 1,
        "logdir": clean(logdirs[0]),
        "logdirs": [clean(each) for each in logdirs],
        "health": health,
    }


def _damaged(view: RunView) -> bool:
    """Whether its files have something wrong with them, and gave not one point."""
    return not view.run.points and any(problem.level != "info" for problem in view.run.problems.values())


def _judged(view: RunView) -> dict[str, Any]:
    """Findings and notes of a run.

    A healthy training has no findings: what is merely worth a look is a note there, unless the user's own
    limits asked for it. Where something is wrong, the same remarks are part of the picture.
    """
    found = view.evaluator.findings()
    notes = [one for one in found if view.evaluator.health == "ok" and not one.id.startswith(OWN)]
    return {
        "findings": [as_json(one) for one in found if one not in notes],
        "notes": [as_json(one) for one in notes],
    }

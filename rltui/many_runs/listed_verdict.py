"""A verdict as an entry of the list of runs."""

from __future__ import annotations

import math

from rltui.many_runs.verdict import Verdict
from rltui.panes.runs.listed_run import share_done, summary_of
from rltui.rules.finding import Finding
from rltui.run_context.hparams.hparams import HParam


class ListedVerdict:
    """A `ListedRun` made of a verdict, which has neither settings nor metrics other than the outcome."""

    def __init__(self, verdict: Verdict) -> None:
        self._verdict = verdict
        self.name = verdict.run
        self.given_name = verdict.given_name
        self.framework = verdict.framework
        self.modified = -math.inf if verdict.modified is None else verdict.modified
        self.series, self.points = verdict.series, verdict.points
        self.health: str = verdict.health
        self.urgency: str = verdict.health
        self.liveness = verdict.liveness
        self.step = verdict.last_step
        self.outcome = verdict.outcome
        self.sister_comparison = verdict.sister_comparison

    @property
    def share(self) -> float | None:
        """How much of the planned steps is done, 0 to 1."""
        return share_done(self.step, self.liveness.total)

    @property
    def findings(self) -> list[Finding]:
        """Findings that no other finding explains, worst first."""
        return [one for one in self._verdict.findings if one.explained_by is None]

    @property
    def why(self) -> str:
        """The worst finding in a few words, with its step; a stall; else what could not be judged."""
        verdict = self._verdict
        return summary_of(self.findings, self.liveness, verdict.last_error, verdict.unjudged)

    @property
    def project(self) -> str:
        """The folder of the run."""
        return self.name.rpartition("/")[0] or "."

    def hparam(self, key: str) -> HParam | None:
        """None: a verdict has no settings."""
        return None

    def last_value(self, key: str) -> tuple[float | None, str] | None:
        """None: a verdict has no metric other than the outcome."""
        return None

"""A verdict as lists of runs ask for it."""

from __future__ import annotations

import math

from rltui.hparams.hparams import HParam
from rltui.panes.runs.facts import Outcome, share_done, why_so
from rltui.rules.finding import Finding, RunHealth
from rltui.rules.run_state.liveness import Liveness
from rltui.session.sister_runs import Standing
from rltui.shards.verdict import Verdict


class ListedVerdict:
    """What is remembered of one run. Its settings and single metrics are not."""

    __slots__ = ("alive", "verdict")

    def __init__(self, verdict: Verdict) -> None:
        self.verdict = verdict
        self.alive: Liveness = verdict.liveness  # live, stalled or ended; how long ago, how much longer

    @property
    def name(self) -> str:
        """The run's folder relative to LOGDIR."""
        return self.verdict.run

    @property
    def given_name(self) -> str:
        """What a person called it in its tracker; empty where nobody did."""
        return self.verdict.given_name

    @property
    def framework(self) -> str:
        """Such as `verl`; `unknown` when the tags say nothing."""
        return self.verdict.framework

    @property
    def modified(self) -> float:
        """When it last wrote, seconds since 1970; infinite where that is not known."""
        return -math.inf if self.verdict.modified is None else self.verdict.modified

    @property
    def series(self) -> int:
        """How many series it has."""
        return self.verdict.series

    @property
    def points(self) -> int:
        """Points that were read."""
        return self.verdict.points

    @property
    def health(self) -> RunHealth:
        """ok, unjudged, warning or critical."""
        return self.verdict.health

    @property
    def step(self) -> int | None:
        """The last step."""
        return self.verdict.last_step

    @property
    def share(self) -> float | None:
        """How much of the planned steps is done, 0 to 1."""
        return share_done(self.step, self.alive.total)

    @property
    def outcome(self) -> Outcome | None:
        """Last and best value of the metric that says most; None without points."""
        return self.verdict.outcome

    @property
    def findings(self) -> list[Finding]:
        """What is wrong and nothing else explains, worst first."""
        return [one for one in self.verdict.findings if one.explained_by is None]

    @property
    def why(self) -> str:
        """The worst finding in a few words, with its step; a stall; else what could not be judged."""
        verdict = self.verdict
        return why_so(self.findings, self.alive, self.health, verdict.last_error, verdict.unjudged)

    @property
    def standing(self) -> Standing | None:
        """Where it stands beside its sister runs; None without enough of them."""
        return self.verdict.standing

    @property
    def project(self) -> str:
        """The folder that it lies in."""
        return self.name.rpartition("/")[0] or "."

    def setting(self, key: str) -> HParam | None:
        """Nothing: settings are not remembered."""
        return None

    def last_value(self, key: str) -> tuple[float | None, str] | None:
        """Nothing: metrics other than that of the outcome are not remembered."""
        return None

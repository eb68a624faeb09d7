"""Which findings become alerts: one for each episode, after it has lasted, and not again too soon."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from rltui.alerts.sent_log import SentAlert
from rltui.config.model import AlertConfig
from rltui.rules.finding import Finding

Event = Literal["firing", "resolved", "test"]


@dataclass(frozen=True, slots=True)
class Alert:
    """Something to tell the outside.

    `told` is the rank at which the episode was told before, -1 when it is new: each way out hears of an
    episode once, when it first reaches the severity that this way asks for.
    """

    event: Event
    run: str
    finding: Finding
    explains: tuple[Finding, ...] = ()  # findings that a symptom gathers
    told: int = -1

    @property
    def id(self) -> str:
        """The same for the same episode and event: receivers can leave out what they already have."""
        finding = self.finding
        text = "\0".join((self.run, *map(str, finding.key), self.event, finding.severity))
        return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]

    def goes_to(self, least: int) -> bool:
        """Whether a way out that asks for at least this rank hears of it."""
        if self.event == "test":
            return True
        if self.event == "resolved":
            return self.told >= least
        return self.finding.rank >= least > self.told


@dataclass(slots=True)
class _Cause:
    """One finding id in one run. Times are those of the injected clock, in seconds."""

    first_seen: float
    last_seen: float
    told_rank: int = -1  # in the present episode
    told_at: float | None = None  # when any episode was told last
    finding: Finding | None = None  # as it was told


class Throttle:
    """Dwell, hysteresis and cooldown, per run and cause. Pure: the time is given.

    An episode lasts from the first sight of a finding until it has been gone for `clear` seconds; that its
    first step is told anew meanwhile, as when one of several series recovers, makes no new episode. A
    finding that is explained by a symptom is told by the symptom.

    `told` is what was told before this process began, `ahead` how far its clock (seconds since 1970) is
    ahead of the one given here: the same episode is not told again, another one of the same cause not before
    it has cooled.
    """

    def __init__(
        self,
        settings: AlertConfig,
        told: Mapping[tuple[str, str], SentAlert] | None = None,
        ahead: float = 0.0,
    ) -> None:
        self.settings = settings
        self._before = told if told is not None else {}
        self._ahead = ahead
        self._causes: dict[str, dict[str, _Cause]] = {}
        self._lived: set[str] = set()  # runs that have been seen alive

    def look(
        self,
        run: str,
        findings: Sequence[Finding],
        now: float,
        *,
        alive: bool = True,
        last_step: int | None = None,
        muted: Collection[str] = (),
    ) -> list[Alert]:
        """Take what fires now in one run; returns what is to be told.

        `alive`: whether points still come. `muted`: ids that a person has seen already; they are not told.
        """
        if not self.settings.covers(run):
            return []
        if alive:
            self._lived.add(run)
        elif run not in self._lived and not self.settings.ended:
            return []  # it was history when rltui started
        least = self.settings.least_rank_of_all
        present = {
            finding.id: finding
            for finding in findings
            if finding.state == "firing" and finding.explained_by is None and finding.rank >= least
        }
        causes = self._causes.setdefault(run, {})
        for name, finding in present.items():
            if name not in causes:
                causes[name] = self._begin(run, finding, now)
        alerts = [
            Alert("firing", run, finding, _explained(finding, findings), told)
            for finding in present.values()
            if (told := self._told(causes[finding.id], finding, now, last_step, finding.id in muted))
            is not None
        ]
        for name, cause in causes.items():
            if name in present or cause.told_rank < 0 or now - cause.last_seen < self.settings.resolve_after:
                continue
            if self.settings.resolved and cause.finding is not None:
                alerts.append(Alert("resolved", run, cause.finding, told=cause.told_rank))
            cause.told_rank = -1
        return alerts

    def _begin(self, run: str, finding: Finding, now: float) -> _Cause:
        """A cause that is seen for the first time, here."""
        cause, before = _Cause(now, now), self._before.get((run, finding.id))
        if before is not None:
            cause.told_at = min(before.at - self._ahead, now)  # a clock that was set back makes no future
            if before.since_step == finding.since_step:
                cause.told_rank, cause.finding = before.rank, finding
        return cause

    def _told(
        self, cause: _Cause, finding: Finding, now: float, last_step: int | None, muted: bool
    ) -> int | None:
        """The rank that was told before when this finding is to be told now, else None."""
        settings = self.settings
        if cause.told_rank < 0 and now - cause.last_seen >= max(settings.resolve_after, 1.0):
            cause.first_seen = now  # it was away for long: a new episode
        cause.last_seen = now
        if muted or cause.told_rank >= finding.rank or now - cause.first_seen < settings.for_:
            return None
        if last_step is not None and last_step - finding.since_step < settings.for_steps:
            return None
        before = cause.told_rank
        cooling = cause.told_at is not None and now - cause.told_at < settings.repeat_interval
        if before < 0 and cooling:
            return None
        cause.told_rank, cause.told_at, cause.finding = finding.rank, now, finding
        return before


def _explained(symptom: Finding, findings: Sequence[Finding]) -> tuple[Finding, ...]:
    return tuple(finding for finding in findings if finding.explained_by == symptom.id)

"""Which findings become alerts: one for each episode, after it has lasted, and not again too soon."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from rltui.alerts.settings import Settings
from rltui.rules.finding import RANK, Finding


@dataclass(frozen=True, slots=True)
class Alert:
    """Something to tell the outside."""

    event: Literal["firing", "resolved", "test"]
    run: str
    finding: Finding


@dataclass(slots=True)
class _Cause:
    """What is known of one finding id in one run. Times are those of the injected clock, in seconds."""

    first_seen: float
    last_seen: float
    told_at: float | None = None  # of the present episode
    told_before: float | None = None  # of any episode
    told: Finding | None = None


class Gate:
    """Dwell, hysteresis and cooldown, per run and finding id. Pure: the time is given."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self._causes: dict[tuple[str, str], _Cause] = {}

    def look(self, run: str, findings: Sequence[Finding], now: float) -> list[Alert]:
        """Take what fires now in one run; returns what is to be told.

        A finding that is explained by a symptom is told by the symptom. A finding that is gone for less
        than the dwell time counts as still there.
        """
        settings = self.settings
        alerts: list[Alert] = []
        if not settings.concerns(run):
            return alerts
        present = {
            finding.id: finding
            for finding in findings
            if finding.state == "firing"
            and finding.explained_by is None
            and finding.rank >= RANK[settings.severity]
        }
        for name, finding in present.items():
            cause = self._causes.setdefault((run, name), _Cause(now, now))
            if cause.told_at is None and now - cause.last_seen > max(settings.dwell, 1.0):
                cause.first_seen = now  # it was away for long: a new episode
            cause.last_seen = now
            if cause.told_at is not None or now - cause.first_seen < settings.dwell:
                continue
            if cause.told_before is not None and now - cause.told_before < settings.cooldown:
                continue
            cause.told_at = cause.told_before = now
            cause.told = finding
            alerts.append(Alert("firing", run, finding))
        for (owner, name), cause in self._causes.items():
            if owner != run or name in present or cause.told_at is None or cause.told is None:
                continue
            if now - cause.last_seen >= settings.dwell:
                alerts.append(Alert("resolved", run, cause.told))
                cause.told_at = None
        return alerts

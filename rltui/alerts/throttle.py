"""Which findings become alerts: one per active period, after `for`, not again within `repeat_interval`."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from rltui.alerts.finding_alert import Alert
from rltui.alerts.sent_log import SentAlert
from rltui.config.user_config import AlertConfig
from rltui.rules.finding import Finding


@dataclass(slots=True)
class _FindingState:
    """A finding id in a run. Times are in seconds, of the clock passed to `update`."""

    first_seen: float
    last_seen: float
    sent_rank: int = -1  # in the current period
    sent_at: float | None = None  # last alert of any period
    finding: Finding | None = None  # as it was sent


class Throttle:
    """Applies `for`, `resolve_after` and `repeat_interval` per run and finding id.

    A period lasts until the finding has been absent for `resolve_after` seconds. A changed first step, as
    when one of several series recovers, begins no new period. A finding that a symptom explains is sent with
    the symptom.

    sent_before: alerts that were sent before this process started; their periods are not sent again, and
    other periods only after the repeat interval. clock_lead: wall time (seconds since 1970) minus the time
    passed to `update`.
    """

    def __init__(
        self,
        config: AlertConfig,
        sent_before: Mapping[tuple[str, str], SentAlert] | None = None,
        clock_lead: float = 0.0,
    ) -> None:
        self.config = config
        self._sent_before = sent_before if sent_before is not None else {}
        self._clock_lead = clock_lead
        self._states: dict[str, dict[str, _FindingState]] = {}
        self._seen_live: set[str] = set()  # runs

    def update(
        self,
        run: str,
        findings: Sequence[Finding],
        now: float,
        *,
        live: bool = True,
        last_step: int | None = None,
        acknowledged: Collection[str] = (),
    ) -> list[Alert]:
        """The alerts to send, given all current findings of a run.

        live: whether the run is live. acknowledged: ids that the user has acknowledged; they are not sent.
        """
        if not self.config.covers(run):
            return []
        if live:
            self._seen_live.add(run)
        elif run not in self._seen_live and not self.config.ended:
            return []  # the run was over when rltui started
        least_rank = self.config.least_rank_of_all
        present = {
            finding.id: finding
            for finding in findings
            if finding.state == "firing" and finding.explained_by is None and finding.rank >= least_rank
        }
        states = self._states.setdefault(run, {})
        alerts = []
        for id_, finding in present.items():
            if id_ not in states:
                states[id_] = self._new_state(run, finding, now)
            state, before = states[id_], states[id_].sent_rank
            if self._is_due(state, finding, now, last_step, id_ in acknowledged):
                state.sent_rank, state.sent_at, state.finding = finding.rank, now, finding
                explains = tuple(other for other in findings if other.explained_by == id_)
                alerts.append(Alert("firing", run, finding, explains, before))
        for id_, state in states.items():
            gone = now - state.last_seen >= self.config.resolve_after
            if id_ not in present and state.sent_rank >= 0 and gone:
                if self.config.resolved and state.finding is not None:
                    alerts.append(Alert("resolved", run, state.finding, sent_rank=state.sent_rank))
                state.sent_rank = -1
        return alerts

    def _new_state(self, run: str, finding: Finding, now: float) -> _FindingState:
        """The state of a finding that is new to this process."""
        state, before = _FindingState(now, now), self._sent_before.get((run, finding.id))
        if before is not None:
            state.sent_at = min(before.at - self._clock_lead, now)  # the clock may have been set back
            if before.since_step == finding.since_step:
                state.sent_rank, state.finding = before.rank, finding
        return state

    def _is_due(
        self, state: _FindingState, finding: Finding, now: float, last_step: int | None, acknowledged: bool
    ) -> bool:
        """Whether to send an alert for a firing finding now."""
        config = self.config
        if state.sent_rank < 0 and now - state.last_seen >= max(config.resolve_after, 1.0):
            state.first_seen = now  # a new period
        state.last_seen = now
        if acknowledged or state.sent_rank >= finding.rank or now - state.first_seen < config.for_:
            return False
        if last_step is not None and last_step - finding.since_step < config.for_steps:
            return False
        too_soon = state.sent_at is not None and now - state.sent_at < config.repeat_interval
        return state.sent_rank >= 0 or not too_soon

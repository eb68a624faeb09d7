"""Findings that the user has acknowledged until they resolve, or snoozed for half an hour."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

from rltui.panes.header import Header
from rltui.rules.finding import Finding, RunHealth, health_of
from rltui.rules.rule_messages import headline_of, sentence_of
from rltui.screen.saved_layout import SavedLayout
from rltui.session.run_view import RunView

SNOOZE_SECONDS = 1800.0
_MAX_ENTRIES = 200  # that are remembered, the latest

_Key = tuple[str, str, int | None]  # run, id of the finding, its first step; no step: snoozed


class Acknowledgements:
    """Saved with the layout as `[run, id, since_step, until]`, one JSON text each.

    An acknowledgement is valid for one period of a finding, until it resolves; a snooze for all periods of
    a finding in a run, until a time in seconds since 1970.
    """

    def __init__(self, saved: SavedLayout) -> None:
        self.saved = saved
        self._read: tuple[str, ...] = ()
        self._entries: dict[_Key, float] = {}

    def status(self, run: str, finding: Finding, now: float) -> str:
        """`acknowledged`, `snoozed 24m`, or nothing."""
        entries = self._load()
        until = entries.get((run, finding.id, None), -math.inf)
        if until > now:
            return f"snoozed for {max(math.ceil((until - now) / 60), 1)}m"
        return "acknowledged" if (run, finding.id, finding.since_step) in entries else ""

    def unacknowledged(self, run: str, findings: Sequence[Finding], now: float) -> list[Finding]:
        """The findings that are not acknowledged, nor explained by an acknowledged one."""
        handled = (
            {one.id for one in findings if self.status(run, one, now)} if self.saved.acknowledged else set()
        )
        return [one for one in findings if one.id not in handled and one.explained_by not in handled]

    def urgency(self, view: RunView, now: float, found: Sequence[Finding] | None = None) -> RunHealth:
        """The health that a run would have without its acknowledged findings, so that new ones are noticed.

        `found` are its findings, where not those that fire now.
        """
        if found is not None:
            return health_of(self.unacknowledged(view.name, found, now))
        found = view.evaluator.findings()
        counted = self.unacknowledged(view.name, found, now)
        return view.health if len(counted) == len(found) else health_of(counted)

    def header(self, head: Header, found: Sequence[Finding], now: float) -> Header:
        """The header of a run with these findings: those that are not acknowledged are told first.

        Where all are acknowledged, what is wrong is told as before, marked as acknowledged.
        """
        counted = self.unacknowledged(head.run, found, now)
        left = sum(one.rank > 0 and one.explained_by is None for one in found if one not in counted)
        if not left:
            return head
        if health_of(counted) == "ok":
            return head._replace(acknowledged=True)
        return head._replace(
            health=health_of(counted), sentence=sentence_of(counted, left), headline=headline_of(counted)
        )

    def acknowledge(self, run: str, finding: Finding) -> bool:
        """Acknowledge a period, or undo that. True if it is acknowledged now."""
        entries = self._load()
        key = (run, finding.id, finding.since_step)
        if entries.pop(key, None) is None:
            entries[key] = math.inf
        self._write()
        return key in entries

    def snooze(self, run: str, finding: Finding, now: float) -> bool:
        """Snooze a finding for half an hour, or undo that. True if it is snoozed now."""
        entries = self._load()
        key = (run, finding.id, None)
        if entries.pop(key, -math.inf) <= now:
            entries[key] = now + SNOOZE_SECONDS
        self._write()
        return key in entries

    def _load(self) -> dict[_Key, float]:
        saved = tuple(self.saved.acknowledged)
        if saved != self._read:
            self._read = saved
            self._entries = dict(entry for text in saved if (entry := _entry(text)) is not None)
        return self._entries

    def _write(self) -> None:
        latest = list(self._entries.items())[-_MAX_ENTRIES:]
        self.saved.acknowledged = [
            json.dumps([*key, None if until == math.inf else until]) for key, until in latest
        ]
        self._read = tuple(self.saved.acknowledged)


def _entry(text: str) -> tuple[_Key, float] | None:
    """An entry from its text; None if it is not valid."""
    try:
        run, name, since, until = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    whole = since is None or (isinstance(since, int) and not isinstance(since, bool))
    timed = until is None or (isinstance(until, int | float) and not isinstance(until, bool))
    if not (isinstance(run, str) and isinstance(name, str) and whole and timed):
        return None
    return (run, name, since), math.inf if until is None else float(until)

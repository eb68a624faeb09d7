"""Findings that a person has seen: acknowledged for as long as they last, or snoozed for half an hour."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.rules.finding import health_of
from rltui.rules.messages import sentence_of

if TYPE_CHECKING:
    from rltui.panes.overview import Header
    from rltui.rules.finding import Finding, Health
    from rltui.screen.saved_layout import SavedLayout
    from rltui.session.run_view import RunView

SNOOZE = 1800.0  # seconds
_KEPT = 200  # entries that are remembered, the latest


class Acknowledgements:
    """What is hushed, kept in the layout's memory as `[run, id, since_step, until]`, one JSON text each.

    An acknowledgement holds for one episode of a finding, until it resolves; a snooze for the finding's id
    in a run, whatever episode, until a moment in seconds since 1970.
    """

    def __init__(self, memory: SavedLayout) -> None:
        self.memory = memory
        self._read: tuple[str, ...] = ()
        self._entries: dict[tuple[str, str, int | None], float] = {}

    def word(self, run: str, finding: Finding, now: float) -> str:
        """`acknowledged`, `snoozed 24m`, or nothing."""
        entries = self._known()
        until = entries.get((run, finding.id, None), -math.inf)
        if until > now:
            return f"snoozed for {max(math.ceil((until - now) / 60), 1)}m"
        return "acknowledged" if (run, finding.id, finding.since_step) in entries else ""

    def unseen(self, run: str, findings: Sequence[Finding], now: float) -> list[Finding]:
        """The findings that still count: neither seen themselves nor gathered by a symptom that was seen."""
        seen = {one.id for one in findings if self.word(run, one, now)} if self.memory.hushed else set()
        return [one for one in findings if one.id not in seen and one.explained_by not in seen]

    def health(self, view: RunView, now: float, found: Sequence[Finding] | None = None) -> Health:
        """How a run stands but for what was seen: a screen that stays red would tell no news.

        `found` are its findings, where not those that fire now.
        """
        if found is not None:
            return health_of(self.unseen(view.name, found, now))
        found = view.evaluator.findings()
        counted = self.unseen(view.name, found, now)
        return view.evaluator.health if len(counted) == len(found) else health_of(counted)

    def header(self, head: Header, found: Sequence[Finding], now: float) -> Header:
        """The header of a run with these findings: what was seen neither colours it nor is its sentence."""
        counted = self.unseen(head.run, found, now)
        if len(counted) == len(found):
            return head
        left = sum(one.rank > 0 and one.explained_by is None for one in found if one not in counted)
        return replace(head, health=health_of(counted), sentence=sentence_of(counted, left))

    def acknowledge(self, run: str, finding: Finding) -> bool:
        """Acknowledge an episode, or take that back. True when it is acknowledged now."""
        entries = self._known()
        key = (run, finding.id, finding.since_step)
        if entries.pop(key, None) is None:
            entries[key] = math.inf
        self._write()
        return key in entries

    def snooze(self, run: str, finding: Finding, now: float) -> bool:
        """Snooze a finding for half an hour, or wake it. True when it is snoozed now."""
        entries = self._known()
        key = (run, finding.id, None)
        if entries.pop(key, -math.inf) <= now:
            entries[key] = now + SNOOZE
        self._write()
        return key in entries

    def _known(self) -> dict[tuple[str, str, int | None], float]:
        written = tuple(self.memory.hushed)
        if written != self._read:
            self._read = written
            self._entries = dict(entry for text in written if (entry := _entry(text)) is not None)
        return self._entries

    def _write(self) -> None:
        kept = list(self._entries.items())[-_KEPT:]
        self.memory.hushed = [json.dumps([*key, None if until == math.inf else until]) for key, until in kept]
        self._read = tuple(self.memory.hushed)


def _entry(text: str) -> tuple[tuple[str, str, int | None], float] | None:
    """One remembered line; None when it is none of ours."""
    try:
        run, name, since, until = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        return None
    whole = since is None or (isinstance(since, int) and not isinstance(since, bool))
    timed = until is None or (isinstance(until, int | float) and not isinstance(until, bool))
    if not (isinstance(run, str) and isinstance(name, str) and whole and timed):
        return None
    return (run, name, since), math.inf if until is None else float(until)

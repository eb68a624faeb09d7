"""Findings as lines while they fire and resolve: `check --follow` and `watch --no-ui`."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import Any

from rltui.alerts import Dispatcher, SentLog, settings_of
from rltui.alerts.dispatcher import tell
from rltui.cli.check_report import glyphs
from rltui.cli.file_problems import FileProblemReporter
from rltui.cli.output import emit, emit_json, note
from rltui.config import Config
from rltui.draw.numbers import format_step
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView
from rltui.session.session import Session

LOOK = 1.0  # seconds between looks


def follow(
    logdirs: Sequence[str],
    config: Config,
    *,
    run_glob: str | None = None,
    poll: float | None = None,
    as_json: bool = False,
    sleep: Callable[[float], object] = time.sleep,
    clock: Callable[[], float] = time.time,
    looks: int | None = None,
    post: Dispatcher | None = None,
) -> int:
    """Print findings as they fire and resolve, and send alerts, until a signal.

    `looks` ends it earlier, for tests.
    """
    from rltui.logs.follow.follower import Follower

    every = poll or config.poll or LOOK
    session = Session(config, run_glob=run_glob)
    follower = Follower(logdirs, run_glob=run_glob, poll=every)
    post = post if post is not None else Dispatcher(settings_of(config.alerts), ledger=SentLog.of(logdirs))
    teller = FindingReporter(as_json, clock)
    told = FileProblemReporter()
    told.waits_for(logdirs)
    try:
        while looks is None or looks > 0:
            session.apply(told.passing(follower.look()))
            session.evaluate()
            for view in session.ordered():
                teller.look(view)
                if post.settings.wanted:
                    post.watch(view, clock())
            tell(post.problems(), session.problems, note)
            if looks is not None:
                looks -= 1
            sleep(every if follower.caught_up else 0.0)
    finally:
        post.close()
    return 0


class FindingReporter:
    """Remembers what was said of each run, and says what is new."""

    def __init__(self, as_json: bool, clock: Callable[[], float]) -> None:
        self.as_json = as_json
        self.clock = clock
        self._told: dict[str, dict[str, Finding]] = {}
        self._states: dict[str, str] = {}

    def look(self, view: RunView) -> None:
        """A line for what began, got worse or ended. What a symptom explains is said by the symptom."""
        if view.loading:
            return
        marks = glyphs()
        told = self._told.setdefault(view.name, {})
        firing = {
            one.id: one for one in view.evaluator.findings() if one.explained_by is None and one.rank > 0
        }
        for name, finding in firing.items():
            if name not in told or told[name].rank < finding.rank:
                since = f"since step {format_step(finding.since_step)}"
                self._say(
                    "firing", view.name, marks[finding.severity], f"{finding.message} ({since})", finding
                )
        for name, finding in told.items():
            if name not in firing:
                self._say("resolved", view.name, marks["ok"], f"resolved: {finding.message}", finding)
        self._told[view.name] = firing
        state = view.liveness(self.clock()).state
        if self._states.get(view.name, state) != state:
            self._say(state, view.name, marks["end" if state == "ended" else "info"], state, None)
        self._states[view.name] = state

    def _say(self, event: str, run: str, glyph: str, words: str, finding: Finding | None) -> None:
        if self.as_json:
            said: dict[str, Any] = {"time": self.clock(), "event": event, "run": run}
            if finding is not None:
                said["finding"] = as_json(finding)
            emit_json(said)
        else:
            emit(f"{time.strftime('%H:%M:%S', time.localtime(self.clock()))} {glyph} {run}: {words}")
        sys.stdout.flush()

"""Printing findings as they fire and resolve: `check --follow` and `watch --no-ui`."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence

from rltui.alerts.dispatcher import Dispatcher, report_failures
from rltui.alerts.sent_log import SentLog
from rltui.cli.documents.check_report import symbols
from rltui.cli.follow.followed_session import FollowedSession
from rltui.cli.output.printing import emit, emit_json, need_reader, note
from rltui.config import Config
from rltui.draw.numbers import format_clock
from rltui.logs.delivery import Delivery
from rltui.many_runs.evaluate_shard import with_written_values
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView


def follow(
    logdirs: Sequence[str],
    config: Config,
    *,
    run_glob: str | None = None,
    shard: tuple[int, int] | None = None,
    poll: float | None = None,
    as_json: bool = False,
    deliveries: Iterable[list[Delivery]] | None = None,
) -> None:
    """Print findings as they fire and resolve, and send alerts, until a signal.

    shard: see `RunFilter`. deliveries: read instead of the LOGDIRs, until their end.
    """
    followed = FollowedSession(
        logdirs, config, run_glob=run_glob, shard=shard, poll=poll, deliveries=deliveries
    )
    dispatcher = Dispatcher(config.alerts, sent_log=SentLog.of_logdirs(logdirs))
    findings = FindingReporter(as_json)
    try:
        for session in followed:
            need_reader()
            if not followed.all_found:
                continue
            for view in session.ordered():
                findings.report(view)
                if dispatcher.config.receivers:
                    dispatcher.update_run(view, time.time())
            report_failures(dispatcher.problems(), session.problems, note)
    finally:
        dispatcher.close()


class FindingReporter:
    """Prints what has changed in each run since the last report."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self._firing: dict[str, dict[str, Finding]] = {}
        self._states: dict[str, str] = {}

    def report(self, view: RunView) -> None:
        """Print each finding that fires, worsens or resolves, unless a symptom explains it."""
        if view.loading:
            return
        marks = symbols()
        before = self._firing.get(view.name, {})
        firing = {
            finding.id: finding
            for finding in view.evaluator.findings()
            if finding.explained_by is None and finding.rank > 0
        }
        for name, finding in firing.items():
            if name not in before or before[name].rank < finding.rank:
                self._print("firing", view, marks[finding.severity], finding.dated_message, finding)
        for name, finding in before.items():
            if name not in firing:
                self._print("resolved", view, marks["ok"], f"resolved: {finding.message}", finding)
        self._firing[view.name] = firing
        state = view.liveness(time.time()).state
        if self._states.get(view.name, state) != state:
            self._print(state, view, marks["end" if state == "ended" else "info"], state, None)
        self._states[view.name] = state

    def _print(self, event: str, run: RunView, symbol: str, message: str, finding: Finding | None) -> None:
        if self.as_json:
            data: dict[str, object] = {"time": time.time(), "event": event, "run": run.name}
            if finding is not None:
                data["finding"] = as_json(with_written_values(run, finding))
            emit_json(data)
        else:
            emit(f"{format_clock(time.time())} {symbol} {run.shown_name}: {message}")
        sys.stdout.flush()

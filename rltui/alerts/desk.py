"""Sends alerts from a thread of its own, so that neither the screen nor the reading waits for the outside."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Sequence

from rltui.alerts.gate import Alert, Gate
from rltui.alerts.settings import Settings
from rltui.alerts.sinks import Sink, SinkError, sinks_of, terminal_text
from rltui.rules.finding import Finding
from rltui.rules.liveness import Liveness
from rltui.scalars import Problem

RETRIES = (2.0, 8.0, 30.0)  # seconds before each further try
WAITING = 200  # alerts that may wait; more than that in one go is itself the news


class Alerts:
    """Give it what fires; it tells the outside once per episode.

    `look` is called by the owner of the findings and never blocks; what it returns is to be written to the
    terminal. `problems()` says which ways out are failing.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        sinks: Sequence[Sink] | None = None,
        sleep: Callable[[float], object] | None = None,
    ) -> None:
        self.settings = settings
        self.gate = Gate(settings)
        self.sinks = list(sinks_of(settings) if sinks is None else sinks)
        self._queue: queue.Queue[Alert | None] = queue.Queue(WAITING)
        self._stop = threading.Event()
        self._sleep = sleep if sleep is not None else self._stop.wait
        self._failing: dict[str, Problem] = {}
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self.sent = 0

    def look(self, run: str, findings: Sequence[Finding], now: float, alive: Liveness | None = None) -> str:
        """Take what fires now in a run. Returns text for the terminal: bell and notification, or nothing."""
        if not self.settings.wanted:
            return ""
        if alive is not None and alive.state == "stalled":
            findings = [*findings, stalled(alive)]
        out = ""
        for alert in self.gate.look(run, findings, now):
            out += terminal_text(self.settings, alert)
            self.give(alert)
        return out

    def give(self, alert: Alert) -> None:
        """Queue one alert for all ways out."""
        if not self.sinks:
            return
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name="alerts", daemon=True)
            self._thread.start()
        try:
            self._queue.put_nowait(alert)
        except queue.Full:
            self._fail("alerts", "too many alerts wait; some are not sent")

    def problems(self) -> list[Problem]:
        """The ways out that failed at their last try."""
        with self._lock:
            return list(self._failing.values())

    def close(self, wait: float = 1.0) -> None:
        """Stop; wait a moment for what is being sent."""
        if self._thread is not None:
            with contextlib.suppress(queue.Full):
                self._queue.put_nowait(None)
            self._thread.join(wait)
        self._stop.set()

    def _work(self) -> None:
        while (alert := self._queue.get()) is not None:
            for sink in self.sinks:
                self.deliver(sink, alert)

    def deliver(self, sink: Sink, alert: Alert) -> bool:
        """Send by one way, trying again where that may help. Returns whether it arrived."""
        for pause in (*RETRIES, None):
            try:
                sink.send(alert)
            except SinkError as error:
                self._fail(sink.name, str(error))
                if pause is None or not error.again or self._stop.is_set():
                    return False
                self._sleep(pause)
            else:
                with self._lock:
                    self._failing.pop(sink.name, None)
                self.sent += 1
                return True
        return False

    def _fail(self, name: str, message: str) -> None:
        with self._lock:
            before = self._failing.get(name)
            count = before.count + 1 if before is not None else 1
            self._failing[name] = Problem("warning", "alert-failed", name, message, count=count)


def stalled(alive: Liveness) -> Finding:
    """A stall as a finding, for alerts only: it judges the process, not the training."""
    minutes = (alive.age or 0.0) / 60
    quiet = f"; quiet: {alive.quiet}" if alive.quiet else ""
    return Finding(
        id="stalled",
        severity="critical",
        pane="overview",
        metrics=(),
        canonical=(),
        since_step=0,
        message=f"No new point for {minutes:.0f} minutes (usual gap {alive.gap or 0:.0f} s){quiet}",
        advice="See whether the job still runs.",
        title="stalled",
    )


def now() -> float:
    """Seconds that never jump, for dwell and cooldown."""
    return time.monotonic()

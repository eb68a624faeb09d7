"""Sends alerts from a thread of its own, so that neither the screen nor the reading waits for the outside."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Sequence
from typing import TYPE_CHECKING, Any

from rltui.alerts.receivers import Receiver, ReceiverError, own_terminal, receivers_of
from rltui.alerts.sent_log import SentAlert, SentLog
from rltui.alerts.throttle import Alert, Throttle
from rltui.batch import Problem
from rltui.config.model import AlertConfig
from rltui.rules.finding import Finding

if TYPE_CHECKING:
    from rltui.rules.run_state.liveness import Liveness
    from rltui.session.run_view import RunView

RETRIES = (2.0, 8.0, 30.0)  # seconds before each further try
WAITING = 200  # alerts that may wait for one way out; more than that in one go is itself the news


class Dispatcher:
    """Give it what fires; it tells the outside once per episode. Nothing here blocks or raises.

    Each way out has a thread and a queue of its own, made with its first alert: a webhook that hangs does
    not keep the bell from ringing. The terminal is written to at once, by whoever calls `look`. With a
    `ledger` what was told outlives the process.
    """

    def __init__(
        self,
        settings: AlertConfig,
        *,
        write: Callable[[str], str] = own_terminal,
        sinks: Sequence[Receiver] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        ledger: SentLog | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.settings = settings
        self.ledger = ledger if ledger is not None else SentLog(None)
        self.gate = Throttle(settings, self.ledger.told, wall() - clock())
        self.clock = clock
        self.wall = wall
        self.sinks = list(receivers_of(settings, write) if sinks is None else sinks)
        self._queues: dict[str, queue.Queue[Alert | None]] = {}
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._sleep = sleep if sleep is not None else self._stop.wait
        self._failing: dict[str, Problem] = {}
        self._lock = threading.Lock()

    def watch(self, view: RunView, wall: float, muted: Collection[str] = ()) -> None:
        """Look at a run of a session at the time `wall`; findings of the ids in `muted` are not told."""
        if view.loading:
            return
        alive = view.liveness(wall)
        found = view.evaluator.findings()
        if alive.state == "stalled":
            found.append(stalled(alive, view.run.last_step))
        live = alive.state == "live"
        self.look(view.name, found, alive=live, last_step=view.run.last_step, muted=muted)

    def look(self, run: str, findings: Sequence[Finding], **facts: Any) -> list[Alert]:
        """Take what fires now in a run and send what is to be told; returns it, too. `facts` as Gate.look."""
        alerts = self.gate.look(run, findings, self.clock(), **facts)
        for alert in alerts:
            self.give(alert)
            if alert.event == "firing":
                finding = alert.finding
                self.ledger.note(run, finding.id, SentAlert(finding.since_step, finding.rank, self.wall()))
        return alerts

    def give(self, alert: Alert) -> None:
        """Send one alert by all ways that ask for its severity."""
        for sink in self.sinks:
            if alert.goes_to(self.settings.least_rank(sink.name)):
                if sink.name == "terminal":
                    self.deliver(sink, alert)
                else:
                    self._queue(sink, alert)

    def problems(self) -> list[Problem]:
        """The ways out that failed at their last try."""
        with self._lock:
            return list(self._failing.values())

    def close(self, wait: float = 1.0) -> None:
        """Stop; wait a moment for what is being sent, do not try again."""
        until = time.monotonic() + wait
        for waiting in self._queues.values():
            try:
                waiting.put_nowait(None)
            except queue.Full:
                continue
        for thread in self._threads:
            thread.join(max(until - time.monotonic(), 0.0))
        self._stop.set()

    def _queue(self, sink: Receiver, alert: Alert) -> None:
        waiting = self._queues.get(sink.name)
        if waiting is None:
            waiting = self._queues[sink.name] = queue.Queue(WAITING)
            thread = threading.Thread(
                target=self._work, args=(sink, waiting), name=f"alerts-{sink.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()
        try:
            waiting.put_nowait(alert)
        except queue.Full:
            self._fail(sink.name, "too many alerts wait; some are not sent")

    def _work(self, sink: Receiver, waiting: queue.Queue[Alert | None]) -> None:
        while (alert := waiting.get()) is not None:
            self.deliver(sink, alert)

    def deliver(self, sink: Receiver, alert: Alert) -> bool:
        """Send by one way, trying again where that may help. Returns whether it arrived."""
        for pause in (*RETRIES, None):
            try:
                sink.send(alert)
            except ReceiverError as error:
                self._fail(sink.name, str(error))
                if pause is None or not error.again or self._stop.is_set():
                    return False
                self._sleep(pause)
            except Exception as error:  # noqa: BLE001 (the outermost edge of a thread: the next alert must be sent)
                self._fail(sink.name, f"internal error ({type(error).__name__})")
                return False
            else:
                with self._lock:
                    self._failing.pop(sink.name, None)
                return True
        return False

    def _fail(self, name: str, message: str) -> None:
        with self._lock:
            before = self._failing.get(name)
            count = before.count + 1 if before is not None else 1
            self._failing[name] = Problem("warning", "alert-failed", f"alerts: {name}", message, count=count)


def tell(problems: Sequence[Problem], known: dict[Any, Problem], say: Callable[[str], object]) -> None:
    """Keep `known` problems up to date with those of the ways out; `say` what is new."""
    now = {problem.key: problem for problem in problems}
    for key in [key for key, old in known.items() if old.code == "alert-failed" and key not in now]:
        del known[key]
    for key, problem in now.items():
        if key not in known or known[key].message != problem.message:
            say(f"{problem.path}: {problem.message}")
        known[key] = problem


def stalled(alive: Liveness, last_step: int | None) -> Finding:
    """A stall as a finding, for alerts only: it judges the process, not the training."""
    minutes = (alive.age or 0.0) / 60
    quiet = f"; quiet: {alive.quiet}" if alive.quiet else ""
    usual = f" (usually every {alive.gap:.0f} s)" if alive.gap else ""
    return Finding(
        id="stalled",
        severity="critical",
        pane="overview",
        metrics=(),
        canonical=(),
        since_step=last_step or 0,
        message=f"No new point for {minutes:.0f} minutes{usual}{quiet}",
        advice="See whether the job still runs.",
        title="stalled",
    )

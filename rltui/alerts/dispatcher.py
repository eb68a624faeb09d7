"""Sends alerts from threads of its own, so that neither the screen nor the reading waits for a receiver."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from rltui.alerts.finding_alert import Alert, Receiver, ReceiverError
from rltui.alerts.receivers import Write, receivers_of
from rltui.alerts.sent_log import SentAlert, SentLog
from rltui.alerts.throttle import Throttle
from rltui.common.problem import Problem, Problems
from rltui.config.model import TERMINAL, AlertConfig
from rltui.rules.finding import Finding
from rltui.rules.run_state.state_finding import state_finding
from rltui.session.run_view import RunView

RETRIES = (2.0, 8.0, 30.0)  # seconds before each further try
QUEUE_LENGTH = 200  # alerts that may wait for one receiver; more than that in one go is itself the news


class Dispatcher:
    """Give it the findings of runs; it sends each episode once. Nothing here blocks or raises.

    Each receiver has a thread and a queue of its own, made with its first alert: a webhook that hangs does
    not keep the bell from ringing. The terminal is written to at once, by whoever calls `update`. With a
    `sent_log` what was sent outlives the process, and of several monitors of the same LOGDIRs each rings in
    its own terminal, but only the first sends to what they share.
    """

    def __init__(
        self,
        config: AlertConfig,
        *,
        write: Write | None = None,
        receivers: Sequence[Receiver] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], object] | None = None,
        sent_log: SentLog | None = None,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.config = config
        self.sent_log = sent_log if sent_log is not None else SentLog(None)
        self.throttle = Throttle(config, self.sent_log.entries, wall() - clock())
        self.receivers = list(receivers_of(config, write) if receivers is None else receivers)
        self._clock = clock
        self._wall = wall
        self._queues: dict[str, queue.Queue[Alert | None]] = {}
        self._threads: list[threading.Thread] = []
        self._stop = threading.Event()
        self._sleep = sleep if sleep is not None else self._stop.wait
        self._failing: dict[str, Problem] = {}
        self._sent_elsewhere: set[tuple[str, str]] = set()  # run and id of episodes that another monitor sent
        self._lock = threading.Lock()

    def update_run(self, view: RunView, wall: float, acknowledged: Collection[str] = ()) -> None:
        """Take the findings of a run of a session at the time `wall`, without those of acknowledged ids."""
        if view.loading:
            return
        liveness = view.liveness(wall)
        findings = view.evaluator.findings()
        stalled = None
        if liveness.state == "stalled":
            stalled = state_finding(liveness, view.run.last_step, told=findings)
        if stalled is not None:  # a remark elsewhere; who asked for alerts wants to know of it
            findings.append(stalled._replace(id="stalled", severity="critical", pane="overview"))
        self.update(
            view.name,
            findings,
            live=liveness.state == "live",
            last_step=view.run.last_step,
            acknowledged=acknowledged,
        )

    def update(
        self,
        run: str,
        findings: Sequence[Finding],
        *,
        live: bool = True,
        last_step: int | None = None,
        acknowledged: Collection[str] = (),
    ) -> list[Alert]:
        """Take what fires now in a run and send what is due; returns it, too. See Throttle.update."""
        alerts = self.throttle.update(
            run, findings, self._clock(), live=live, last_step=last_step, acknowledged=acknowledged
        )
        for alert in alerts:
            key, finding = (run, alert.finding.id), alert.finding
            if alert.event == "firing":
                sent = SentAlert(finding.since_step, finding.rank, self._wall())
                if self.sent_log.add(*key, sent, self.config.repeat_interval):
                    self._sent_elsewhere.discard(key)
                else:
                    self._sent_elsewhere.add(key)
            self.send(alert, only_here=key in self._sent_elsewhere)
        return alerts

    def send(self, alert: Alert, *, only_here: bool = False) -> None:
        """Send one alert to all receivers that ask for its severity; `only_here`: to the terminal alone."""
        for receiver in self.receivers:
            if not alert.concerns(self.config.least_rank(receiver.name)):
                continue
            if receiver.name == TERMINAL:
                self.deliver(receiver, alert)
            elif not only_here:
                self._enqueue(receiver, alert)

    def problems(self) -> list[Problem]:
        """The receivers that failed at their last try."""
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

    def _enqueue(self, receiver: Receiver, alert: Alert) -> None:
        waiting = self._queues.get(receiver.name)
        if waiting is None:
            waiting = self._queues[receiver.name] = queue.Queue(QUEUE_LENGTH)
            thread = threading.Thread(
                target=self._work, args=(receiver, waiting), name=f"alerts-{receiver.name}", daemon=True
            )
            self._threads.append(thread)
            thread.start()
        try:
            waiting.put_nowait(alert)
        except queue.Full:
            self._failed(receiver.name, "too many alerts wait; some are not sent")

    def _work(self, receiver: Receiver, waiting: queue.Queue[Alert | None]) -> None:
        while (alert := waiting.get()) is not None:
            self.deliver(receiver, alert)

    def deliver(self, receiver: Receiver, alert: Alert) -> bool:
        """Send to one receiver, trying again where that may help. Returns whether it arrived."""
        for pause in (*RETRIES, None):
            try:
                receiver.send(alert)
            except ReceiverError as error:
                self._failed(receiver.name, str(error))
                if pause is None or not error.retry or self._stop.is_set():
                    return False
                self._sleep(pause)
            except Exception as error:  # noqa: BLE001 (the outermost edge of a thread: the next alert must be sent)
                self._failed(receiver.name, f"internal error ({type(error).__name__})")
                return False
            else:
                with self._lock:
                    self._failing.pop(receiver.name, None)
                return True
        return False

    def _failed(self, name: str, message: str) -> None:
        with self._lock:
            before = self._failing.get(name)
            count = before.count + 1 if before is not None else 1
            self._failing[name] = Problem("warning", "alert-failed", f"alerts: {name}", message, count=count)


def report_failures(failures: Iterable[Problem], problems: Problems, say: Callable[[str], object]) -> None:
    """Keep the failures of receivers among known `problems` up to date; `say` what is new."""
    now = {failure.key: failure for failure in failures}
    for key in [key for key, old in problems.items() if old.code == "alert-failed" and key not in now]:
        del problems[key]
    for key, failure in now.items():
        if key not in problems or problems[key].message != failure.message:
            say(f"{failure.path}: {failure.message}")
        problems[key] = failure

"""Sends alerts from separate threads, so that neither the screen nor the readers wait for a receiver."""

from __future__ import annotations

import contextlib
import queue
import threading
import time
from collections.abc import Callable, Collection, Iterable, Sequence

from rltui.alerts.finding_alert import Alert, Receiver, ReceiverError
from rltui.alerts.receivers import Write, receivers_of
from rltui.alerts.sent_log import SentAlert, SentLog
from rltui.alerts.throttle import Throttle
from rltui.common.problem import Problem, Problems
from rltui.config.user_config import TERMINAL, AlertConfig
from rltui.rules.finding import Finding
from rltui.rules.run_status.liveness_finding import liveness_finding
from rltui.session.run_view import RunView

RETRIES = (2.0, 8.0, 30.0)  # seconds before each retry
QUEUE_LENGTH = 200  # alerts waiting for one receiver; further ones are dropped and reported


class Dispatcher:
    """Sends an alert for each period of a finding. No method blocks or raises.

    Each receiver has its own thread and queue, created with its first alert, so that a hanging webhook delays
    no other receiver. The terminal is written to by the caller of `update`. With a `sent_log`, several
    monitors of the same LOGDIRs each ring the bell of their terminal, but only one sends to other receivers.
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
        self._sent_elsewhere: set[tuple[str, str]] = set()  # periods sent by other monitors: run, finding id
        self._lock = threading.Lock()

    def update_run(self, view: RunView, wall: float, acknowledged: Collection[str] = ()) -> None:
        """Send what is due for a run at the time `wall`, except findings with acknowledged ids."""
        if view.loading:
            return
        liveness = view.liveness(wall)
        findings = view.evaluator.findings()
        stalled = None
        if liveness.state == "stalled":
            stalled = liveness_finding(liveness, view.run.last_step, others=findings)
        if stalled is not None:  # of severity info elsewhere, but worth an alert
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
        """Send the alerts that are due, given the findings of a run, and return them. See Throttle.update."""
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
        """Send an alert to all receivers with its severity; with `only_here` only to the terminal."""
        for receiver in self.receivers:
            if not alert.concerns(self.config.least_rank(receiver.name)):
                continue
            if receiver.name == TERMINAL:
                self.deliver(receiver, alert)
            elif not only_here:
                self._enqueue(receiver, alert)

    def problems(self) -> list[Problem]:
        """One problem for each receiver whose last delivery failed."""
        with self._lock:
            return list(self._failing.values())

    def close(self, wait: float = 1.0) -> None:
        """Stop without further retries; wait up to `wait` seconds for deliveries in progress."""
        deadline = time.monotonic() + wait
        for waiting in self._queues.values():
            with contextlib.suppress(queue.Full):
                waiting.put_nowait(None)
        for thread in self._threads:
            thread.join(max(deadline - time.monotonic(), 0.0))
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
        """Send to one receiver, with retries. Returns whether the delivery succeeded."""
        for pause in (*RETRIES, None):
            try:
                receiver.send(alert)
            except ReceiverError as error:
                self._failed(receiver.name, str(error))
                if pause is None or not error.retry or self._stop.is_set():
                    return False
                self._sleep(pause)
            except Exception as error:  # noqa: BLE001 (the thread must go on with the next alert)
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
    """Update `problems` with the current failures of receivers; call `say` for new ones."""
    current = {failure.key: failure for failure in failures}
    for key in [key for key, old in problems.items() if old.code == "alert-failed" and key not in current]:
        del problems[key]
    for key, failure in current.items():
        if key not in problems or problems[key].message != failure.message:
            say(failure.text)
        problems[key] = failure

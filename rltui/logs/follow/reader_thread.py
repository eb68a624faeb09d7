"""Threads round a follower: it looks when something is due, and one stuck file call stops nothing else.

A worker looks and hands over. A supervisor notices when a file call does not come back, gives up on that
file and lets another worker go on. All threads are daemons; nobody waits for one that is stuck.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rltui.batch import Batch, Problem
from rltui.logs.delivery import Delivery, Source
from rltui.logs.follow.follower import GIVE_UP, Follower
from rltui.logs.follow.fs_events import FileSystemEvents
from rltui.text import quote

MOST_STUCK = 16  # threads that may hang in the file system; then the supervisor waits for one to come back
_LONGEST_WAIT = 1.0  # seconds a worker sleeps at most, so that the bell of a sleeping clock is not missed
_PARTING = 0.3  # seconds that `stop` waits for a worker that is not stuck
_AFTER_ERROR = 1.0


class ReaderThread:
    """Follows in the background. `deliver` is called by one worker at a time, never with an empty list."""

    def __init__(
        self,
        follower: Follower,
        deliver: Callable[[list[Delivery]], None],
        *,
        bell: bool = True,
        patience: float = GIVE_UP,
    ) -> None:
        self.follower = follower
        self._deliver = deliver
        self._patience = patience
        self._bell: FileSystemEvents | None = None
        self._with_bell = bell
        self._lock = threading.Lock()
        self._pending: list[Delivery] = []
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None
        self._stuck: list[threading.Thread] = []
        self._silent = True  # no point has been handed over yet

    def start(self) -> None:
        """Begin to follow. Returns at once; no file is touched in the calling thread."""
        self._hire()
        threading.Thread(target=self._supervise, name="rltui-supervisor", daemon=True).start()

    def stop(self) -> None:
        """Hand over nothing more. Waits a moment for a working thread, never for a stuck one."""
        self._stopping.set()
        self._wake.set()
        if self._bell is not None:
            self._bell.stop()
        worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(_PARTING)

    def ring(self) -> None:
        """Something changed: search for new logs now."""
        self.follower.ring()
        self._wake.set()

    @property
    def stuck(self) -> int:
        """Threads that hang in the file system."""
        return sum(thread.is_alive() for thread in self._stuck)

    # -- the worker

    def _hire(self) -> None:
        self._worker = threading.Thread(target=self._work, name="rltui-follow", daemon=True)
        self._worker.start()

    def _on_duty(self) -> bool:
        return self._worker is threading.current_thread() and not self._stopping.is_set()

    def _work(self) -> None:
        while self._on_duty():
            wait = 0.0
            try:
                for delivery in self.follower.look():
                    with self._lock:
                        self._pending.append(delivery)
                    if self._silent and len(delivery.batch):
                        self._silent = False
                        self._hand_over()  # somebody waits for the first values: all others come later
                if self._on_duty():
                    wait = self.follower.next_due()
            except Exception as error:  # noqa: BLE001 - the edge of the thread: following must go on
                self._tell(error)
                wait = _AFTER_ERROR
            if not self._hand_over():
                wait = _AFTER_ERROR
            if wait > 0 and self._on_duty():
                self._wake.wait(min(wait, _LONGEST_WAIT))
                self._wake.clear()
        self._wake.set()  # whoever is on duty now hands over what this thread has left behind

    def _tell(self, error: Exception) -> None:
        said = f"following failed in a way that rltui did not foresee ({quote(repr(error))})"
        problem = Problem("error", "internal", ".", said)
        with self._lock:
            self._pending.append(Delivery(Source("", ".", ""), Batch(problems=(problem,)), "state"))

    def _hand_over(self) -> bool:
        """Give the consumer what there is; false when it failed."""
        if not self._on_duty():
            return True
        with self._lock:
            deliveries, self._pending = self._pending, []
        try:
            if deliveries:
                self._deliver(deliveries)
        except Exception as error:  # noqa: BLE001 - the consumer's error must not end the look that goes on
            self._tell(error)
            return False
        return True

    # -- the supervisor

    def _supervise(self) -> None:
        while not self._stopping.wait(min(1.0, self._patience / 4)):
            if self._bell is None and self._with_bell and self.follower.caught_up:
                self._start_bell()
            if self._bell is not None:
                self.follower.gauge.bell = self._bell.state
            busy = self.follower.busy_with()
            if busy is None or time.monotonic() - busy[1] <= self._patience or self.stuck >= MOST_STUCK:
                continue
            old = self._worker
            if self.follower.give_up(busy[0]) and old is not None:
                self._stuck = [thread for thread in self._stuck if thread.is_alive()]
                self._stuck.append(old)
                self._hire()

    def _start_bell(self) -> None:
        self._with_bell = False
        seeker = self.follower.seeker
        folders = [
            root.place
            for root, system in zip(seeker.roots, seeker.systems, strict=False)
            if system.events and root.place not in seeker.dead
        ]
        if folders:
            self._bell = FileSystemEvents(folders, self.ring, self.follower.kinds.could_be_log)
            self._bell.start()
        elif seeker.systems:
            self.follower.gauge.bell = "the file system does not report changes"

"""Runs a follower in threads, so that a file call that hangs does not stop the others.

A worker looks and delivers. A supervisor detects a file call that does not return, gives up that file and
starts another worker. All threads are daemons; nothing waits for one that hangs.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rltui.common.display_text import quote
from rltui.common.problem import Problem
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.fs_events import FileSystemEvents
from rltui.logs.follow.hung_calls import GIVE_UP

MAX_HUNG = 16  # threads that may hang in the file system; then the supervisor waits until one returns
_MAX_WAIT = 1.0  # seconds that a worker sleeps: the clock may stop while the machine is suspended
_STOP_WAIT = 0.3  # seconds that `stop` waits for a worker that does not hang
_AFTER_ERROR = 1.0  # seconds until the next look


class ReaderThread:
    """Follows in the background. `deliver` is called by one worker at a time, never with an empty list.

    ended: called after the last delivery of a follower that reads once, with the error that ended it early.
    fs_events: whether file-system events trigger the search for new logs.
    give_up: seconds after which a file call is abandoned.
    """

    def __init__(
        self,
        follower: Follower,
        deliver: Callable[[list[Delivery]], None],
        *,
        ended: Callable[[Exception | None], object] = lambda error: None,
        fs_events: bool = True,
        give_up: float = GIVE_UP,
    ) -> None:
        self.follower = follower
        self.at_rest = False  # everything has been read and delivered, and no log is due
        self._deliver = deliver
        self._ended = ended
        self._give_up = give_up
        self._events: FileSystemEvents | None = None
        self._with_events = fs_events
        self._lock = threading.Lock()
        self._pending: list[Delivery] = []
        self._wake = threading.Event()
        self._stopping = threading.Event()
        self._worker: threading.Thread | None = None
        self._hung: list[threading.Thread] = []
        self._silent = True  # no point has been delivered yet

    def start(self) -> None:
        """Start following. Returns at once, without file calls in the calling thread."""
        self._start_worker()
        threading.Thread(target=self._supervise, name="rltui-supervisor", daemon=True).start()

    def stop(self) -> None:
        """Stop delivering. Waits briefly for a working thread, never for one that hangs."""
        self._stopping.set()
        self._wake.set()
        if self._events is not None:
            self._events.stop()
        worker = self._worker
        if worker is not None and worker is not threading.current_thread():
            worker.join(_STOP_WAIT)

    def search_now(self) -> None:
        """Search for new logs now, since a file changed."""
        self.follower.search_now()
        self._wake.set()

    @property
    def hung(self) -> int:
        """Number of threads that hang in the file system."""
        return sum(thread.is_alive() for thread in self._hung)

    # -- the worker

    def _start_worker(self) -> None:
        self._worker = threading.Thread(target=self._work, name="rltui-follow", daemon=True)
        self._worker.start()

    def _on_duty(self) -> bool:
        return self._worker is threading.current_thread() and not self._stopping.is_set()

    def _work(self) -> None:
        while self._on_duty():
            wait = 0.0
            self.at_rest = False
            try:
                for delivery in self.follower.poll():
                    with self._lock:
                        self._pending.append(delivery)
                    if self._silent and len(delivery.batch):
                        self._silent = False
                        self._hand_over()  # the first values at once
                if self._on_duty():
                    wait = self.follower.next_due()
            except Exception as error:  # noqa: BLE001 - in a thread: following must continue
                if self.follower.once:
                    self._end(error)
                    return
                self._report(error)
                wait = _AFTER_ERROR
            if not self._hand_over():
                wait = _AFTER_ERROR
            if self.follower.done:
                self._end(None)
                return
            if wait > 0 and self._on_duty():
                self.at_rest = self.follower.complete
                self._wake.wait(min(wait, _MAX_WAIT))
                self._wake.clear()
        self._wake.set()  # the worker on duty delivers what this thread has not

    def _report(self, error: Exception) -> None:
        message = f"following failed in a way that rltui did not foresee ({quote(repr(error))})"
        self._add_problem(Problem("error", "internal", ".", message))

    def _add_problem(self, problem: Problem) -> None:
        with self._lock:
            self._pending.append(Delivery(Source("", ".", ""), Batch(problems=(problem,)), "state"))

    def _hand_over(self) -> bool:
        """Deliver what is pending; false if the consumer failed."""
        if not self._on_duty():
            return True
        with self._lock:
            deliveries, self._pending = self._pending, []
        try:
            if deliveries:
                self._deliver(deliveries)
        except Exception as error:  # noqa: BLE001 - an error of the consumer must not end the present look
            self._report(error)
            return False
        return True

    def _end(self, error: Exception | None) -> None:
        if self._on_duty():
            self._stopping.set()
            self._ended(error)

    # -- the supervisor

    def _supervise(self) -> None:
        while not self._stopping.wait(min(1.0, self._give_up / 4)):
            if self._events is None and self._with_events and self.follower.caught_up:
                self._watch_folders()
            if self._events is not None:
                self.follower.stats.events = self._events.state
            busy = self.follower.busy_with()
            if busy is None or time.monotonic() - busy[1] <= self._give_up:
                continue
            if self.hung >= MAX_HUNG:
                if self.follower.once:
                    self._abandon()
                continue
            old = self._worker
            if self.follower.give_up(busy[0]) and old is not None:
                self._hung = [thread for thread in self._hung if thread.is_alive()]
                self._hung.append(old)
                self._start_worker()

    def _abandon(self) -> None:
        """End reading, since too many threads hang."""
        message = f"{MAX_HUNG} file calls do not return; the rest of the logs was not read"
        self._worker = threading.current_thread()
        self._add_problem(Problem("error", "not-answering", ".", message))
        self._hand_over()
        self._end(None)

    def _watch_folders(self) -> None:
        self._with_events = False
        search = self.follower.search
        folders = [
            root.place
            for root, system in zip(search.roots, search.systems, strict=False)
            if system.events and root.place not in search.not_answering
        ]
        if folders:
            self._events = FileSystemEvents(folders, self.search_now, self.follower.formats.could_be_log)
            self._events.start()
        elif search.systems:
            self.follower.stats.events = "the file system does not report changes"

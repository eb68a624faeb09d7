"""Work beside what draws and reads, in a thread of its own: a call that hangs stops no key."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rltui.common import crash

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def in_thread(name: str, call: Callable[[], T]) -> Future[T]:
    """What a call gives, in a thread of its own: nobody need wait for one that never returns."""
    from concurrent.futures import Future  # brings logging, which a start does without

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001 - whatever ended the call is told where its result is asked for
            future.set_exception(error)

    future.set_running_or_notify_cancel()
    threading.Thread(target=run, name=name, daemon=True).start()
    return future


class WorkerThread:
    """Takes step after step from `start` on.

    step: does a piece of the work; returns the seconds until the next one, None: until `wake`.
    answered: whether what was asked for is there.
    failed: called when an unforeseen error has ended the work and `error` says so; tells it where not given.
    ready: called from the thread, by `tell`, when there is something new.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        answered: Callable[[], bool],
        failed: Callable[[], None] | None = None,
    ) -> None:
        self.ready: Callable[[], object] | None = None
        self.error = ""  # why there is nothing new, one line; empty while all is well
        self.stopped = False
        self.lock = threading.Condition()  # for what both sides change
        self._name, self._step, self._answered, self._failed = name, step, answered, failed or self.tell
        self._woken = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begin, if the work has neither begun nor been stopped."""
        with self.lock:
            if self._thread is None and not self.stopped:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    @property
    def started(self) -> bool:
        """Whether the work has begun."""
        return self._thread is not None

    def wake(self) -> None:
        """Take the next step now."""
        with self.lock:
            self._woken = True
            self.lock.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait until what was asked for is there; False when that takes too long."""
        with self.lock:
            return self.lock.wait_for(self._answered, seconds)

    def stop(self) -> None:
        """Take no further step. A call that hangs is left to itself: the thread is a daemon."""
        with self.lock:
            self.stopped = True
            self.lock.notify_all()

    def tell(self) -> None:
        """Say that there is something new."""
        with self.lock:
            self.lock.notify_all()
        if self.ready is not None:
            self.ready()

    def _work(self) -> None:
        while not self.stopped:
            self._woken = False
            try:
                seconds = self._step()
            except Exception as error:  # noqa: BLE001 (the thread's edge: the screen goes on without it)
                self.error, self.stopped = crash.report(error), True
                self._failed()
            with self.lock:
                self.lock.notify_all()  # whoever waits for an answer
                if not self.stopped:
                    self.lock.wait_for(lambda: self._woken or self.stopped, seconds)

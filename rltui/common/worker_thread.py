"""Daemon threads for calls that may hang, so that neither drawing nor reading has to wait for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from rltui.common import crash

if TYPE_CHECKING:
    from concurrent.futures import Future

T = TypeVar("T")


def in_thread(name: str, call: Callable[[], T]) -> Future[T]:
    """The result of a call in a new daemon thread, for callers that must not block."""
    from concurrent.futures import Future  # imports logging, which few commands need

    future: Future[T] = Future()

    def run() -> None:
        try:
            future.set_result(call())
        except Exception as error:  # noqa: BLE001 - raised again by `Future.result`
            future.set_exception(error)

    future.set_running_or_notify_cancel()
    threading.Thread(target=run, name=name, daemon=True).start()
    return future


class WorkerThread:
    """A thread that calls `step` repeatedly after `start`.

    step: does part of the work; returns the seconds until the next call, None to wait for `wake`.
    answered: whether the requested result is available.
    failed: called after an unexpected error has ended the thread and set `error`; default: `notify`.
    ready: called from the thread, by `notify`, when there is a new result.
    """

    def __init__(
        self,
        name: str,
        step: Callable[[], float | None],
        answered: Callable[[], bool],
        failed: Callable[[], None] | None = None,
    ) -> None:
        self.ready: Callable[[], object] | None = None
        self.error = ""  # one line; empty if there was no error
        self.stopped = False
        self.lock = threading.Condition()  # for attributes that both threads change
        self._name, self._step, self._answered, self._failed = name, step, answered, failed or self.notify
        self._woken = False
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread, unless it was started or stopped before."""
        with self.lock:
            if self._thread is None and not self.stopped:
                self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
                self._thread.start()

    @property
    def started(self) -> bool:
        """Whether the thread was started."""
        return self._thread is not None

    def wake(self) -> None:
        """Call the next step now."""
        with self.lock:
            self._woken = True
            self.lock.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait for the requested result; False after a timeout."""
        with self.lock:
            return self.lock.wait_for(self._answered, seconds)

    def stop(self) -> None:
        """Call no further step. Does not wait for a call that hangs: the thread is a daemon."""
        with self.lock:
            self.stopped = True
            self.lock.notify_all()

    def notify(self) -> None:
        """Report a new result to waiting threads and to `ready`."""
        with self.lock:
            self.lock.notify_all()
        if self.ready is not None:
            self.ready()

    def _work(self) -> None:
        while not self.stopped:
            self._woken = False
            try:
                seconds = self._step()
            except Exception as error:  # noqa: BLE001 (the screen continues without this thread)
                self.error, self.stopped = crash.report(error), True
                self._failed()
            with self.lock:
                self.lock.notify_all()  # threads in `wait`
                if not self.stopped:
                    self.lock.wait_for(lambda: self._woken or self.stopped, seconds)

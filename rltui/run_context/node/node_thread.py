"""Reads the GPUs of this machine in a thread while they are displayed: a driver that hangs blocks no key."""

from __future__ import annotations

import time
from collections.abc import Callable

from rltui.common.worker_thread import WorkerThread
from rltui.run_context.node.node_reading import DriverError, NodeReading, node_reading

INTERVAL = 2.0  # seconds between two readings
ReadNode = Callable[[], NodeReading]  # raises DriverError; may block


def open_driver() -> ReadNode | None:
    """A function that reads this machine; None without a driver. Raises DriverError."""
    from rltui.run_context.node import nvml  # one pane needs it

    if not nvml.has_driver():
        return None
    driver, processes = nvml.NvmlDriver(), nvml.SystemProcesses()
    return lambda: node_reading(driver.read(), processes.own)


class NodeThread:
    """The last reading. Without a driver, or before `look`, nothing is opened or read."""

    def __init__(self, open_: Callable[[], ReadNode | None] = open_driver) -> None:
        self.thread = WorkerThread(
            "node", self._step, lambda: self.thread.stopped or self.reading is not None, self._failed
        )
        self.reading: NodeReading | None = None
        self._open = open_
        self._read: ReadNode | None = None
        self._displayed = False
        self._due = 0.0  # the next reading, by `time.monotonic`

    def look(self, wanted: bool) -> None:
        """Set whether this machine is displayed now."""
        if wanted != self._displayed:
            self._displayed = wanted
            if wanted:
                self.thread.start()
                self.thread.wake()

    def _step(self) -> float | None:
        """Open the driver, or read it."""
        try:
            if self._read is None:
                self._read = self._open()
            elif not self._displayed:
                return None
            elif (rest := self._due - time.monotonic()) > 0:
                return rest
            if self._read is None:
                self.thread.stop()
            else:
                self.reading = self._read()
                self._due = time.monotonic() + INTERVAL
                self.thread.notify()
        except DriverError as error:
            self.thread.error = str(error)
            self.thread.stop()
            self._failed()
        return INTERVAL

    def _failed(self) -> None:
        self.reading = None
        self.thread.notify()

"""The GPUs of this machine, read by a thread of its own while somebody looks: a stuck driver stops no key."""

from __future__ import annotations

import platform
import time
from collections.abc import Callable

from rltui.common.text import clean
from rltui.common.worker_thread import WorkerThread
from rltui.run_context.node.node_reading import DriverError, GpuDriver, NodeReading, Processes, own_reading

EVERY = 2.0  # seconds between two readings
Open = Callable[[], tuple[GpuDriver, Processes] | None]


def open_driver() -> tuple[GpuDriver, Processes] | None:
    """The driver of this machine; None without one. Raises DriverError."""
    from rltui.run_context.node.nvml import (  # asked for in one pane only
        NvmlDriver,
        SystemProcesses,
        has_driver,
    )

    return (NvmlDriver(), SystemProcesses()) if has_driver() else None


class NodeThread:
    """The last reading. Nothing is opened before somebody looks, and nothing is done without a driver."""

    def __init__(self, open_: Open = open_driver) -> None:
        self.thread = WorkerThread(
            "node", self._step, lambda: self.thread.stopped or self.reading is not None, self._failed
        )
        self.reading: NodeReading | None = None
        self._open = open_
        self._opened: tuple[GpuDriver, Processes] | None = None
        self._looked_at = False
        self._due = 0.0  # the next reading, by the clock of `time.monotonic`

    def look(self, wanted: bool) -> None:
        """Whether somebody looks at this machine now."""
        if wanted != self._looked_at:
            self._looked_at = wanted
            if wanted:
                self.thread.start()
                self.thread.wake()

    def _step(self) -> float | None:
        """Open the driver, or read it."""
        try:
            if self._opened is None:
                self._opened = self._open()
            elif not self._looked_at:
                return None
            elif (rest := self._due - time.monotonic()) > 0:
                return rest
            if self._opened is None:
                self.thread.stop()
            else:
                self._take(*self._opened)
        except DriverError as error:
            self.thread.error = str(error)
            self.thread.stop()
            self._failed()
        return EVERY

    def _failed(self) -> None:
        """What was read last is no longer so."""
        self.reading = None
        self.thread.notify()

    def _take(self, driver: GpuDriver, processes: Processes) -> None:
        found = driver.read()
        own = own_reading(found, processes)
        self.reading = NodeReading(clean(platform.node(), 60), time.time(), own, len(found) - len(own))
        self._due = time.monotonic() + EVERY
        self.thread.notify()

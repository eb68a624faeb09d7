"""The GPUs of this machine, read by a thread of its own while somebody looks: a stuck driver stops no key."""

from __future__ import annotations

import platform
import threading
import time
from collections.abc import Callable

from rltui import crash
from rltui.node.reading import DriverError, GpuDriver, NodeReading, Processes, own_reading
from rltui.text import clean

EVERY = 2.0  # seconds between two readings
Open = Callable[[], tuple[GpuDriver, Processes] | None]


def open_driver() -> tuple[GpuDriver, Processes] | None:
    """The driver of this machine; None without one. Raises DriverError."""
    from rltui.node.nvml import NvmlDriver, SystemProcesses, has_driver  # asked for in one pane only

    return (NvmlDriver(), SystemProcesses()) if has_driver() else None


class NodeThread:
    """The last reading. Nothing is opened before somebody looks, and nothing is done without a driver.

    ready: called from the reading thread when there is something new.
    """

    def __init__(self, open_: Open = open_driver, ready: Callable[[], object] | None = None) -> None:
        self.ready = ready
        self.reading: NodeReading | None = None
        self.error = ""  # why there is none, one line
        self._open = open_
        self._condition = threading.Condition()
        self._looked_at = False
        self._stopped = False
        self._over = False  # there is no driver, or it failed
        self._thread: threading.Thread | None = None

    def look(self, wanted: bool) -> None:
        """Whether somebody looks at this machine now."""
        with self._condition:
            self._looked_at = wanted
            if wanted and self._thread is None and not self._stopped:
                self._thread = threading.Thread(target=self._work, name="node", daemon=True)
                self._thread.start()
            self._condition.notify_all()

    def wait(self, seconds: float) -> bool:
        """Wait for the first reading, or for why there is none; False when that takes too long."""
        with self._condition:
            return self._condition.wait_for(lambda: self._over or self.reading is not None, seconds)

    def stop(self) -> None:
        """Read nothing more. A call that hangs is left to itself: the thread is a daemon."""
        with self._condition:
            self._stopped = True
            self._condition.notify_all()

    def _work(self) -> None:
        try:
            opened = self._open()
            while opened is not None and not self._stopped:
                self._take(*opened)
                with self._condition:
                    self._condition.wait(EVERY)
                    self._condition.wait_for(lambda: self._looked_at or self._stopped)
        except DriverError as error:
            self.error = str(error)
        except Exception as error:  # noqa: BLE001 (the thread's edge: the screen goes on without GPUs)
            self.error = crash.report(error)
        with self._condition:
            self.reading, self._over = None, True
            self._condition.notify_all()
        if self.error and self.ready is not None:
            self.ready()

    def _take(self, driver: GpuDriver, processes: Processes) -> None:
        found = driver.read()
        own = own_reading(found, processes)
        with self._condition:
            self.reading = NodeReading(clean(platform.node(), 60), time.time(), own, len(found) - len(own))
            self._condition.notify_all()
        if self.ready is not None:
            self.ready()

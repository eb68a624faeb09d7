"""The consoles of followed runs, looked at by a thread of their own: a stuck file system stops no key."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from rltui.console.run_consoles import RunConsoles
from rltui.console.scan import ConsoleReport
from rltui.worker_thread import WorkerThread

LOOK = 5.0  # seconds between two looks
DUTY = 200  # a look is at most one part of so many of the processor: half a percent
WAITS = 20  # and at most one part of so many of the time: file systems may be slow
Reports = Mapping[str, tuple[ConsoleReport, ...]]


class ConsoleThread:
    """What consoles tell, by run. Nothing is looked at before `follow`, and nothing without LOGDIRs."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self.thread = WorkerThread("consoles", self._step, lambda: self._looked)
        self._logdirs = tuple(logdirs)
        self._consoles = RunConsoles(self._logdirs)
        self._looked = False
        self._sources: Mapping[str, Sequence[str]] = {}
        self._others: Mapping[str, Sequence[str]] = {}
        self._reports: Reports | None = None

    def follow(self, sources: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]]) -> None:
        """The runs that there are now, and the paths of their log files; others: of runs not asked for."""
        self._sources, self._others = sources, others
        if self._logdirs:
            self.thread.start()

    def take(self) -> Reports | None:
        """What the last look found, once; None where there was none since the last call."""
        reports, self._reports = self._reports, None
        return reports

    def _step(self) -> float:
        """Look once."""
        began, worked = time.monotonic(), time.thread_time()
        self._reports = self._consoles.look(self._sources, self._others)
        self._looked = True
        waited, took = WAITS * (time.monotonic() - began), DUTY * (time.thread_time() - worked)
        return max(LOOK, took, waited)

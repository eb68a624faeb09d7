"""The consoles of followed runs, looked at by a thread of their own: a stuck file system stops no key."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from rltui.common.worker_thread import WorkerThread
from rltui.run_context.console.failure_search import ConsoleReport
from rltui.run_context.console.run_consoles import Paths, RunConsoles

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
        self._asked: tuple[Paths, Paths, int | None] = ({}, {}, None)
        self._told: tuple[Paths, Reports] | None = None
        self._reports: Reports | None = None

    def follow(self, sources: Paths, others: Paths, changes: int | None = None) -> None:
        """The runs that there are now, and the paths of their log files; others: of runs not asked for.

        changes: as `LogSearch.changes` says; None: it is not known.
        """
        self._asked = (sources, others, changes)
        if self._logdirs:
            self.thread.start()

    def take(self) -> Reports | None:
        """What the last look found, once; None where that is nothing new since the last call."""
        reports, self._reports = self._reports, None
        return reports

    def _step(self) -> float:
        """Look once."""
        began, worked = time.monotonic(), time.thread_time()
        sources, others, changes = self._asked
        reports = self._consoles.look(sources, others, changes=changes)
        known, self._told = self._told, (sources, reports)
        # What a failure means depends on how long the run has been silent.
        failures = any(one.failures for each in reports.values() for one in each)
        if failures or known is None or known[0] is not sources or known[1] != reports:
            self._reports = reports
        self._looked = True
        waited, took = WAITS * (time.monotonic() - began), DUTY * (time.thread_time() - worked)
        return max(LOOK, took, waited)

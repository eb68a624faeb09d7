"""Scans the consoles of followed runs in a thread: a file system that hangs blocks no key."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from rltui.common.worker_thread import WorkerThread
from rltui.run_context.console.failure_search import ConsoleReport
from rltui.run_context.console.run_consoles import Paths, RunConsoles

MIN_INTERVAL = 5.0  # seconds between two scans
CPU_FACTOR = 200  # an interval is at least this multiple of a scan's CPU time: half a percent of a core
TIME_FACTOR = 20  # and at least this multiple of its duration, since file systems may be slow
Reports = Mapping[str, tuple[ConsoleReport, ...]]


class ConsoleScanThread:
    """The reports on consoles by run. Scans begin with `follow`, if there are LOGDIRs."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self.thread = WorkerThread("consoles", self._step, lambda: self._scanned)
        self._logdirs = tuple(logdirs)
        self._consoles = RunConsoles(self._logdirs)
        self._scanned = False
        self._runs: tuple[Paths, Paths, int | None] = ({}, {}, None)
        self._last: tuple[Paths, Reports] | None = None
        self._reports: Reports | None = None

    def follow(self, sources: Paths, others: Paths, changes: int | None = None) -> None:
        """Set the present runs: arguments of `RunConsoles.scan`."""
        self._runs = (sources, others, changes)
        if self._logdirs:
            self.thread.start()

    def take(self) -> Reports | None:
        """The reports of the last scan, once; None if there are no new ones."""
        reports, self._reports = self._reports, None
        return reports

    def _step(self) -> float:
        began, cpu_before = time.monotonic(), time.thread_time()
        sources, others, changes = self._runs
        reports = self._consoles.scan(sources, others, changes=changes)
        last, self._last = self._last, (sources, reports)
        # The meaning of a failure depends on how long the run has been silent.
        failures = any(report.failures for of_run in reports.values() for report in of_run)
        if failures or last is None or last[0] is not sources or last[1] != reports:
            self._reports = reports
        self._scanned = True
        cpu, duration = time.thread_time() - cpu_before, time.monotonic() - began
        return max(MIN_INTERVAL, CPU_FACTOR * cpu, TIME_FACTOR * duration)

"""The consoles of followed runs, looked at by a thread of their own: a stuck file system stops no key."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence

from rltui import crash
from rltui.console.run_consoles import RunConsoles
from rltui.console.scan import ConsoleReport

LOOK = 5.0  # seconds between two looks
DUTY = 200  # a look is at most one part of so many of the processor: half a percent
WAITS = 20  # and at most one part of so many of the time: file systems may be slow
Reports = Mapping[str, tuple[ConsoleReport, ...]]


class ConsoleThread:
    """What consoles tell, by run. Nothing is looked at before `follow`, and nothing without LOGDIRs."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self._wake = threading.Event()
        self._looked = threading.Event()
        self._stopped = False
        self._thread: threading.Thread | None = None
        self._sources: Mapping[str, Sequence[str]] = {}
        self._others: Mapping[str, Sequence[str]] = {}
        self._reports: Reports | None = None
        self.error = ""  # what went wrong inside, one line; empty while all is well

    def follow(self, sources: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]]) -> None:
        """The runs that there are now, and the paths of their log files; others: of runs not asked for."""
        self._sources, self._others = sources, others
        if self._thread is None and self._logdirs and not self._stopped:
            self._thread = threading.Thread(target=self._work, name="consoles", daemon=True)
            self._thread.start()

    def take(self) -> Reports | None:
        """What the last look found, once; None where there was none since the last call."""
        reports, self._reports = self._reports, None
        return reports

    def wait(self, seconds: float) -> bool:
        """Wait for the first look; False when that takes too long."""
        return self._looked.wait(seconds)

    def stop(self) -> None:
        """Look no more. A call that hangs is left to itself: the thread is a daemon."""
        self._stopped = True
        self._wake.set()

    def _work(self) -> None:
        consoles = RunConsoles(self._logdirs)
        while not self._stopped:
            began, worked = time.monotonic(), time.thread_time()
            try:
                self._reports = consoles.look(self._sources, self._others)
                self._looked.set()
            except Exception as error:  # noqa: BLE001 (the thread's edge: the screen goes on without consoles)
                self.error = crash.report(error)
                return
            waited, took = WAITS * (time.monotonic() - began), DUTY * (time.thread_time() - worked)
            self._wake.wait(max(LOOK, took, waited))

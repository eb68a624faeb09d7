"""The threads that look at the consoles of the runs of a session, and ask for the jobs that write them."""

from __future__ import annotations

import math
import time
from collections.abc import Sequence

from rltui.run_context.console.console_scan_thread import ConsoleScanThread
from rltui.run_context.jobs.run_jobs import JobThread
from rltui.session.session import Session

JOBS_SECONDS = 15.0  # between updates of the traces of jobs


class ContextThreads:
    """Both threads; `update` passes the runs to them, and their results to the session."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self.consoles = ConsoleScanThread(logdirs)
        self.jobs = JobThread(logdirs)
        self._traced = -math.inf  # when the jobs of the runs were last asked for
        self._errors = ("", "")

    def update(self, session: Session, now: float, *, consoles: bool, wait: float = 0.0) -> bool:
        """Follow the runs, and set what was found; now: seconds since 1970.

        True when findings changed, and after the first look at consoles.
        consoles: whether all runs are known; with some missing, a console could be assigned to a wrong one.
        wait: seconds to wait for the first look at consoles.
        """
        if consoles:
            begun = self.consoles.thread.started
            self.consoles.follow(session.sources(), session.others, session.folder_changes)
            if wait and not begun:
                self.consoles.thread.wait(wait)
        changed = False
        if (reports := self.consoles.take()) is not None:
            first = not session.consoles_searched
            changed = bool(session.set_consoles(reports, now)) or first
        if reports is not None or time.monotonic() - self._traced >= JOBS_SECONDS:  # consoles have job ids
            self._traced = time.monotonic()
            self.jobs.follow(session.job_traces())
        if (jobs := self.jobs.take()) is not None:
            session.set_jobs(jobs, now)
        return changed or jobs is not None

    def new_errors(self) -> list[str]:
        """The errors of the threads since the last call, each once though the work is repeated."""
        before, self._errors = self._errors, (self.consoles.thread.error, self.jobs.thread.error)
        return [error for error, old in zip(self._errors, before, strict=True) if error not in ("", old)]

    def stop(self) -> None:
        """Stop both without waiting for blocked calls."""
        self.consoles.thread.stop()
        self.jobs.thread.stop()

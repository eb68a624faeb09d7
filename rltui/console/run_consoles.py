"""The consoles of each run below the LOGDIRs, and what they tell of failures."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from rltui.console.console_file import ConsoleFile
from rltui.console.failures import is_console
from rltui.console.scan import ConsoleReport, scan
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.discovery.walk import scan as walk

MOST = 32  # consoles of one run that are looked at, the last written ones
_JOB = re.compile(r"(?P<stem>.*?)(?P<job>\d{2,12})(?:_\d+)?\.(?:out|err|log)$")


class RunConsoles:
    """The console files of runs; looked for at each `look`, scanned again when they changed."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self._files: dict[str, ConsoleFile] = {}
        self._reports: dict[str, ConsoleReport] = {}

    def look(self, sources: Mapping[str, Sequence[str]]) -> dict[str, tuple[ConsoleReport, ...]]:
        """What the consoles of each run tell now, by run, the last written one first.

        sources: the paths of each run's log files relative to their LOGDIR.
        """
        return {
            run: tuple([report for file in files if (report := self._report(file)) is not None])
            for run, files in self.files(sources).items()
        }

    def files(self, sources: Mapping[str, Sequence[str]]) -> dict[str, list[ConsoleFile]]:
        """The consoles of each run, looked at now, the last written one first."""
        found, _, _ = walk(self._logdirs, is_console)
        own = {path: run for run, paths in sources.items() for path in paths}
        nearest = NearestRun()
        for name, paths in sources.items():
            nearest.add_all(name, paths)
        runs: dict[str, list[ConsoleFile]] = {}
        for each in found:
            run = own.get(each.path) or nearest.of(each.folder)
            if run is None:
                continue
            file = self._files.setdefault(each.place, ConsoleFile(each.place, each.path))
            try:
                file.look()
            except OSError:
                continue  # the reader of logs tells what cannot be read
            runs.setdefault(run, []).append(file)
        for run, files in runs.items():
            files.sort(key=lambda file: (-file.modified, file.path))
            runs[run] = _latest_jobs(files)[:MOST]
        return runs

    def _report(self, file: ConsoleFile) -> ConsoleReport | None:
        known = self._reports.get(file.place)
        if known is None or (known.size, known.modified) != (file.size, file.modified):
            try:
                known = self._reports[file.place] = scan(file)
            except OSError:
                return None
        return known


def _latest_jobs(files: Sequence[ConsoleFile]) -> list[ConsoleFile]:
    """Consoles without those of earlier jobs: of `slurm-12.out` and `slurm-15.out` only the second."""
    latest: dict[str, int] = {}
    jobs = {file.path: _JOB.match(file.path) for file in files}
    for match in jobs.values():
        if match is not None:
            latest[match["stem"]] = max(latest.get(match["stem"], 0), int(match["job"]))
    kept = []
    for file in files:
        match = jobs[file.path]
        if match is None or int(match["job"]) == latest[match["stem"]]:
            kept.append(file)
    return kept

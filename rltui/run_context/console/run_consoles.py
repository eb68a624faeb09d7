"""What the consoles of each run below the LOGDIRs tell of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rltui.common.regex import regex
from rltui.logs.discovery.walk import FileSearch
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.console_places import ConsolePlace, find_consoles
from rltui.run_context.console.failure_search import ConsoleReport, scan
from rltui.run_context.console.failures import is_console

Paths = Mapping[str, Sequence[str]]  # of log files, by run
MOST = 32  # consoles of one run that are looked at, the last written ones
_JOB = regex(r"(?P<stem>.*?)(?P<job>\d{2,12})(?:_\d+)?\.(?:out|err|log)$")


class RunConsoles:
    """The console files of runs; looked for when files may have come, scanned again when they changed."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self._search = FileSearch(self._logdirs, is_console)
        self._found: tuple[Paths, Paths, int] | None = None  # of what `_places` were found
        self._places: dict[str, list[ConsolePlace]] = {}
        self._files: dict[str, ConsoleFile] = {}
        self._reports: dict[str, ConsoleReport] = {}

    def look(
        self, sources: Paths, others: Paths = MappingProxyType({}), *, changes: int | None = None
    ) -> dict[str, tuple[ConsoleReport, ...]]:
        """What the consoles of each run tell now, by run, the last written one first.

        sources: the paths of each run's log files relative to their LOGDIR; others: of runs not asked for.
        changes: as `LogSearch.changes` says, without which no console is looked for; None: it is not known.
        """
        asked = None if changes is None else (sources, others, changes)
        if asked is None or asked != self._found:
            self._places = find_consoles(
                self._logdirs, sources, others=others, failed=True, search=self._search
            )
            self._found = asked
        return self.reports(self._places)

    def reports(self, places: Mapping[str, Sequence[ConsolePlace]]) -> dict[str, tuple[ConsoleReport, ...]]:
        """The same for consoles that were found before."""
        return {
            run: tuple([report for file in files if (report := self._report(file)) is not None])
            for run, files in self._looked_at(places).items()
        }

    def files(self, sources: Paths, others: Paths = MappingProxyType({})) -> dict[str, list[ConsoleFile]]:
        """The consoles of each run, looked at now, the last written one first."""
        return self._looked_at(find_consoles(self._logdirs, sources, others=others, search=self._search))

    def _looked_at(self, places: Mapping[str, Sequence[ConsolePlace]]) -> dict[str, list[ConsoleFile]]:
        runs: dict[str, list[ConsoleFile]] = {}
        for run, found in places.items():
            for each in found:
                file = self._files.setdefault(each.place, ConsoleFile(each.place, each.path))
                try:
                    file.look(attributes=self._search.attributes)
                except OSError:
                    continue  # the reader of logs tells what cannot be read
                report = self._report(file) if each.lone else None
                if not each.lone or (report is not None and report.before_training):
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

"""The consoles of each run below the LOGDIRs, and reports on their failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rltui.common.regex import regex
from rltui.logs.discovery.context_file_search import ContextFileSearch
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.failure_search import ConsoleReport, scan
from rltui.run_context.console.failures import is_console
from rltui.run_context.console.find_consoles import FoundConsole, find_consoles

Paths = Mapping[str, Sequence[str]]  # of log files, by run
MAX_CONSOLES = 32  # of one run, those written last
_JOB = regex(r"(?P<stem>.*?)(?P<job>\d{2,12})(?:_\d+)?\.(?:out|err|log)$")


class RunConsoles:
    """The consoles of runs: searched for when there may be new files, scanned when they change."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self._search = ContextFileSearch(self._logdirs, is_console)
        self._found_for: tuple[Paths, Paths, int] | None = None  # arguments for which `_places` were found
        self._places: dict[str, list[FoundConsole]] = {}
        self._files: dict[str, ConsoleFile] = {}
        self._reports: dict[str, ConsoleReport] = {}

    def scan(
        self, sources: Paths, others: Paths = MappingProxyType({}), *, changes: int | None = None
    ) -> dict[str, tuple[ConsoleReport, ...]]:
        """The reports on the consoles of each run, the one written last first.

        sources: the paths of each run's log files relative to their LOGDIR; others: of runs not requested.
        changes: see `LogSearch.changes`; consoles are searched for when it changes, or always for None.
        """
        key = None if changes is None else (sources, others, changes)
        if key is None or key != self._found_for:
            self._places = find_consoles(
                self._logdirs, sources, others=others, failed=True, search=self._search
            )
            self._found_for = key
        return self.reports(self._places)

    def reports(self, places: Mapping[str, Sequence[FoundConsole]]) -> dict[str, tuple[ConsoleReport, ...]]:
        """The same for consoles that were found before."""
        return {
            run: tuple([report for file in files if (report := self._report(file)) is not None])
            for run, files in self._newest_files(places).items()
        }

    def files(self, sources: Paths, others: Paths = MappingProxyType({})) -> dict[str, list[ConsoleFile]]:
        """The consoles of each run, the one written last first."""
        return self._newest_files(find_consoles(self._logdirs, sources, others=others, search=self._search))

    def _newest_files(self, places: Mapping[str, Sequence[FoundConsole]]) -> dict[str, list[ConsoleFile]]:
        runs: dict[str, list[ConsoleFile]] = {}
        for run, consoles in places.items():
            for console in consoles:
                file = self._files.setdefault(console.place, ConsoleFile(console.place, console.path))
                try:
                    file.look(attributes=self._search.attributes)
                except OSError:
                    continue  # reported by the reader of logs
                report = self._report(file) if console.lone else None
                if not console.lone or (report is not None and report.before_training):
                    runs.setdefault(run, []).append(file)
        for run, files in runs.items():
            files.sort(key=lambda file: (-file.modified, file.path))
            runs[run] = _of_latest_jobs(files)[:MAX_CONSOLES]
        return runs

    def _report(self, file: ConsoleFile) -> ConsoleReport | None:
        known = self._reports.get(file.place)
        if known is None or (known.size, known.modified) != (file.size, file.modified):
            try:
                known = self._reports[file.place] = scan(file)
            except OSError:
                return None
        return known


def _of_latest_jobs(files: Sequence[ConsoleFile]) -> list[ConsoleFile]:
    """Consoles without those of earlier jobs: of `slurm-12.out` and `slurm-15.out` only the second."""
    latest: dict[str, int] = {}
    jobs = [(file, _JOB.match(file.path)) for file in files]
    for _, match in jobs:
        if match is not None:
            latest[match["stem"]] = max(latest.get(match["stem"], 0), int(match["job"]))
    return [file for file, match in jobs if match is None or int(match["job"]) == latest[match["stem"]]]

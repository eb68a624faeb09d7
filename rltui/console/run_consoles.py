"""The consoles of each run below the LOGDIRs, and what they tell of failures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from rltui.console.console_file import ConsoleFile
from rltui.console.failures import console_facts, is_console
from rltui.console.scan import ConsoleReport, scan
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.discovery.walk import FileSearch
from rltui.logs.local_file import FoundFile
from rltui.logs.run_names import folders_above, run_name
from rltui.regex import regex

MOST = 32  # consoles of one run that are looked at, the last written ones
_JOB = regex(r"(?P<stem>.*?)(?P<job>\d{2,12})(?:_\d+)?\.(?:out|err|log)$")


class ConsolePlace(NamedTuple):
    """A console file: its absolute path, and the one relative to LOGDIR, cleaned.

    lone: it belongs to no run that has logs; it is one of a run that failed before its first metrics, or of
    none.
    """

    place: str
    path: str
    lone: bool = False


def find_consoles(
    logdirs: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    *,
    others: Mapping[str, Sequence[str]] = MappingProxyType({}),
    failed: bool = False,
    search: FileSearch | None = None,
) -> dict[str, list[ConsolePlace]]:
    """The consoles below the LOGDIRs that belong to a run, by run.

    sources: the paths of each run's log files relative to their LOGDIR; others: of runs that were not asked
    for, whose consoles are nobody else's. failed: lone ones, too, by the run that they may be of. search: of
    earlier times, which knows the folders that did not change.
    """
    found = (search or FileSearch(logdirs, is_console)).files()
    owners = _Owners({**others, **sources}, found)
    runs: dict[str, list[ConsolePlace]] = {}
    for each in found:
        run = owners.of(each)
        if run is not None:
            if run in sources:
                runs.setdefault(run, []).append(ConsolePlace(each.place, each.path))
        elif failed:
            name = run_name(each.folder, each.name).run
            runs.setdefault(name, []).append(ConsolePlace(each.place, each.path, lone=True))
    return runs


class RunConsoles:
    """The console files of runs; looked for at each `look`, scanned again when they changed."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self._search = FileSearch(self._logdirs, is_console)
        self._files: dict[str, ConsoleFile] = {}
        self._reports: dict[str, ConsoleReport] = {}

    def look(
        self, sources: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> dict[str, tuple[ConsoleReport, ...]]:
        """What the consoles of each run tell now, by run, the last written one first.

        sources: the paths of each run's log files relative to their LOGDIR; others: of runs not asked for.
        """
        return self.reports(
            find_consoles(self._logdirs, sources, others=others, failed=True, search=self._search)
        )

    def reports(self, places: Mapping[str, Sequence[ConsolePlace]]) -> dict[str, tuple[ConsoleReport, ...]]:
        """The same for consoles that were found before."""
        return {
            run: tuple([report for file in files if (report := self._report(file)) is not None])
            for run, files in self._looked_at(places).items()
        }

    def files(
        self, sources: Mapping[str, Sequence[str]], others: Mapping[str, Sequence[str]] = MappingProxyType({})
    ) -> dict[str, list[ConsoleFile]]:
        """The consoles of each run, looked at now, the last written one first."""
        return self._looked_at(find_consoles(self._logdirs, sources, others=others, search=self._search))

    def _looked_at(self, places: Mapping[str, Sequence[ConsolePlace]]) -> dict[str, list[ConsoleFile]]:
        runs: dict[str, list[ConsoleFile]] = {}
        for run, found in places.items():
            for each in found:
                file = self._files.setdefault(each.place, ConsoleFile(each.place, each.path))
                try:
                    file.look()
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


class _Owners:
    """To which run a console belongs: the one it is a log of, else the one that it lies nearest to.

    One beside a run, neither above nor below its folders, may be that of another training where the run
    has one of its own, or where the names of the folders that part them are those of two experiments.
    """

    def __init__(self, sources: Mapping[str, Sequence[str]], consoles: Sequence[FoundFile]) -> None:
        self._own = {path: run for run, paths in sources.items() for path in paths}
        self._nearest = NearestRun()
        self._folders: dict[str, set[str]] = {}
        for run, paths in sources.items():
            self._nearest.add_all(run, paths)
            self._folders[run] = {"" if run == "." else run, *(path.rpartition("/")[0] for path in paths)}
        near = ((each, self._nearest.of(each.folder)) for each in consoles)
        self._with_own = {run for each, run in near if run is not None and self._is_around(each, run)}

    def of(self, console: FoundFile) -> str | None:
        """The run of a console; None where that is not known."""
        run = self._own.get(console.path)
        if run is None:
            run = self._nearest.of(console.folder)
            if run is not None and not self._is_around(console, run):
                return None if run in self._with_own or self._is_apart(console, run) else run
        return run

    def _is_around(self, console: FoundFile, run: str) -> bool:
        """Whether a console lies in, below or above a folder of a run."""
        mine = (console.folder, *folders_above(console.folder))
        return any(folder in mine or console.folder in folders_above(folder) for folder in self._folders[run])

    def _is_apart(self, console: FoundFile, run: str) -> bool:
        """Whether neither a console's folders nor those of a run have names that all experiments use."""
        shared = console_facts().shared_folders.search

        def own(path: str, other: str) -> bool:
            parts, others = path.split("/"), other.split("/")
            at = next((at for at, pair in enumerate(zip(parts, others, strict=False)) if len({*pair}) > 1), 0)
            return not any(map(shared, parts[at:]))

        return all(
            own(folder, console.folder) and own(console.folder, folder) for folder in self._folders[run]
        )


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

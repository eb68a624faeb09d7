"""Finds the consoles of each run below the LOGDIRs, without opening them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rltui.common.named_tuple import NamedTuple
from rltui.logs.discovery.context_file_search import ContextFileSearch
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.found_file import FoundFile
from rltui.logs.run_names import folders_above, run_name
from rltui.run_context.console.failures import console_facts, is_console


class FoundConsole(NamedTuple):
    """A console file: its absolute path, and the one relative to LOGDIR, cleaned.

    lone: it belongs to no run with logs, but perhaps to one that failed before its first metrics.
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
    search: ContextFileSearch | None = None,
) -> dict[str, list[FoundConsole]]:
    """The consoles below the LOGDIRs that belong to a run, by run.

    sources: the paths of each run's log files relative to their LOGDIR; others: those of runs that were not
    requested, whose consoles are left out. failed: include lone ones, by the run that they may belong to.
    search: an earlier one, which lists only folders that changed.
    """
    found = (search or ContextFileSearch(logdirs, is_console)).files()
    owners = _Owners({**others, **sources}, found)
    runs: dict[str, list[FoundConsole]] = {}
    for console in found:
        run = owners.of(console)
        if run is not None:
            if run in sources:
                runs.setdefault(run, []).append(FoundConsole(console.place, console.path))
        elif failed:
            name = run_name(console.folder, console.name).run
            runs.setdefault(name, []).append(FoundConsole(console.place, console.path, lone=True))
    return runs


class _Owners:
    """The run that a console belongs to: the one it is a log of, else the nearest one.

    A console that is neither above nor below the folders of a run may belong to another training if the run
    has its own console, or if the names of the folders between them are those of two experiments.
    """

    def __init__(self, sources: Mapping[str, Sequence[str]], consoles: Sequence[FoundFile]) -> None:
        self._own = {path: run for run, paths in sources.items() for path in paths}
        self._nearest = NearestRun()
        self._folders: dict[str, set[str]] = {}
        for run, paths in sources.items():
            self._nearest.add_all(run, paths)
            self._folders[run] = {"" if run == "." else run, *(path.rpartition("/")[0] for path in paths)}
        nearest = ((console, self._nearest.of(console.folder)) for console in consoles)
        self._with_own = {
            run for console, run in nearest if run is not None and self._is_in_line(console, run)
        }

    def of(self, console: FoundFile) -> str | None:
        """The run of a console; None if it is unknown."""
        run = self._own.get(console.path)
        if run is None:
            run = self._nearest.of(console.folder)
            if run is not None and not self._is_in_line(console, run):
                return None if run in self._with_own or self._is_separate(console, run) else run
        return run

    def _is_in_line(self, console: FoundFile, run: str) -> bool:
        """Whether a console is in, below or above a folder of a run."""
        folders = (console.folder, *folders_above(console.folder))
        return any(
            folder in folders or console.folder in folders_above(folder) for folder in self._folders[run]
        )

    def _is_separate(self, console: FoundFile, run: str) -> bool:
        """Whether neither the console's folders nor those of the run have names that all experiments use."""
        shared = console_facts().shared_folders.search

        def differs(path: str, other: str) -> bool:
            parts, others = path.split("/"), other.split("/")
            at = next((at for at, pair in enumerate(zip(parts, others, strict=False)) if len({*pair}) > 1), 0)
            return not any(map(shared, parts[at:]))

        return all(
            differs(folder, console.folder) and differs(console.folder, folder)
            for folder in self._folders[run]
        )

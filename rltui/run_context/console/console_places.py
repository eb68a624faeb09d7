"""Where the consoles of each run below the LOGDIRs lie; none of them is opened."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from rltui.common.named_tuple import NamedTuple
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.discovery.walk import FileSearch
from rltui.logs.found_file import FoundFile
from rltui.logs.run_names import folders_above, run_name
from rltui.run_context.console.failures import console_facts, is_console


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

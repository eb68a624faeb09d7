"""The run that a file beside the logs (samples, a console) belongs to, by the places of the logs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from rltui.logs.run_names import folders_above


class NearestRun:
    """Which runs have logs in which folders. Folders are relative to LOGDIR with `/`, empty for LOGDIR."""

    def __init__(self) -> None:
        self._in: dict[str, Counter[str]] = defaultdict(Counter)  # folder: logs by run
        self._below: dict[str, Counter[str]] = defaultdict(Counter)  # the same with all folders below it

    def add(self, run: str, folder: str) -> None:
        """A log of the run lies in the folder."""
        self._in[folder][run] += 1
        for each in (folder, *folders_above(folder)):
            self._below[each][run] += 1

    def add_all(self, run: str, paths: Iterable[str]) -> None:
        """The logs of a run by their paths. The folder that it is named after counts as well."""
        self.add(run, "" if run == "." else run)
        for folder in {path.rpartition("/")[0] for path in paths}:
            self.add(run, folder)

    def remove(self, run: str, folder: str) -> None:
        """A log that was added belongs to another run now."""
        for counts in (self._in[folder], *(self._below[each] for each in (folder, *folders_above(folder)))):
            counts[run] -= 1
            if not counts[run]:
                del counts[run]

    def of(self, folder: str) -> str | None:
        """The run with logs in this folder, or below it, or in the next folder above, and so on.

        None where there are no runs, or where several are equally near.
        """
        for each in (folder, *folders_above(folder)):
            for runs in (self._in.get(each), self._below.get(each)):
                if runs:
                    return next(iter(runs)) if len(runs) == 1 else None
        return None

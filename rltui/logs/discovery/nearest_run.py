"""The run of a file that is no log (samples, a console), by the folders of the logs."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable

from rltui.logs.run_names import folders_above


class NearestRun:
    """The folders of the logs of each run. Folders are relative to LOGDIR with `/`, empty for LOGDIR."""

    def __init__(self) -> None:
        self._in: dict[str, Counter[str]] = defaultdict(Counter)  # by folder, the number of logs of each run
        self._below: dict[str, Counter[str]] = defaultdict(Counter)  # the same with all sub-folders

    def add(self, run: str, folder: str) -> None:
        """Add a log of the run in the folder."""
        self._in[folder][run] += 1
        for each in (folder, *folders_above(folder)):
            self._below[each][run] += 1

    def add_all(self, run: str, paths: Iterable[str]) -> None:
        """Add the logs of a run by their paths, and the folder that it is named after."""
        self.add(run, "" if run == "." else run)
        for folder in {path.rpartition("/")[0] for path in paths}:
            self.add(run, folder)

    def remove(self, run: str, folder: str) -> None:
        """Remove a log that was added."""
        for counts in (self._in[folder], *(self._below[each] for each in (folder, *folders_above(folder)))):
            counts[run] -= 1
            if not counts[run]:
                del counts[run]

    def of(self, folder: str) -> str | None:
        """The run with logs in this folder, or below it, or in the next folder above, and so on.

        None without runs, or if several are equally near.
        """
        for each in (folder, *folders_above(folder)):
            for runs in (self._in.get(each), self._below.get(each)):
                if runs:
                    return next(iter(runs)) if len(runs) == 1 else None
        return None

"""Searches for files that are no logs, such as consoles and samples, by their names."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from rltui.logs.discovery.folder_walk import FolderWalker
from rltui.logs.discovery.logdir_roots import roots_of
from rltui.logs.file_systems import kind_of
from rltui.logs.found_file import FoundFile


class ContextFileSearch:
    """A repeated search for files with some base names that are no logs."""

    def __init__(self, logdirs: Sequence[str | os.PathLike[str]], wanted: Callable[[str], bool]) -> None:
        self._logdirs, self._wanted = logdirs, wanted
        self._walker = FolderWalker((), wanted)
        self.attributes = False  # whether `stat` of the files is up to date

    def files(self) -> list[FoundFile]:
        """All present files in the order of their paths. LOGDIRs may be missing.

        Only folders that changed are listed again, if the file system's time stamps are up to date.
        """
        roots = tuple(roots_of(self._logdirs, self._wanted))
        if roots != self._walker.roots:
            self.attributes = all(kind_of(root.place).attributes for root in roots)
            self._walker = FolderWalker(roots, self._wanted, trust_times=self.attributes)
        return self._walker.all_found()

"""The folders near the logs of a run, in which files about it are searched for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path

from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.logs.discovery.logdir_roots import Root, roots_of
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.log_file_names import names

LEVELS = 3  # folders above that of a log
MAX_FOLDERS = 12  # of one run
MAX_ENTRIES = 4000  # of a folder that may have sub-folders of hyperparameters


class Folder(NamedTuple):
    """A folder near the logs of a run."""

    place: Path
    shown: str  # relative to LOGDIR, for messages; empty for LOGDIR itself

    def shown_name(self, name: str) -> str:
        """The path of an entry for messages."""
        return f"{self.shown}/{name}" if self.shown else name


def folders_near(paths: Iterable[str], logdirs: Sequence[str | os.PathLike[str]]) -> list[Folder]:
    """The folders of logs with these paths and up to LEVELS above them, nearest first, each once.

    Never outside of a LOGDIR. Sub-folders of hyperparameters follow the folder of their log.
    """
    levels: list[list[Folder]] = [[] for _ in range(LEVELS + 2)]
    roots = roots_of(logdirs, REGISTRY.could_be_log)
    for path in dict.fromkeys(paths):
        root = _root_of(path, roots)
        if root is None:
            continue
        folder = path[len(root.prefix) :].rpartition("/")[0]
        for level in range(LEVELS + 1):
            levels[level if not level else level + 1].append(_folder(root, folder))
            if not level:
                levels[1] += _hparams_folders(_folder(root, folder))
            if not folder:
                break
            folder = folder.rpartition("/")[0]
    unique = {folder.place: folder for level in levels for folder in level}
    return list(unique.values())[:MAX_FOLDERS]


def _root_of(path: str, roots: Sequence[Root]) -> Root | None:
    matching = [root for root in roots if path.startswith(root.prefix)]
    for root in matching:  # two LOGDIRs share a prefix if one of them is a single file
        if len(matching) == 1 or (Path(root.place) / path[len(root.prefix) :]).exists():
            return root
    return None


def _folder(root: Root, folder: str) -> Folder:
    return Folder(Path(root.place) / folder, f"{root.prefix}{folder}".rstrip("/"))


def _hparams_folders(folder: Folder) -> list[Folder]:
    """Sub-folders that `add_hparams` creates, named after the time."""
    try:
        with os.scandir(folder.place) as entries:
            found = [
                Folder(Path(entry.path), folder.shown_name(clean(entry.name)))
                for entry in islice(entries, MAX_ENTRIES)
                if names().subrun_folder.match(entry.name) and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []
    return sorted(found, key=lambda subfolder: subfolder.shown)[:4]

"""Finds the files of samples of each run below the LOGDIRs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from rltui.logs.discovery.logdir_roots import roots_of
from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.follow.read_all import assign_all
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers.wandb import table_steps
from rltui.logs.local_file import LocalFile
from rltui.logs.sample_layouts.layouts import match_layout
from rltui.run_context.samples.sample_files import sample_files
from rltui.run_context.samples.sample_index import SampleIndex

Runs = Mapping[str, Sequence[str]]  # paths of logs relative to LOGDIR, by run


class SampleIndexes:
    """The indexes of the runs below the LOGDIRs; `search` finds files and the run of each."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self.indexes: dict[str, SampleIndex] = {}
        self._files: dict[str, tuple[str, str]] = {}  # by path: relative path, name of the index
        self._folders: dict[str, str] = {}  # name of the index by folder
        self.runs: Runs = {}
        self.unsure: list[str] = []  # paths that may get samples without a change in a folder of logs

    def search(self, runs: Runs) -> dict[str, str]:
        """Search for files, reading only their names. Returns the index of each run that has samples."""
        found = sorted(self._find(), key=lambda file: file[2])
        folders = dict.fromkeys(shown.rpartition("/")[0] for _, _, shown in found)
        if runs != self.runs:
            self._folders, self.runs = {}, dict(runs)
        self._folders.update(
            _owners([folder for folder in folders if folder not in self._folders], self.runs)
        )
        for root, path, shown in found:
            owner = self._folders[shown.rpartition("/")[0]]
            before = self._files.get(path)
            if before is not None and before[1] != owner:  # a nearer run was found
                for name in (before[1], owner):
                    self.indexes.pop(name, None)
                self._files = {
                    known: file for known, file in self._files.items() if file[1] not in (before[1], owner)
                }
            if path not in self._files:
                self._files[path] = (shown, owner)
                index = self.indexes.setdefault(owner, SampleIndex(_table_steps(root)))
                index.add([(path, shown)])
        owners = dict(self._files.values())
        indexes = {name: name for name in self.runs if name in self.indexes}
        for name, paths in self.runs.items():  # a run that consists of samples of another run
            owner = next((owners[path] for path in paths if path in owners), "")
            if name not in indexes and owner in self.indexes:
                indexes[name] = owner
        return indexes

    def forget(self, name: str) -> None:
        """Drop the samples of an index; its files are read again when needed."""
        old = self.indexes.get(name)
        if old is not None:
            new = self.indexes[name] = SampleIndex(old.table_steps)
            new.add([(path, shown) for path, (shown, owner) in self._files.items() if owner == name])

    def _find(self) -> Iterator[tuple[str, str, str]]:
        """Files of samples: folder of the LOGDIR, path, path relative to LOGDIR."""
        self.unsure = []
        for root in roots_of(self._logdirs, REGISTRY.could_be_log):
            start = root.place if root.only is None else str(Path(root.place, root.only))
            for path, shown in sample_files(start, self.unsure):
                yield root.place, path, root.prefix + shown


def sample_indexes_of(logdirs: Sequence[str]) -> dict[str, SampleIndex]:
    """An index for each run that has files of samples, by run. Only names of files are read."""
    runs: dict[str, list[str]] = {}
    for log in assign_all(logdirs)[0]:
        runs.setdefault(log.run, []).append(log.found.path)
    found = SampleIndexes(logdirs)
    names = {index: run for run, index in found.search(runs).items()}
    return {names.get(name, name): index for name, index in found.indexes.items()}


def _owners(folders: Iterable[str], runs: Runs) -> dict[str, str]:
    """By folder, the run of the samples in it; without a run nearby the folder itself."""
    nearest = NearestRun()
    for name, paths in runs.items():
        logs = [path for path in paths if match_layout(path) is None]
        if logs or not paths:
            nearest.add_all(name, logs)
    return {folder: nearest.of(folder) or _namesake(folder, runs) or folder or "." for folder in folders}


def _namesake(folder: str, runs: Runs) -> str | None:
    """The only run of a tracker whose project and name are the last two parts of a folder."""
    namesakes = [name for name in runs if "/" in name and name.split("/")[-2:] == folder.split("/")[-2:]]
    return namesakes[0] if len(namesakes) == 1 else None


def _table_steps(logdir: str) -> Callable[[], dict[str, int]]:
    """A function that reads the steps of stored tables from the `.wandb` files below a LOGDIR, once."""

    @cache
    def read() -> dict[str, int]:
        steps: dict[str, int] = {}
        root = Path(logdir)
        for path in sorted(root.rglob("*.wandb") if root.is_dir() else []):
            if not path.parent.is_symlink():
                with suppress(OSError), LocalFile(str(path), path.name) as file:
                    steps.update(table_steps(file))
        return steps

    return read

"""The samples of each run below the LOGDIRs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from rltui.logs.discovery.nearest_run import NearestRun
from rltui.logs.discovery.walk import roots_of
from rltui.logs.follow.read_all import place_all
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers.wandb import table_steps
from rltui.logs.local_file import LocalFile
from rltui.logs.sample_layouts.layouts import place_of
from rltui.run_context.samples.sample_files import sample_files
from rltui.run_context.samples.sample_reader import Catalog

Runs = Mapping[str, Sequence[str]]  # paths of a run's logs as the session shows them, by the run's name


class RunCatalogs:
    """The catalogs of the runs below the LOGDIRs; `search` finds files and the run that each belongs to."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self._logdirs = tuple(logdirs)
        self.catalogs: dict[str, Catalog] = {}
        self._files: dict[str, tuple[str, str]] = {}  # by path: path as shown, name of the catalog
        self._folders: dict[str, str] = {}  # name of the catalog by folder
        self.runs: Runs = {}
        self.unsure: list[str] = []  # what may come to hold samples though no folder of logs changes

    def search(self, runs: Runs) -> dict[str, str]:
        """Look for files; returns the catalog of each run that has samples. Nothing is read but names."""
        found = sorted(self._find(), key=lambda each: each[2])
        folders = dict.fromkeys(shown.rpartition("/")[0] for _, _, shown in found)
        if runs != self.runs:
            self._folders, self.runs = {}, dict(runs)
        self._folders.update(_owners([one for one in folders if one not in self._folders], self.runs))
        for root, path, shown in found:
            owner = self._folders[shown.rpartition("/")[0]]
            before = self._files.get(path)
            if before is not None and before[1] != owner:  # a run was found that is nearer
                for name in (before[1], owner):
                    self.catalogs.pop(name, None)
                self._files = {one: of for one, of in self._files.items() if of[1] not in (before[1], owner)}
            if path not in self._files:
                self._files[path] = (shown, owner)
                catalog = self.catalogs.setdefault(owner, Catalog(_table_steps(root)))
                catalog.add([(path, shown)])
        of_path = dict(self._files.values())
        known = {name: name for name in self.runs if name in self.catalogs}
        for name, paths in self.runs.items():  # a run that is nothing but samples of another one
            owner = next((of_path[path] for path in paths if path in of_path), "")
            if name not in known and owner in self.catalogs:
                known[name] = owner
        return known

    def forget(self, name: str) -> None:
        """Let go of what was read for a catalog; its files stay known."""
        old = self.catalogs.get(name)
        if old is not None:
            fresh = self.catalogs[name] = Catalog(old.table_steps)
            fresh.add([(path, shown) for path, (shown, owner) in self._files.items() if owner == name])

    def _find(self) -> Iterator[tuple[str, str, str]]:
        """Files of samples: folder of the LOGDIR, path, path as the session shows it."""
        self.unsure = []
        for root in roots_of(self._logdirs, REGISTRY.could_be_log):
            start = root.place if root.only is None else str(Path(root.place, root.only))
            for path, shown in sample_files(start, self.unsure):
                yield root.place, path, root.prefix + shown


def catalogs_of(logdirs: Sequence[str]) -> dict[str, Catalog]:
    """A catalog for each run that has files of samples, by the run's name. Nothing is read yet but names."""
    runs: dict[str, list[str]] = {}
    for log in place_all(logdirs)[0]:
        runs.setdefault(log.run, []).append(log.found.path)
    made = RunCatalogs(logdirs)
    names = {catalog: run for run, catalog in made.search(runs).items()}
    return {names.get(name, name): catalog for name, catalog in made.catalogs.items()}


def _owners(folders: Iterable[str], runs: Runs) -> dict[str, str]:
    """The run that files of samples in each folder belong to; one that is near no run stands for itself."""
    nearest = NearestRun()
    for name, paths in runs.items():
        logs = [path for path in paths if place_of(path) is None]
        if logs or not paths:
            nearest.add_all(name, logs)
    return {folder: nearest.of(folder) or _called_like(folder, runs) or folder or "." for folder in folders}


def _called_like(folder: str, runs: Runs) -> str | None:
    """The only run of a tracker whose project and name are the last two parts of a folder."""
    called = [name for name in runs if "/" in name and name.split("/")[-2:] == folder.split("/")[-2:]]
    return called[0] if len(called) == 1 else None


def _table_steps(logdir: str) -> Callable[[], dict[str, int]]:
    """Reads the steps of stored tables from the `.wandb` files below a LOGDIR, once, when they are needed."""
    known: dict[str, int] | None = None

    def steps() -> dict[str, int]:
        nonlocal known
        if known is None:
            known = {}
            root = Path(logdir)
            for path in sorted(root.rglob("*.wandb") if root.is_dir() else []):
                if path.parent.is_symlink():
                    continue
                try:
                    with LocalFile(str(path), path.name) as file:
                        known.update(table_steps(file))
                except OSError:
                    continue
        return known

    return steps

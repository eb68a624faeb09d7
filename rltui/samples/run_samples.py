"""The samples of each run below the LOGDIRs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from rltui.logs.discovery.walk import scan
from rltui.logs.files import LocalFile
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.formats.trackers.wandb import table_steps
from rltui.samples.catalog import Catalog
from rltui.samples.find import run_of, sample_files
from rltui.samples.layouts import place_of


def catalogs_of(logdirs: Sequence[str]) -> dict[str, Catalog]:
    """A catalog for each run that has files of samples, by the run's name. Nothing is read yet but names."""
    catalogs: dict[str, Catalog] = {}
    for logdir in logdirs:
        found, _, _ = scan([logdir], REGISTRY.could_be_log)
        runs = [
            (log.run, log.run if Path(logdir, log.run).is_dir() else log.folder)
            for log in found
            if place_of(log.path) is None
        ]
        files = sorted(sample_files(logdir), key=lambda each: each[1])
        for path, shown in files:
            run = run_of(shown, runs) or shown.rpartition("/")[0] or "."
            catalog = catalogs.get(run)
            if catalog is None:
                catalog = catalogs[run] = Catalog(_table_steps(logdir))
            catalog.add([(path, shown)])
    return catalogs


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

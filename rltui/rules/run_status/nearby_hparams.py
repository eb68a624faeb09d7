"""What files of hyperparameters beside logs say: the planned steps, and those beyond limits."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import TypeAlias

from rltui.common.named_tuple import NamedTuple
from rltui.rules.rule_states.hparam_conditions import (
    ENVIRONMENT,
    BytesTest,
    bytes_test,
    environment_in_file,
    environment_of_name,
    hparams_beyond_limits,
)
from rltui.rules.rulebook import rulebook
from rltui.rules.run_status.planned_steps import candidates, plan_pattern
from rltui.run_context.hparams.hparams import HParam, merge
from rltui.store.run import Run


class NearbyHParams(NamedTuple):
    """`totals`: candidates for the planned number of steps, those of the nearest files first.

    `hparams`: those beyond the limits of conditions, by the id of the condition, and the one that
    names a known environment.
    """

    totals: tuple[int, ...] = ()
    hparams: Mapping[str, HParam] = {}


NO_NEARBY_HPARAMS = NearbyHParams()
LookupNearby: TypeAlias = Callable[[Run], NearbyHParams]


class _Folder(NamedTuple):
    totals: tuple[int, ...]
    beyond: bool  # a file may have a hyperparameter beyond a limit
    environment: HParam | None  # what names a known one: a hyperparameter in a file, or the folder


class NearbyHParamsLookup:
    """Looks into the folders of runs and those above them.

    Each folder is read once, since the runs of a sweep share the folders above them. May block as long as
    the file system does.
    """

    def __init__(self, logdirs: Sequence[str | os.PathLike[str]]) -> None:
        self._logdirs = logdirs
        self._runs: dict[tuple[str, ...], NearbyHParams] = {}
        self._folders: dict[Path, _Folder] = {}

    def of(self, run: Run) -> NearbyHParams:
        """What the files beside the logs of a run say."""
        paths = tuple(source.path for source in run.sources.values() if source.format)
        known = self._runs.get(paths)
        if known is None:
            known = self._runs[paths] = self._look(paths)
        return known

    def without_totals(self, run: Run) -> NearbyHParams:
        """The same as of an earlier step, at which it did not matter how long the run would be."""
        return self.of(run)._replace(totals=())

    def _look(self, paths: Iterable[str]) -> NearbyHParams:
        # Imported here because most runs have no such files.
        from rltui.run_context.hparams.hparam_files import files_in, hparams_near, read
        from rltui.run_context.nearby_folders import folders_near

        folders = []
        for folder in folders_near(paths, self._logdirs):
            known = self._folders.get(folder.place)
            if known is None:
                test = _FileTest()
                names = files_in(folder.place)
                found = merge(read(folder.place / name, name, test) for name in names).entries
                totals = tuple(candidates(found))
                environment = test.environment or environment_of_name(folder.place.absolute().name)
                known = self._folders[folder.place] = _Folder(totals, test.beyond, environment)
            folders.append(known)
        totals = tuple(total for folder in folders for total in folder.totals)
        named = next((folder.environment for folder in folders if folder.environment is not None), None)
        beyond_limits = {} if named is None else {ENVIRONMENT: named}
        if any(folder.beyond for folder in folders):
            beyond_limits |= hparams_beyond_limits(rulebook(), hparams_near(paths, self._logdirs).entries)
        return NearbyHParams(totals, beyond_limits)


class _FileTest:
    """Whether a file has to be parsed.

    Remembers whether one may have a hyperparameter beyond a limit, and the first that names an environment.
    """

    def __init__(self) -> None:
        self.beyond = False
        self.environment: HParam | None = None

    def __call__(self, data: bytes) -> bool:
        self.environment = self.environment or environment_in_file(data)
        self.beyond = self.beyond or _bytes_test()(data)
        return self.beyond or plan_pattern().search(data) is not None


@cache
def _bytes_test() -> BytesTest:
    return bytes_test(rulebook())

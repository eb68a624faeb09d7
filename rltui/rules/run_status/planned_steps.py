"""The planned number of steps of a run, from the hyperparameters in its log and in files beside it."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from weakref import WeakKeyDictionary

from rltui.logs.batch import Text
from rltui.rules.metric_roles import metric_roles
from rltui.run_context.hparams.hparams import HParam, merge
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.store.run import Run

# The longest published trainings took 1e11 steps (Agent57: 9e10 frames); more means "until stopped".
ENDLESS = 10**12

_known: WeakKeyDictionary[Run, tuple[tuple[int, ...], tuple[int, ...]]] = WeakKeyDictionary()


def planned(run: Run) -> int | None:
    """The planned number of steps; None where the log gives none, or the run has passed it.

    A number recorded as such comes first. A setting that the steps have passed must mean something else.
    """
    if run.total_steps:
        return int(run.total_steps)
    if not run.hparams_texts or run.last_step is None:
        return None
    texts = [text for log in run.hparams_texts.values() for text in log.values()]
    mark = tuple(map(id, texts))
    found = _known.get(run)
    if found is None or found[0] != mark:
        found = _known[run] = (mark, tuple(_totals(texts)))
    return next((total for total in found[1] if total >= run.last_step), None)


def _totals(texts: Iterable[Text]) -> Iterable[int]:
    """Candidates, those of the latest attempt first, in the order of the table."""
    for text in reversed(list(texts)):
        yield from _candidates(logged_hparams([text]).entries)


class PlansBeside:
    """Planned numbers of steps, from the files of hyperparameters beside the logs.

    Each folder is read once, since the runs of a sweep share the folders above them. May block as long as
    the file system does.
    """

    def __init__(self, logdirs: Sequence[str | os.PathLike[str]]) -> None:
        self._logdirs = logdirs
        self._runs: dict[tuple[str, ...], tuple[int, ...]] = {}
        self._folders: dict[Path, tuple[int, ...]] = {}

    def of(self, run: Run) -> tuple[int, ...]:
        """Candidates for the planned number of steps, those of the nearest files first."""
        paths = tuple(source.path for source in run.sources.values() if source.format)
        known = self._runs.get(paths)
        if known is None:
            known = self._runs[paths] = tuple(self._look(paths))
        return known

    def _look(self, paths: Iterable[str]) -> Iterable[int]:
        # Imported here because most logs give the number themselves.
        from rltui.run_context.hparams.hparam_files import files_in, folders_of, read

        for folder in folders_of(paths, self._logdirs):
            known = self._folders.get(folder.place)
            if known is None:
                names = files_in(folder.place)
                found = merge(read(folder.place / name, name, _plan_pattern()) for name in names).entries
                known = self._folders[folder.place] = tuple(_candidates(found))
            yield from known


@cache
def _plan_pattern() -> re.Pattern[bytes]:
    """Matches in a file that may give a planned number of steps, so that other files need no parsing."""
    names = "|".join(metric_roles().planned_steps)
    return re.compile(rf"(?:{names})[\"']?\s*[:=]\s*[\"']?[1-9]".encode())


def _candidates(settings: Mapping[str, HParam]) -> Iterable[int]:
    """Minus one, zero and numbers that no run reaches are left out: something else ends such a run."""
    for wanted in metric_roles().planned_steps:
        for key, entry in settings.items():
            value = entry.value
            named = key.replace("/", ".").rpartition(".")[2] == wanted
            if (
                named
                and isinstance(value, int | float)
                and not isinstance(value, bool)
                and 0 < value < ENDLESS
            ):
                yield int(value)

"""The run of a log file by its path alone, and the names of runs."""

from __future__ import annotations

import fnmatch
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

from rltui.common.digest import digest
from rltui.common.display_text import clean
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.log_file_names import is_events, is_plain, names, rotated_from, stem_of
from rltui.logs.sample_layouts.layouts import match_log

_MIN_NAMESAKES = 3  # other runs: the spread of fewer sisters is unknown
_PART_LOG = "logs.csv"  # of Acme, in its own folders below the run
_NUMBERS = regex(r"(?<![-_]v)\d+")  # except versions: another version of `CartPole-v0` is another task


class RunName(NamedTuple):
    """The run of a log by its path."""

    run: str  # with `/`; `.` for LOGDIR itself
    rank: int | None  # of the worker that wrote it


def shown_name(run: str, logdirs: Sequence[str | Path]) -> str:
    """The displayed name of a run: for LOGDIR itself that of its folder, `exp7/logs` for a plain one.

    A name of plain folders alone follows that of LOGDIR, too: `ppo/summaries`, `ppo/.summary/0`.
    """
    if len(logdirs) != 1:
        return run
    folder = Path(logdirs[0]).absolute()
    if run != ".":
        first, *others = run.lower().split("/")
        plain = first in names().plain_folders and all(map(str.isdecimal, others))
        return clean(f"{folder.name}/{run}".lstrip("/")) if plain else run
    plain = folder.name.lower() in names().plain_folders
    return clean(f"{folder.parent.name}/{folder.name}".lstrip("/") if plain else folder.name) or run


def goes_by(run: str, name: str) -> bool:
    """Whether a run goes by a name: its full name, or some consecutive folders of it."""
    return run == name or f"/{name.strip('/')}/" in f"/{run}/"


def runs_named(runs: Iterable[str], name: str) -> list[str]:
    """The run with exactly this name, else all runs that go by it."""
    known = list(runs)
    return [name] if name in known else [run for run in known if goes_by(run, name)]


def without_numbers(run: str) -> str:
    """The name of a run with `#` for each of its numbers."""
    return _NUMBERS.sub("#", run)


def with_namesakes(names: Iterable[str]) -> frozenset[str]:
    """Runs with at least three others in their folder, or with names that differ in numbers only.

    Only these can have sisters (`rltui.session.sister_runs`).
    """
    listed = list(names)
    folders = Counter(name.rpartition("/")[0] for name in listed)
    patterns = Counter(map(without_numbers, listed))
    return frozenset(
        name
        for name in listed
        if max(folders[name.rpartition("/")[0]], patterns[without_numbers(name)]) > _MIN_NAMESAKES
    )


@lru_cache(maxsize=1024)
def folders_above(folder: str) -> tuple[str, ...]:
    """The folders above `folder`, nearest first; the last is the empty one, LOGDIR itself."""
    parts = folder.split("/") if folder else []
    return tuple("/".join(parts[:count]) for count in range(len(parts) - 1, -1, -1))


def run_name(folder: str, name: str) -> RunName:
    """The run of the log `name` in `folder` (relative to LOGDIR with `/`, empty for LOGDIR itself)."""
    rank = _rank(folder, name)
    if is_events(name):
        in_name = names().rank_file.search(name)
        # Ranks that share a folder would interleave in one run; the first one has the name of the folder.
        if in_name and int(in_name[1]) > 0:
            return RunName(_join(folder, f"rank{int(in_name[1])}"), rank)
        return RunName(clean(folder) or ".", rank)
    path = f"{folder}/{name}" if folder else name
    if name.endswith(names().tracker_endings):
        return RunName(_tracked(folder) or clean(folder) or ".", rank)
    for console in names().tracker_consoles:
        if path == console:  # LOGDIR is that folder
            return RunName(".", rank)
        if path.endswith(f"/{console}") and (run := _tracked(path[: -len(console) - 1])):
            return RunName(run, rank)
    if saved := names().saved_series.match(name):
        run = saved["run"]
        return RunName(_join(folder, run) if run.strip(".") else clean(folder) or ".", rank)
    if part := names().part_logs.match(path):
        above = part["above"].rstrip("/")
        if name == _PART_LOG:
            above = "" if above == "logs" else above.removesuffix("/logs")
        return RunName(clean(above) or ".", rank)
    match = match_log(path)
    if match is not None:
        return RunName(clean(match.folder) or ".", rank)
    base = rotated_from(name)
    original = base if base and stem_of(base) != base else name
    arrays = name.endswith(".npy") and not _NUMBERS.search(name)  # one metric of the run in each
    if arrays or is_plain(original) or names().step_files.search(name):
        return RunName(clean(folder) or ".", rank)
    return RunName(_join(folder, stem_of(original)), rank)


def part_prefix(path: str) -> str:
    """The prefix for the tags of a log of one part of a training; empty for other logs."""
    part = names().part_logs.match(path)
    return f"{part['part']}/" if part and part["part"] else ""


def named_of_part(prefix: str, tag: str) -> str:
    """The tag of a part in its run: unchanged if it already names the part."""
    return tag if tag.startswith(prefix[:-1]) and "/" in tag else prefix + tag


def _tracked(folder: str) -> str:
    """The run in a folder that the client of a tracker creates, by its id; empty for other folders."""
    tracked = names().tracker_folder.match(folder)
    return "" if tracked is None else _join(tracked["above"].rstrip("/"), tracked["id"])


def _join(folder: str, name: str) -> str:
    return clean(f"{folder}/{name}" if folder else name)


def _rank(folder: str, name: str) -> int | None:
    match = names().rank_file.search(name) or names().rank_folder.search(folder)
    return int(match[1]) if match else None


def shard_number(run: str, shards: int) -> int:
    """The shard of a run, from 1, by its name alone, so that new runs do not move others."""
    return int(digest(run, 12), 16) % shards + 1


def is_selected(run: str, glob: str | None) -> bool:
    """Whether a glob matches the name of a run, or is that name; True without a glob."""
    return glob is None or run == glob or fnmatch.fnmatchcase(run, glob)


class RunFilter(NamedTuple):
    """Selects the runs whose names match `glob`, and those that go by the name `also`; all without a glob.

    shard: number from 1 and total number of shards: only the runs of that shard. among: only these runs.
    """

    glob: str | None = None
    also: str | None = None
    shard: tuple[int, int] | None = None
    among: frozenset[str] | None = None

    @property
    def takes_all(self) -> bool:
        """Whether it selects all runs."""
        return self.glob is None and self.shard is None and self.among is None

    def takes(self, run: str) -> bool:
        """Whether it selects a run; always true for problems without a run."""
        if not run:
            return True
        if self.shard is not None and shard_number(run, self.shard[1]) != self.shard[0]:
            return False
        if self.among is not None and run not in self.among:
            return False
        if is_selected(run, self.glob):
            return True
        return self.also is not None and goes_by(run, self.also)

    def may_take(self, run: str, folder: str, name: str) -> bool:
        """Whether the log `name` in `folder`, by its path of `run`, may turn out to be of a selected run."""
        if self.takes(run):
            return True
        if match_log(f"{folder}/{name}" if folder else name) is not None:
            return True  # samples belong to a run whose logs may be in another folder
        if names().companions.search(name):
            return True  # and so may episodes
        # A sub-run of add_scalars or add_hparams belongs to the run above it.
        return is_events(name) and any(self.takes(upper or ".") for upper in folders_above(folder))


ALL_RUNS = RunFilter()

"""Which run a log file belongs to, by its place and its name alone."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

from rltui.text import clean

# Stems that frameworks give their one metrics log; a log named so belongs to the run of its folder.
PLAIN_STEMS = frozenset(
    {
        "metrics",  # tinker, Dreamer, prime-rl, home-made
        "progress",  # SB3, RLlib, Spinning Up
        "result",  # RLlib
        "trainer_state",  # transformers, TRL
        "trainer_log",  # LLaMA-Factory
        "logging",  # ms-swift
        "log",
        "logs",
        "log_history",
        "console",
        "monitor",  # SB3's episode log
        "scalars",
        "history",
        "results",
        "train_log",
        "training_log",
        "stdout",
        "output",
    }
)
_ENDING = re.compile(r"\.(jsonl|ndjson|json|csv|tsv|txt|log|out|err)$", re.IGNORECASE)
_ROTATED = re.compile(
    r"^(?P<base>.+?)[.-](?P<turn>\d{1,3}|\d{8}(?:[-T]?\d{2,6})?|\d{4}-\d\d-\d\d(?:[-_T]\d\d){0,3})$",
    re.IGNORECASE,
)
_RANK_FOLDER = re.compile(r"(?:^|/)rank[_-]?(\d{1,6})(?:/|$)")
_TRACKER_ENDINGS = (".wandb", ".swanlab")
_TRACKER_FOLDER = re.compile(r"(.*?)(?:offline-)?run-\d{8}_\d{6}-([^/]+)$")
_RANK_FILE = re.compile(r"\.rank[_-]?(\d{1,6})(?:\.gz)?$")


@dataclass(frozen=True, slots=True)
class RunName:
    """What a path says about the log there."""

    run: str  # with `/`; `.` for LOGDIR itself
    rank: int | None  # the worker that wrote it


def is_events(name: str) -> bool:
    """Whether a base name is that of a TensorBoard event file."""
    return "tfevents" in name


def called(run: str, name: str) -> bool:
    """Whether a run goes by a name: its whole name, or some folders of it that follow each other."""
    return run == name or f"/{name.strip('/')}/" in f"/{run}/"


def named(runs: Iterable[str], name: str) -> list[str]:
    """The runs that a person may mean by a name: the one of just that name, else all that go by it."""
    known = list(runs)
    return [name] if name in known else [run for run in known if called(run, name)]


@lru_cache(maxsize=1024)
def folders_above(folder: str) -> tuple[str, ...]:
    """The folders above `folder`, nearest first; the last is the empty one, LOGDIR itself."""
    parts = folder.split("/") if folder else []
    return tuple("/".join(parts[:count]) for count in range(len(parts) - 1, -1, -1))


def stem_of(name: str) -> str:
    """A base name without `.gz` and without the ending of its format."""
    name = name[:-3] if name.endswith(".gz") else name
    return _ENDING.sub("", name) or name


def rotated_from(name: str) -> str | None:
    """The name that a rotated log had (``metrics.jsonl`` for ``metrics.jsonl.1``), None if it is not one."""
    name = name[:-3] if name.endswith(".gz") else name
    match = None if is_events(name) else _ROTATED.match(name)
    return match[1] if match else None


def file_order(name: str) -> tuple[str, int, int]:
    """Sorts the logs of one folder as they were written: rotated ones first, the oldest of them first."""
    base = rotated_from(name)
    if base is None:
        return (name, 1, 0)
    turn = re.sub(r"\D", "", name[len(base) :].removesuffix(".gz")) or "0"
    return (base, 0, -int(turn) if len(turn) < 8 else int(turn))


def run_name(folder: str, name: str) -> RunName:
    """The run of the log `name` in `folder` (relative to LOGDIR with `/`, empty for LOGDIR itself)."""
    rank = _rank(folder, name)
    if is_events(name):
        in_name = _RANK_FILE.search(name)
        # Ranks that share a folder would interleave in one run; the first one stands for the folder.
        if in_name and int(in_name[1]) > 0:
            return RunName(_join(folder, f"rank{int(in_name[1])}"), rank)
        return RunName(clean(folder) or ".", rank)
    if name.endswith(_TRACKER_ENDINGS):
        tracked = _TRACKER_FOLDER.match(folder)
        # One id is one run, however often it was resumed into a folder of its own.
        return RunName(_join(tracked[1].rstrip("/"), tracked[2]) if tracked else clean(folder) or ".", rank)
    base = rotated_from(name)
    stem = stem_of(base if base and _ENDING.search(base) else name)
    if stem.lower() in PLAIN_STEMS:
        return RunName(clean(folder) or ".", rank)
    if stem.isdigit() and name.endswith((".jsonl", ".jsonl.gz")):  # a rollout dump: one file for each step
        return RunName(clean(folder) or ".", rank)
    return RunName(_join(folder, stem), rank)


def _join(folder: str, name: str) -> str:
    return clean(f"{folder}/{name}" if folder else name)


def _rank(folder: str, name: str) -> int | None:
    match = _RANK_FILE.search(name) or _RANK_FOLDER.search(folder)
    return int(match[1]) if match else None


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Runs whose names match `glob`, and what is called `also`; all where there is no glob."""

    glob: str | None
    also: str | None = None

    def takes(self, run: str) -> bool:
        """Whether the run was asked for; problems of no run always are."""
        if self.glob is None or not run or fnmatch.fnmatchcase(run, self.glob):
            return True
        return self.also is not None and called(run, self.also)

    def may_take(self, run: str, folder: str, name: str) -> bool:
        """Whether the log `name` in `folder`, by its place of `run`, may turn out to be of such a run."""
        if self.takes(run):
            return True
        # A sub-run of add_scalars or add_hparams goes by the name of the run above it.
        return is_events(name) and any(self.takes(upper or ".") for upper in folders_above(folder))

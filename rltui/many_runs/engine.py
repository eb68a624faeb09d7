"""Engines, which process shards: this process, other processes, or the workers of another program."""

from __future__ import annotations

import os

from rltui.common.named_tuple import NamedTuple
from rltui.many_runs import plan

MAX_RUNS = {"slurm": 1000}  # of a shard: jobs are slow to start
NAMES = ("local", "processes", "ray", "dask", "slurm")


class EngineError(Exception):
    """An engine cannot be used; the message is one line with the reason."""


class Engine(NamedTuple):
    """An engine and its argument: the count of processes, an address, a partition."""

    name: str = "local"
    argument: str = ""

    @classmethod
    def parse(cls, text: str) -> Engine:
        """The engine of `NAME` or `NAME:ARGUMENT`. Raises ValueError with the permitted ones."""
        name, _, argument = text.partition(":")
        if name not in NAMES:
            raise ValueError(f"no engine named {name!r}; engines: {', '.join(NAMES)}")
        if name == "local" and argument:
            raise ValueError("the engine `local` takes no argument; processes:N sets the count of processes")
        if (
            name == "processes"
            and argument
            and not (argument.isascii() and argument.isdigit() and int(argument))
        ):
            raise ValueError(f"processes:{argument}: the count of processes is a number from 1")
        return cls(name, argument)

    @property
    def processes(self) -> int | None:
        """How many shards are processed at the same time; None if the engine decides."""
        if self.name == "processes":
            return int(self.argument) if self.argument else available_processors()
        return 1 if self.name == "local" else None

    @property
    def most_runs(self) -> int:
        """The largest number of runs in a shard."""
        return MAX_RUNS.get(self.name, plan.MAX_RUNS)


def available_processors() -> int:
    """Processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

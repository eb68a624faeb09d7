"""Commands that work on runs in parts: their options `--shard`, `--engine`, `--no-cache`, and the work."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from typing import TypeVar

import click

from rltui.cli.output import EXTRAS, fail, progress_line, require_extra
from rltui.common.data_class import dataclass
from rltui.common.paths import is_url
from rltui.common.text import clean
from rltui.many_runs.engine import NAMES, Engine, EngineError, available_processors
from rltui.many_runs.plan import LostShard, Plan, RunPlan, Shard, make_plan

T = TypeVar("T")

# From here on a second process of this machine is used: it takes about half a second to begin, so that it
# cannot pay for less work than a few seconds. 400 runs took 1.14 times less with two on a busy machine.
PAYS_RUNS = 1000
PAYS_BYTES = 200 << 20
BY_DEFAULT = 2  # processes of this machine that are used unasked


@dataclass(frozen=True, slots=True)
class Work:
    """Where runs are worked on, and which of them. part: index from 1, and of how many; None: all runs."""

    engine: Engine = field(default_factory=Engine)
    part: tuple[int, int] | None = None
    remembered: bool = True  # whether verdicts are taken from the cache


class _Shard(click.ParamType[tuple[int, int]]):
    name = "shard"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """`3/40` as numbers."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", value)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is no part such as 3/40: I from 1 to N", param, ctx)
        return int(match[1]), int(match[2])


class _Engine(click.ParamType[Engine]):
    name = "engine"

    def convert(
        self, value: str | Engine, param: click.Parameter | None, ctx: click.Context | None
    ) -> Engine:
        """The engine by name."""
        if isinstance(value, Engine):
            return value
        try:
            return Engine.parse(value)
        except ValueError as error:
            self.fail(str(error), param, ctx)


SHARD = click.option(
    "--shard",
    type=_Shard(),
    metavar="I/N",
    help="Only the I-th of N parts of the runs (from 1); the same cut on every machine.",
)
ENGINE = click.option(
    "--engine",
    type=_Engine(),
    default=Engine(),
    metavar="NAME",
    help=f"Where runs are worked on: {', '.join(NAMES[:1])} (default), processes[:N], ray[:ADDRESS], "
    "dask[:ADDRESS], slurm[:PARTITION].",
)
NO_CACHE = click.option(
    "--no-cache", is_flag=True, help="Read all runs again, also those whose files did not change."
)


def planned(
    logdirs: Sequence[str], run_glob: str | None, how: Work, *, verify: bool = False, context: bool = True
) -> Plan:
    """The runs to work on."""
    plan = make_plan(logdirs, run_glob=run_glob, verify=verify, context=context)
    return plan if how.part is None else plan.part(*how.part)


def need_engine(engine: Engine, logdirs: Sequence[str]) -> None:
    """End the command with 2 where the packages of an engine are missing, or it does not see the logs."""
    if engine.name in EXTRAS:
        require_extra(engine.name, f"--engine {engine.name}")
    remote = next(filter(is_url, logdirs), None)
    if remote is not None and engine.name not in ("local", "processes"):
        what = f"--engine {engine.name} does not see what is fetched of {clean(remote)}"
        fail(f"{what}: use processes, or --shard on each machine")


def chosen_engine(engine: Engine, runs: Sequence[RunPlan]) -> Engine:
    """The engine that was asked for; instead of `local` two processes of this machine where that pays."""
    much = len(runs) >= PAYS_RUNS or (len(runs) > 1 and sum(run.size for run in runs) >= PAYS_BYTES)
    if engine.name == "local" and much and available_processors() >= BY_DEFAULT:
        return Engine("processes", str(BY_DEFAULT))
    return engine


def in_order(
    shards: Sequence[Shard], engine: Engine, task: Callable[[Shard], T], done: str
) -> Iterator[T | LostShard]:
    """The result of each shard; progress on standard error. Ends the command with 2 without the engine."""
    from rltui.many_runs.work_on_shards import work  # pools of processes, which few commands need

    finished, runs = 0, sum(map(len, shards))
    with progress_line() as show:
        try:
            for shard, result in work(shards, engine, task):
                finished += len(shard)
                if show is not None:
                    show(f"{finished:,} of {runs:,} runs {done}")
                yield result
        except EngineError as error:
            fail(str(error))

"""The options `--shard`, `--engine` and `--no-cache`, and processing shards on engines."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

import click

from rltui.cli.output.printing import fail, progress_line, require_extra
from rltui.common.display_text import clean
from rltui.common.extras import EXTRAS
from rltui.common.named_tuple import NamedTuple
from rltui.common.writable_paths import is_url
from rltui.many_runs.engine import NAMES, Engine, EngineError, available_processors
from rltui.many_runs.plan import LostShard, Plan, RunPlan, Shard, make_plan

T = TypeVar("T")

# From this many runs or bytes on, `local` uses a second process. Its start takes about 0.5 s, which is only
# worthwhile for some seconds of work: for 400 runs, two processes were 1.14 times faster on a busy machine.
TWO_PROCESSES_RUNS = 1000
TWO_PROCESSES_BYTES = 200 << 20


class Work(NamedTuple):
    """The engine, and the shard to process: its number from 1 and the number of shards; None for all runs."""

    engine: Engine = Engine()
    shard: tuple[int, int] | None = None
    cached: bool = True  # whether to use cached verdicts


class _Shard(click.ParamType[tuple[int, int]]):
    name = "shard"

    def convert(
        self, value: str, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[int, int]:
        """See click."""
        match = re.fullmatch(r"([0-9]{1,6})/([0-9]{1,6})", value)
        if match is None or not 1 <= int(match[1]) <= int(match[2]):
            self.fail(f"{value!r} is not a shard such as 3/40: I/N, with I from 1 to N", param, ctx)
        return int(match[1]), int(match[2])


class _Engine(click.ParamType[Engine]):
    name = "engine"

    def convert(
        self, value: str | Engine, param: click.Parameter | None, ctx: click.Context | None
    ) -> Engine:
        """See click."""
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
    """The plan of the runs to process."""
    plan = make_plan(logdirs, run_glob=run_glob, verify=verify, context=context)
    return plan if how.shard is None else plan.shard(*how.shard)


def need_engine(engine: Engine, logdirs: Sequence[str]) -> None:
    """End the command with 2 if the packages of an engine are missing, or it cannot access the logs."""
    if engine.name in EXTRAS:
        require_extra(engine.name, f"--engine {engine.name}")
    remote = next(filter(is_url, logdirs), None)
    if remote is not None and engine.name not in ("local", "processes"):
        what = f"--engine {engine.name} does not see what is fetched of {clean(remote)}"
        fail(f"{what}: use processes, or --shard on each machine")


def chosen_engine(engine: Engine, runs: Sequence[RunPlan]) -> Engine:
    """The requested engine; for `local` and many runs, two processes of this machine."""
    size = sum(run.size for run in runs) if len(runs) > 1 else 0
    is_large = len(runs) >= TWO_PROCESSES_RUNS or size >= TWO_PROCESSES_BYTES
    if engine.name == "local" and is_large and available_processors() >= 2:
        return Engine("processes", "2")
    return engine


def in_order(
    shards: Sequence[Shard], engine: Engine, task: Callable[[Shard], T], done: str
) -> Iterator[T | LostShard]:
    """The result of each shard, with progress on standard error. Exit code 2 if the engine fails."""
    from rltui.many_runs.work_on_shards import work  # imports process pools, which few commands need

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

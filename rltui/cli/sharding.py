"""The options of commands that work on runs in parts: `--shard`, `--engine`, `--no-cache`."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import click

from rltui.shards.engines import NAMES, Engine


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

"""The plan of work on many runs: the runs below the LOGDIRs with their files, divided into shards.

Making it means to walk the folders and to assign logs to runs; of logs only the beginnings are read. It
depends on nothing but the files, so that every machine that sees them makes the same plan and shards.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from rltui.common.display_text import some_of
from rltui.common.problem import Problem
from rltui.logs.delivery import Delivery
from rltui.logs.found_file import AssignedLog, VisitedPaths
from rltui.logs.run_names import RunFilter, shard_number, with_namesakes

if TYPE_CHECKING:
    from rltui.run_context.console.find_consoles import FoundConsole

MAX_RUNS = 64  # of a shard
MAX_BYTES = 64 << 20  # of the logs of a shard of several runs
MAX_NAMED_RUNS = 3  # runs of a lost shard that its diagnostic names


@dataclass(slots=True)
class RunPlan:
    """One run: its logs (with those of its attempts, and duplicates) and the other files behind its verdict.

    deliveries: problems that placing its logs has found, such as one that does not answer. namesakes: whether
    other runs, of whichever shard, may be its sisters. part_files: what is read of containers that hold its
    logs. hparam_files: files of hyperparameters near its logs, as absolute paths.
    """

    name: str
    logs: list[AssignedLog] = field(default_factory=list)
    consoles: list[FoundConsole] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    namesakes: bool = False
    part_files: list[str] = field(default_factory=list)
    hparam_files: list[str] = field(default_factory=list)

    def files(self) -> list[str]:
        """Absolute paths of all files on which its verdict depends."""
        logs = [log.found.place for log in self.logs if log.found.part is None and log.part_key is None]
        consoles = [console.place for console in self.consoles]
        return list(dict.fromkeys((*logs, *self.part_files, *consoles, *self.hparam_files)))

    @property
    def size(self) -> int:
        """Bytes of its logs without duplicates."""
        return sum(log.size for log in self.logs if log.duplicate_of is None)


Shard = tuple[RunPlan, ...]


class LostShard:
    """A shard without a result, and the reason: its worker ended or failed."""

    def __init__(self, shard: Shard, reason: str) -> None:
        self.shard = shard
        self.reason = reason

    def problem(self, what: str) -> Problem:
        """The diagnostic. what: the work that is missing, such as `not judged`."""
        names = [run.name for run in self.shard]
        message = f"{what}: {some_of(names, MAX_NAMED_RUNS)}: {self.reason}; run it again"
        return Problem("error", "shard-lost", names[0], message, count=len(names))


@dataclass(slots=True)
class Plan:
    """All runs by name. deliveries: problems of folders and of files that are no logs."""

    runs: list[RunPlan]
    deliveries: list[Delivery]
    visited_paths: VisitedPaths = field(
        default_factory=VisitedPaths
    )  # the folders and files that it follows from

    def shard(self, number: int, of: int) -> Plan:
        """The runs of a shard by its number (from 1), if there are `of` shards."""
        return replace(self, runs=[run for run in self.runs if shard_number(run.name, of) == number])

    def shards(self, *, most_runs: int = MAX_RUNS, most_bytes: int = MAX_BYTES) -> Iterator[Shard]:
        """The runs as shards, in their order."""
        return cut(self.runs, most_runs=most_runs, most_bytes=most_bytes)


def cut(
    runs: Sequence[RunPlan], *, most_runs: int = MAX_RUNS, most_bytes: int = MAX_BYTES
) -> Iterator[Shard]:
    """Runs as shards, in their order; a run with more bytes than the limit is a shard of its own."""
    shard: list[RunPlan] = []
    size = 0
    for run in runs:
        if shard and (len(shard) >= most_runs or size + run.size > most_bytes):
            yield tuple(shard)
            shard, size = [], 0
        shard.append(run)
        size += run.size
    if shard:
        yield tuple(shard)


def portable(shard: Shard) -> Shard:
    """The shard as data that can be pickled."""
    return tuple(replace(run, logs=[log.without_part() for log in run.logs]) for run in shard)


def make_plan(
    logdirs: Sequence[str], *, run_glob: str | None = None, context: bool = True, verify: bool = False
) -> Plan:
    """Search the LOGDIRs and assign every log to a run. Raises MissingError for one that does not exist.

    context: whether consoles and files of hyperparameters are searched, too.
    """
    # Imported here: a cached plan needs no search.
    from rltui.logs.follow.read_all import assign_all
    from rltui.run_context.console.find_consoles import find_consoles

    runs: dict[str, RunPlan] = {}
    deliveries: list[Delivery] = []
    logs, problems, visited_paths, others = assign_all(logdirs, run_glob=run_glob, verify=verify)
    for delivery in problems:
        name = delivery.source.run
        if name:
            runs.setdefault(name, RunPlan(name)).deliveries.append(delivery)
        else:
            deliveries.append(delivery)
    for log in logs:
        run = runs.setdefault(log.run, RunPlan(log.run))
        run.logs.append(log)
        if log.found.part is not None:
            run.part_files += log.found.part.files()
    if context:
        from rltui.run_context.hparams.hparam_files import HParamFiles  # 3 ms

        sources = {name: [log.found.path for log in run.logs] for name, run in runs.items()}
        asked, hparam_files = RunFilter(run_glob), HParamFiles(logdirs)
        for name, places in find_consoles(logdirs, sources, others=others, failed=True).items():
            if asked.takes(name):
                runs.setdefault(name, RunPlan(name)).consoles = places
        for name, paths in sources.items():
            runs[name].hparam_files = hparam_files.near(paths)
    for name in with_namesakes(runs):
        runs[name].namesakes = True
    return Plan([runs[name] for name in sorted(runs)], deliveries, visited_paths)

"""What is judged or exported: the runs below the LOGDIRs with their logs and consoles, cut into shards.

The plan is the walk and the placing of logs (which log belongs to which run, which one is a duplicate);
nothing is read beyond the beginnings of logs. It depends on the files alone, so that every machine that sees
the same files makes the same plan and the same cut.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from rltui import paths
from rltui.console.run_consoles import ConsolePlace, find_consoles
from rltui.logs.delivery import Delivery
from rltui.logs.discovery.placed_log import PlacedLog
from rltui.logs.follow.read_all import place_all
from rltui.logs.run_names import RunFilter
from rltui.session.sister_runs import with_namesakes

MOST_RUNS = 64  # of a shard
MOST_BYTES = 64 << 20  # of the logs of a shard of several runs


@dataclass(slots=True)
class RunPlan:
    """One run: its logs (its attempts and duplicates are among them), and the consoles beside it.

    deliveries: what placing its logs said already, such as that one does not answer. namesakes: whether other
    runs, of whichever shard, may be its sisters.
    """

    name: str
    logs: list[PlacedLog] = field(default_factory=list)
    consoles: list[ConsolePlace] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    namesakes: bool = False

    @property
    def size(self) -> int:
        """Bytes of its logs, duplicates aside."""
        return sum(log.size for log in self.logs if log.also_of is None)


Shard = tuple[RunPlan, ...]


@dataclass(slots=True)
class Plan:
    """All runs by name. deliveries: what was said of folders, and of files that are no logs."""

    runs: list[RunPlan]
    deliveries: list[Delivery]

    def part(self, index: int, of: int) -> Plan:
        """The part `index` (from 1) `of` several: by the runs' names, so that a new run moves no other."""
        chosen = [run for run in self.runs if int(paths.digest(run.name, 12), 16) % of == index - 1]
        return Plan(chosen, self.deliveries)

    def shards(self, *, most_runs: int = MOST_RUNS, most_bytes: int = MOST_BYTES) -> Iterator[Shard]:
        """The runs in pieces of work, in their order."""
        return cut(self.runs, most_runs=most_runs, most_bytes=most_bytes)


def cut(
    runs: Sequence[RunPlan], *, most_runs: int = MOST_RUNS, most_bytes: int = MOST_BYTES
) -> Iterator[Shard]:
    """Runs in pieces of work, in their order; a run of more bytes than that is a piece of its own."""
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
    """The shard as data that another process can be given."""
    return tuple(replace(run, logs=[log.portable() for log in run.logs]) for run in shard)


def make_plan(
    logdirs: Sequence[str], *, run_glob: str | None = None, consoles: bool = True, verify: bool = False
) -> Plan:
    """Search the LOGDIRs and place every log. Raises MissingError for one that is not there.

    consoles: whether consoles beside the runs are looked for, too.
    """
    runs: dict[str, RunPlan] = {}
    deliveries: list[Delivery] = []
    logs, said = place_all(logdirs, run_glob=run_glob, verify=verify)
    for delivery in said:
        name = delivery.source.run
        if name:
            runs.setdefault(name, RunPlan(name)).deliveries.append(delivery)
        else:
            deliveries.append(delivery)
    for log in logs:
        runs.setdefault(log.run, RunPlan(log.run)).logs.append(log)
    if consoles:
        sources = {name: [log.found.path for log in run.logs] for name, run in runs.items()}
        asked = RunFilter(run_glob)
        for name, places in find_consoles(logdirs, sources, failed=True).items():
            if asked.takes(name):
                runs.setdefault(name, RunPlan(name)).consoles = places
    for name in with_namesakes(runs):
        runs[name].namesakes = True
    return Plan([runs[name] for name in sorted(runs)], deliveries)

"""The end of an export: reporting problems, lost shards and globs without matches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeVar

from rltui.cli.exit_codes import FOUND, WRONG
from rltui.cli.export.export_points import Exporter, PointSelection
from rltui.cli.options.sharding import Work, in_order, need_engine, planned
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import fail, leave
from rltui.cli.reading.loading import nothing_to_read
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem, Problems
from rltui.many_runs.engine import Engine
from rltui.many_runs.plan import LostShard, Plan, Shard

T = TypeVar("T")


class ExportSummary(NamedTuple):
    """The outcome of exporting some runs."""

    problems: tuple[Problem, ...]
    logs: int  # of runs
    matched: bool  # whether a tag matched the globs, or there were none
    points: int = 0  # written, if counted

    @classmethod
    def of(cls, exporter: Exporter, points: int = 0) -> ExportSummary:
        """The summary of an exporter."""
        problems = tuple(exporter.problems.values())
        return cls(problems, exporter.logs, not exporter.metrics.matched_none(), points)


class Exported:
    """An export: its plan and the sum of the summaries of its shards."""

    def __init__(self, selection: PointSelection) -> None:
        self._selection = selection
        self._problems = Problems()
        self._lost: list[Problem] = []
        self._logs = 0
        self._matched = not selection.metrics
        self._is_shard = False
        self.points = 0

    def plan(self, how: Work) -> Plan:
        """The plan of the runs to export."""
        chosen = self._selection
        need_engine(how.engine, chosen.logdirs)
        plan = planned(chosen.logdirs, chosen.runs.glob, how, verify=chosen.verify, context=False)
        for delivery in plan.deliveries:
            self._problems.note(delivery.batch.problems)
        self._is_shard = how.shard is not None
        return Plan([run for run in plan.runs if chosen.runs.takes(run.name)], plan.deliveries)

    def take(self, summary: ExportSummary) -> None:
        """Add the summary of some runs."""
        self._problems.note(summary.problems)
        self._logs += summary.logs
        self._matched |= summary.matched
        self.points += summary.points

    def of_shards(self, plan: Plan, engine: Engine, task: Callable[[Shard], T]) -> Iterator[T]:
        """The results of a task for each shard, except lost ones, which `finish` reports."""
        shards = list(plan.shards(most_runs=engine.most_runs))
        for result in in_order(shards, engine, task, "exported"):
            if isinstance(result, LostShard):
                self._lost.append(result.problem("not exported"))
            else:
                yield result

    def finish(self) -> None:
        """Report problems on standard error. Ends the command if something is missing."""
        note_problems([*self._problems.values(), *self._lost])
        if self._lost:
            leave(WRONG)
        if self._is_shard and not self._logs:
            return  # a shard may have no runs
        if not self._logs and any(problem.level != "info" for problem in self._problems.values()):
            leave(WRONG)
        if not self._logs:
            chosen = self._selection
            nothing_to_read(tuple(chosen.logdirs), chosen.runs.glob, list(self._problems.values()))
        if not self._matched:
            globs = ", ".join(map(repr, self._selection.metrics))
            fail(f"no metric matches {globs}; `rltui export` without --metric has all", FOUND)

"""Judging the runs of one shard: from files to verdicts, in whatever process. Nothing else is touched."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from itertools import chain

from rltui.common.named_tuple import NamedTuple
from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.logs.follow.read_all import read_placed
from rltui.many_runs.plan import Shard
from rltui.many_runs.verdict import ListedSource, ShardResult, Verdict, note_positions
from rltui.panes.runs.run_outcome import outcome
from rltui.rules.finding import Finding
from rltui.rules.run_state.planned_steps import PlansBeside
from rltui.session.outcome_curve import outcome_curve
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.session.shared_metric_names import SharedNames
from rltui.store.continued_runs import life_of


class JudgeOptions(NamedTuple):
    """How runs are judged: the same for all shards.

    now: seconds since 1970, for how long a run is silent. logdirs: below which files beside logs are read.
    """

    config: Config
    now: float
    at_step: int | None = None
    verify: bool = False
    logdirs: tuple[str, ...] = ()


class _SharedNames(threading.local):
    """What the shards that a thread works on have in common: most runs of a fleet log the same tags."""

    MOST = 4096  # runs after which it is found out again, so that it does not grow without bounds

    def __init__(self) -> None:
        self._names: SharedNames | None = None
        self._runs = 0

    def of(self, config: Config, runs: int) -> SharedNames:
        """That of a configuration, for so many more runs."""
        names, self._runs = self._names, self._runs + runs
        if names is None or names.config != config or self._runs > self.MOST:
            names, self._runs = SharedNames(config), runs
            self._names = names
        return names


_SHARED = _SharedNames()


def judge(
    shard: Shard, question: JudgeOptions, progress: Callable[[Delivery], None] | None = None
) -> ShardResult:
    """Read and judge the runs of a shard, here or in another process: the result can be pickled."""
    names = _SHARED.of(question.config, len(shard))
    plans = PlansBeside(question.logdirs).of if question.logdirs and question.at_step is None else None
    session = Session(question.config, shared=names, plans=plans)
    said = chain.from_iterable(run.deliveries for run in shard)
    logs = [log for run in shard for log in run.logs]
    session.take_all(
        chain(said, read_placed(logs, verify=question.verify)), at_step=question.at_step, progress=progress
    )
    if question.at_step is None:  # what a console tells of an earlier step is not known
        consoles = {run.name: run.consoles for run in shard if run.consoles}
        if consoles:
            from rltui.run_context.console.run_consoles import RunConsoles  # beside most runs lies none

            session.set_consoles(RunConsoles(()).reports(consoles), question.now)
    asked = {run.name for run in shard if run.namesakes}
    verdicts = [
        verdict_of(view, question.now, at_step=question.at_step, settings=name in asked)
        for name, view in session.runs.items()
    ]
    return ShardResult(verdicts, list(session.problems.values()))


def verdict_of(view: RunView, now: float, *, at_step: int | None = None, settings: bool = False) -> Verdict:
    """What is known of a run now (seconds since 1970), or as of a step.

    settings: whether it may have sisters, so that the settings in its log are read.
    """
    run, found = view.run, view.evaluator.findings()
    last_wall = run.last_wall if math.isfinite(run.last_wall) else None
    if at_step is not None and last_wall is not None:
        now = last_wall
    healthy = view.evaluator.health == "ok"
    return Verdict(
        run=view.name,
        framework=view.framework,
        last_step=run.last_step,
        last_wall=last_wall,
        points=run.points,
        series=len(run.series),
        modified=view.modified if math.isfinite(view.modified) else None,
        health=view.health,
        unjudged=view.evaluator.unjudged() or (view.evaluator.unknown_outcome() if healthy else ""),
        now=now,
        pace=view.pace(now),
        findings=tuple(_with_written_values(view, one) for one in found),
        notes=note_positions(found, healthy=healthy),
        problems=tuple(dict.fromkeys((*run.problems.values(), *view.evaluator.diagnostics()))),
        sources=tuple(
            ListedSource(source.path, source.format, source.size, source.duplicate_of is not None)
            for source in run.sources.values()
        ),
        consoles=tuple(report.path for report in view.consoles),
        life=life_of(run) if at_step is None else None,
        outcome=outcome(view, at_step),
        last_error=view.last_error(now) if at_step is None else "",
        last_line=view.last_line if at_step is None else "",
        curve=outcome_curve(view, settings=settings),
        given_name=view.given_name,
    )


def _with_written_values(view: RunView, finding: Finding) -> Finding:
    """A finding with keys of the run to look at next, and the numbers that stand in its log as evidence."""
    evidence = tuple(
        one._replace(before=written(one.before), now=written(one.now), worst=written(one.worst))
        for one in finding.evidence
        for written in (view.names.name(one.tag).as_written,)
    )
    return finding._replace(evidence=evidence, look_next=view.tag_index.keys_of(finding.check_next))

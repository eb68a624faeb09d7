"""Judging the runs of one shard, in any process: from files to verdicts."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable
from itertools import chain

from rltui.common.named_tuple import NamedTuple
from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.logs.follow.read_all import read_assigned
from rltui.many_runs.plan import Shard
from rltui.many_runs.verdict import ListedSource, ShardResult, Verdict, note_positions
from rltui.panes.evidence import names_of_evidence
from rltui.panes.runs.outcome_row import outcome
from rltui.rules.finding import Finding
from rltui.rules.run_status.nearby_hparams import NearbyHParamsLookup
from rltui.session.logs_until import LogsUntil
from rltui.session.outcome_curve import outcome_curve
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.session.shared_metric_names import SharedNames
from rltui.store.continued_runs import life_of


class EvaluationOptions(NamedTuple):
    """Options of evaluating, the same for all shards.

    now: seconds since 1970, the time of the verdict. logdirs: limit the search for files near logs.
    """

    config: Config
    now: float
    at_step: int | None = None
    verify: bool = False
    logdirs: tuple[str, ...] = ()


class _SharedNames(threading.local):
    """Names shared by the shards of a thread: most runs of a project log the same tags."""

    MAX_RUNS = 4096  # runs, then a new one is made, so that memory is bounded

    def __init__(self) -> None:
        self._names: SharedNames | None = None
        self._runs = 0

    def of(self, config: Config, runs: int) -> SharedNames:
        """The shared names for a configuration and so many more runs."""
        names, self._runs = self._names, self._runs + runs
        if names is None or names.config != config or self._runs > self.MAX_RUNS:
            names, self._runs = SharedNames(config), runs
            self._names = names
        return names


_SHARED = _SharedNames()


def evaluate(
    shard: Shard, options: EvaluationOptions, progress: Callable[[Delivery], None] | None = None
) -> ShardResult:
    """Read and evaluate the runs of a shard, here or in another process: the result can be pickled."""
    names = _SHARED.of(options.config, len(shard))
    looked_up = NearbyHParamsLookup(options.logdirs)
    nearby = looked_up.of if options.at_step is None else looked_up.without_totals
    session = Session(options.config, shared=names, nearby=nearby if options.logdirs else None)
    problems = chain.from_iterable(run.deliveries for run in shard)
    logs = [log for run in shard for log in run.logs]
    until = None
    if options.at_step is not None:
        until = LogsUntil(read_assigned(logs, verify=options.verify), options.at_step, progress)
    session.apply_all(
        chain(problems, read_assigned(logs, verify=options.verify)),
        until=until,
        progress=progress,
    )
    if options.at_step is None:  # consoles are not dated by step
        consoles = {run.name: run.consoles for run in shard if run.consoles}
        if consoles:
            from rltui.run_context.console.run_consoles import RunConsoles  # most runs have none

            session.set_consoles(RunConsoles(()).reports(consoles), options.now)
    asked = {run.name for run in shard if run.namesakes}
    verdicts = [
        verdict_of(view, options.now, at_step=options.at_step, hparams=name in asked)
        for name, view in session.runs.items()
    ]
    return ShardResult(verdicts, list(session.problems.values()))


def verdict_of(view: RunView, now: float, *, at_step: int | None = None, hparams: bool = False) -> Verdict:
    """The verdict on a run, now (seconds since 1970) or as of a step.

    hparams: whether to read the settings in its log, for a comparison with sister runs.
    """
    if at_step is None:
        view.update_run_over(now)
    run, found = view.run, view.evaluator.findings()
    last_wall = run.last_wall if math.isfinite(run.last_wall) else None
    if at_step is not None and last_wall is not None:
        now = last_wall
    healthy = view.evaluator.health == "ok"
    findings = tuple(with_written_values(view, one) for one in found)
    return Verdict(
        run=view.name,
        framework=view.framework,
        last_step=run.last_step,
        last_wall=last_wall,
        points=run.points,
        series=len(run.series),
        modified=view.modified if math.isfinite(view.modified) else None,
        health=view.health,
        unjudged=view.unjudged or (view.evaluator.unknown_outcome() if healthy else ""),
        now=now,
        pace=view.pace(now),
        findings=findings,
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
        curve=outcome_curve(view, hparams=hparams),
        given_name=view.given_name,
        names=names_of_evidence(view, findings),
    )


def with_written_values(view: RunView, finding: Finding) -> Finding:
    """A finding with evidence as in the log, and with the keys of the run to look at next.

    A ratio has the unit of neither of its keys, and stays as it is.
    """
    evidence = tuple(
        one
        if one.per
        else one._replace(before=written(one.before), now=written(one.now), worst=written(one.worst))
        for one in finding.evidence
        for written in (view.names.name(one.tag).as_written,)
    )
    return finding._replace(evidence=evidence, look_next=view.tag_index.keys_of(finding.check_next))

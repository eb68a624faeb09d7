"""Judging all runs below the LOGDIRs: plan, shards on an engine, and cached verdicts.

The modules that read and evaluate runs are imported on demand, since most verdicts are cached.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from rltui.cli.options.arguments import readable_logdirs
from rltui.cli.options.sharding import Work, chosen_engine, in_order, need_engine, planned
from rltui.cli.output.file_problems import note_problems
from rltui.cli.output.printing import fail
from rltui.cli.reading.loading import is_run_expression, load, nothing_to_read, read_config, reading_progress
from rltui.common.interpreter_settings import paused_collection
from rltui.many_runs.engine import Engine
from rltui.many_runs.merged_verdicts import EvaluatedRuns, merge, of_session
from rltui.many_runs.plan import LostShard, Plan, RunPlan, cut
from rltui.many_runs.verdict import ShardResult
from rltui.many_runs.verdict_cache import VerdictCache

if TYPE_CHECKING:
    from rltui.config import Config
    from rltui.many_runs.evaluate_shard import EvaluationOptions


def evaluate_runs(
    logdirs: Sequence[str],
    run_glob: str | None = None,
    *,
    at_step: int | None = None,
    verify: bool = False,
    compare_sisters: bool = False,
    how: Work | None = None,
) -> EvaluatedRuns:
    """Read and evaluate all runs. Ends the command with 2 if there is nothing to read.

    LOGDIRs that cannot be opened are named on standard error and in `unopened`; the others are evaluated.

    run_glob: value of `--run`. For an expression, all runs are read into one session. compare_sisters:
    whether every verdict needs its comparison with sister runs, not only those with a finding.
    """
    how = how or Work()
    logdirs, unopened = readable_logdirs(logdirs)
    if is_run_expression(run_glob):
        if how.shard is not None or how.engine.name != "local":
            fail("--shard and --engine take --run as a glob of names, not as an expression")
        session = load(logdirs, run_glob, at_step, charts=False, verify=verify)
        return replace(of_session(session, at_step=at_step), unopened=unopened)
    need_engine(how.engine, logdirs)
    config, now = read_config(logdirs, strict=True), time.time()
    cached = how.cached and at_step is None and not verify
    cache, cached_plan = _cached(logdirs, config, now, run_glob) if cached else (None, None)
    if cached_plan is None:
        plan = planned(logdirs, run_glob, how, verify=verify, context=at_step is None)
    else:
        plan = cached_plan if how.shard is None else cached_plan.shard(*how.shard)
    verdicts = {} if cache is None else cache.read(plan.runs)
    remaining = [run for run in plan.runs if run.name not in verdicts]
    problems = [problem for delivery in plan.deliveries for problem in delivery.batch.problems]
    parts: list[ShardResult | LostShard] = [ShardResult(list(verdicts.values()), problems)]
    if remaining:
        from rltui.many_runs.evaluate_shard import EvaluationOptions

        parts += _evaluate(remaining, EvaluationOptions(config, now, at_step, verify, logdirs), how.engine)
    whole = cache is not None and cached_plan is not None and not remaining and cache.compared
    evaluated = merge(parts, compared=whole and how.shard is None and not compare_sisters)
    if cache is not None and not whole:
        cache.write(evaluated.verdicts, plan if run_glob is None and how.shard is None else None)
    note_problems(
        problem for problem in evaluated.diagnostics() if problem.code in ("not-answering", "shard-lost")
    )
    if not evaluated.verdicts and not evaluated.lost and how.shard is None:
        nothing_to_read(logdirs, run_glob, evaluated.problems)
    return replace(evaluated, unopened=unopened)


def _cached(
    logdirs: Sequence[str], config: Config, now: float, run_glob: str | None
) -> tuple[VerdictCache, Plan | None]:
    """The verdicts of earlier commands, and the plan of all runs if nothing has changed since."""
    with paused_collection():
        cache = VerdictCache(logdirs, config, now)
        return cache, cache.plan() if run_glob is None else None


def _evaluate(
    runs: Sequence[RunPlan], options: EvaluationOptions, requested: Engine
) -> Iterator[ShardResult | LostShard]:
    from rltui.many_runs.evaluate_shard import evaluate

    engine = chosen_engine(requested, runs)
    shards = list(cut(runs, most_runs=engine.most_runs))
    if engine.name == "local":
        with reading_progress() as progress:
            for shard in shards:
                yield evaluate(shard, options, progress)
        return
    yield from in_order(shards, engine, partial(evaluate, options=options), "judged")

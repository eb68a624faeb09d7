"""Judging all runs below the LOGDIRs: the plan, the shards on an engine, and what is remembered of before."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import TypeVar

from rltui.cli.arguments import need
from rltui.cli.file_problems import note_problems
from rltui.cli.loading import ReadingProgress, load, nothing_to_read, read_config
from rltui.cli.output import fail, require_extra
from rltui.cli.sharding import Work
from rltui.panes.runs.selection import RunSelection
from rltui.paths import is_url
from rltui.shards import work
from rltui.shards.engines import Engine, EngineError, available_processors
from rltui.shards.judge import Judged, Question, judge, judge_as_json, read_json
from rltui.shards.judged_runs import JudgedRuns, merge, of_session
from rltui.shards.plan import Plan, RunPlan, Shard, cut, make_plan
from rltui.shards.verdict_cache import VerdictCache
from rltui.text import clean

T = TypeVar("T")

# From here on a second process of this machine is used: it takes about half a second to begin, so that it
# cannot pay for less work than a few seconds. 400 runs took 1.14 times less with two on a busy machine.
PAYS_RUNS = 1000
PAYS_BYTES = 200 << 20
BY_DEFAULT = 2  # processes of this machine that are used unasked


def judge_runs(
    logdirs: Sequence[str],
    run_glob: str | None = None,
    *,
    at_step: int | None = None,
    verify: bool = False,
    how: Work | None = None,
) -> JudgedRuns:
    """Read and judge everything below the folders. Ends the command with 2 when there is nothing to read.

    run_glob: as `--run` has it. An expression over what runs are is answered by one session of all runs.
    """
    how = how or Work()
    if RunSelection(run_glob).is_expression:
        if how.part is not None or how.engine.name != "local":
            fail("--shard and --engine take --run as a glob of names, not as an expression")
        session = load(tuple(logdirs), run_glob, at_step, charts=False, verify=verify)
        return of_session(session, at_step=at_step)
    need_engine(how.engine, logdirs)
    need(logdirs)
    question = Question(read_config(tuple(logdirs), strict=True), time.time(), at_step, verify)
    cache = known_plan = None
    known = {}
    if how.remembered and at_step is None and not verify:
        cache = VerdictCache(logdirs, question.config)
        known_plan = cache.plan(question.now) if run_glob is None else None
    if known_plan is None:
        plan = planned(logdirs, run_glob, how, verify=verify, consoles=at_step is None)
    else:
        plan = known_plan if how.part is None else known_plan.part(*how.part)
    if cache is not None:
        known = cache.read(plan.runs, question.now)
    left = [run for run in plan.runs if run.name not in known]
    judged = merge([_of_plan(plan), Judged(list(known.values())), *_judged(left, question, how.engine)])
    if cache is not None:
        whole = run_glob is None and how.part is None
        cache.write(judged.verdicts, plan if whole else None, question.now)
    note_problems(
        problem for problem in judged.diagnostics() if problem.code in ("not-answering", "shard-lost")
    )
    if not judged.verdicts and not judged.lost and how.part is None:
        nothing_to_read(tuple(logdirs), run_glob, judged.problems)
    return judged


def planned(
    logdirs: Sequence[str], run_glob: str | None, how: Work, *, verify: bool = False, consoles: bool = True
) -> Plan:
    """The runs to work on."""
    plan = make_plan(logdirs, run_glob=run_glob, verify=verify, consoles=consoles)
    return plan if how.part is None else plan.part(*how.part)


def need_engine(engine: Engine, logdirs: Sequence[str]) -> None:
    """End the command with 2 where the packages of an engine are missing, or it does not see the logs."""
    if engine.missing:
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


def _of_plan(plan: Plan) -> Judged:
    """What was said of folders and of files that are no logs."""
    problems = Judged()
    for delivery in plan.deliveries:
        problems.problems += delivery.batch.problems
    return problems


def _judged(
    runs: Sequence[RunPlan], question: Question, asked: Engine
) -> Iterator[Judged | work.Lost[Judged]]:
    engine = chosen_engine(asked, runs)
    shards = list(cut(runs, most_runs=engine.most_runs))
    if engine.name == "local":
        progress = ReadingProgress() if sys.stderr.isatty() else None
        for shard in shards:
            yield judge(shard, question, progress)
        if progress is not None:
            progress.wipe()
        return
    task = partial(judge_as_json, question=question)
    for shard, result in in_order(shards, engine, task, "judged"):
        yield work.Lost(shard, result.reason) if isinstance(result, work.Lost) else read_json(result)


def in_order(
    shards: Sequence[Shard], engine: Engine, task: Callable[[Shard], T], done: str
) -> Iterator[tuple[Shard, T | work.Lost[T]]]:
    """Each shard with its result; progress on standard error. Ends the command with 2 without the engine."""
    progress = _ShardProgress(shards, done) if sys.stderr.isatty() else None
    try:
        for shard, result in work.work(shards, engine, task):
            if progress is not None:
                progress.finished(shard)
            yield shard, result
    except EngineError as error:
        fail(str(error))
    finally:
        if progress is not None:
            progress.wipe()


class _ShardProgress:
    """A line on a terminal's standard error: how many runs are done."""

    def __init__(self, shards: Iterable[Shard], done: str) -> None:
        self._runs = sum(map(len, shards))
        self._done = 0
        self._word = done

    def finished(self, shard: Shard) -> None:
        self._done += len(shard)
        sys.stderr.write(f"\r\x1b[Krltui: {self._done:,} of {self._runs:,} runs {self._word}")
        sys.stderr.flush()

    def wipe(self) -> None:
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()

"""The document of `check --json` and the exit code that goes with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from rltui.cli.exit_codes import FOUND, STALLED, WRONG
from rltui.cli.output import about
from rltui.common.problem import Problem
from rltui.many_runs.common_trouble import common_trouble
from rltui.many_runs.merged_verdicts import JudgedRuns, merge
from rltui.many_runs.verdict import ShardResult, shard_result_as_plain, shard_result_from_plain
from rltui.rules.finding import RANK, worst
from rltui.rules.run_state.liveness import Liveness

# Problems of a metric, not of its file: files with such metrics are healthy.
REMARKS = frozenset({"not-reported"})
FailOn = Literal["warning", "critical", "never"]
# Seconds after its last point in which a run that ended early is still expected to be running. Without an end
# one run that was stopped months ago would decide the exit code of its whole folder for ever.
EXPECTED = 7 * 86400


def exit_code(judged: JudgedRuns, fail_on: FailOn, at_step: int | None = None) -> int:
    """The promised code for these runs. As of an earlier step no run has stalled.

    A run that failed or ended before its planned steps in the last week should be live, too: a stall of an
    hour ago is not over because nobody came.
    """
    verdicts = judged.verdicts
    if judged.lost or (verdicts and all(verdict.health == "unjudged" for verdict in verdicts)):
        return WRONG
    if fail_on == "never":
        return 0
    if max((verdict.rank for verdict in verdicts), default=-1) >= RANK[fail_on]:
        return FOUND
    if at_step is not None:
        return 0
    return STALLED if any(_should_be_live(verdict.liveness) for verdict in verdicts) else 0


def _should_be_live(found: Liveness) -> bool:
    recent = found.age is not None and found.age <= EXPECTED
    return found.state == "stalled" or (found.cut_short and recent)


def report(judged: JudgedRuns, logdirs: Sequence[str], at_step: int | None = None) -> dict[str, Any]:
    """The promised JSON document."""
    fields = streamed_report(judged, logdirs, at_step)
    return {key: list(item) if isinstance(item, Iterator) else item for key, item in fields.items()}


def streamed_report(judged: JudgedRuns, logdirs: Sequence[str], at_step: int | None = None) -> dict[str, Any]:
    """The same; its lists are iterators, so that of many runs it is never held whole."""
    verdicts, problems = judged.verdicts, judged.diagnostics()
    damaged = bool(verdicts) and all(verdict.damaged for verdict in verdicts)
    return {
        **head(logdirs, "unreadable" if damaged else worst(verdict.health for verdict in verdicts)),
        "runs": (verdict.document() for verdict in (() if damaged else verdicts)),
        "diagnostics": (problem.as_json() for problem in problems if problem.code not in REMARKS),
        "notes": (problem.as_json() for problem in problems if problem.code in REMARKS),
        "common": [one.as_json() for one in common_trouble(verdicts, at_step=at_step)],
    }


def head(logdirs: Sequence[str], health: str) -> dict[str, Any]:
    """The fields that every such document begins with."""
    return {**about(logdirs), "health": health}


def shard_block(judged: JudgedRuns, part: tuple[int, int]) -> dict[str, Any]:
    """What the document of a shard has besides: all that `from_documents` needs."""
    told = shard_result_as_plain(ShardResult(judged.verdicts, judged.problems))
    return {"index": part[0], "of": part[1], "lost": judged.lost, **told}


def from_documents(documents: Sequence[Mapping[str, Any]]) -> JudgedRuns:
    """The runs of the documents of all shards. A missing shard is a problem and makes the runs incomplete.

    Raises ValueError for documents that do not belong together, KeyError or TypeError for other data.
    """
    blocks = [document["shard"] for document in documents]
    if len({block["of"] for block in blocks}) > 1 or len({tuple(each["logdirs"]) for each in documents}) > 1:
        raise ValueError("the documents are of different cuts or LOGDIRs")
    by_index = {block["index"]: block for block in blocks}
    if len(by_index) < len(blocks):
        raise ValueError("a shard is there twice")
    judged = merge(map(shard_result_from_plain, by_index.values()))
    judged.lost = sum(block["lost"] for block in blocks)
    count = blocks[0]["of"]
    for index in sorted(set(range(1, count + 1)) - by_index.keys()):
        message = f"the document of shard {index}/{count} is missing: its runs are not in this one"
        judged.problems.append(Problem("error", "shard-missing", f"{index}/{count}", message))
        judged.lost += 1
    return judged

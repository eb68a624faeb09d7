"""The document of `check --json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rltui.cli.output.printing import about
from rltui.common.problem import Problem
from rltui.many_runs.common_findings import common_findings
from rltui.many_runs.merged_verdicts import EvaluatedRuns, merge
from rltui.many_runs.verdict import ShardResult, shard_result_as_plain, shard_result_from_plain
from rltui.rules.finding import worst

# Codes of problems that concern a metric, not its file.
REMARKS = frozenset({"not-reported"})


def report(evaluated: EvaluatedRuns, logdirs: Sequence[str], at_step: int | None = None) -> dict[str, Any]:
    """The document of `check --json`."""
    fields = streamed_report(evaluated, logdirs, at_step)
    return {key: list(item) if isinstance(item, Iterator) else item for key, item in fields.items()}


def streamed_report(
    evaluated: EvaluatedRuns, logdirs: Sequence[str], at_step: int | None = None
) -> dict[str, Any]:
    """The same with iterators for lists, so that it need not fit in memory."""
    verdicts, problems = evaluated.verdicts, evaluated.diagnostics()
    damaged = evaluated.unreadable()
    return {
        **head(logdirs, "unreadable" if damaged else worst(verdict.health for verdict in verdicts)),
        "runs": (verdict.document() for verdict in (() if damaged else verdicts)),
        "diagnostics": (problem.as_json() for problem in problems if problem.code not in REMARKS),
        "notes": (problem.as_json() for problem in problems if problem.code in REMARKS),
        "common": [one.as_json() for one in common_findings(verdicts, at_step=at_step)],
    }


def head(logdirs: Sequence[str], health: str) -> dict[str, Any]:
    """The first fields of the document."""
    return {**about(logdirs), "health": health}


def shard_block(evaluated: EvaluatedRuns, shard: tuple[int, int]) -> dict[str, Any]:
    """The additional field `shard` of a shard's document, which `from_documents` reads."""
    plain = shard_result_as_plain(ShardResult(evaluated.verdicts, evaluated.problems))
    return {"index": shard[0], "of": shard[1], "lost": evaluated.lost, **plain}


def from_documents(documents: Sequence[Mapping[str, Any]]) -> EvaluatedRuns:
    """The runs from the documents of all shards. A missing shard becomes a problem and counts as lost.

    Raises ValueError for documents that do not belong together, KeyError or TypeError for other data.
    """
    blocks = [document["shard"] for document in documents]
    if (
        len({block["of"] for block in blocks}) > 1
        or len({tuple(document["logdirs"]) for document in documents}) > 1
    ):
        raise ValueError("the documents are of different LOGDIRs, or of different numbers of shards")
    by_index = {block["index"]: block for block in blocks}
    if len(by_index) < len(blocks):
        raise ValueError("a shard is given twice")
    evaluated = merge(map(shard_result_from_plain, by_index.values()))
    evaluated.lost = sum(block["lost"] for block in blocks)
    count = blocks[0]["of"]
    for index in sorted(set(range(1, count + 1)) - by_index.keys()):
        message = f"the document of shard {index}/{count} is missing: its runs are not in this one"
        evaluated.problems.append(Problem("error", "shard-missing", f"{index}/{count}", message))
        evaluated.lost += 1
    return evaluated

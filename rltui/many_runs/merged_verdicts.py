"""The verdicts of all shards merged, for documents, lists and exit codes."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING

from rltui.common.problem import Problem, Problems
from rltui.logs.run_names import with_namesakes
from rltui.many_runs.plan import LostShard
from rltui.many_runs.verdict import ShardResult, Verdict, with_sister_comparisons
from rltui.store.continued_runs import Lineage, lineage_of_lives

if TYPE_CHECKING:
    from rltui.session.session import Session


@dataclass
class EvaluatedRuns:
    """All evaluated runs, the one with the newest point first.

    problems: of folders, of files that are no logs of any run, and of shards. lost: runs without a verdict.
    unopened: one problem for each LOGDIR that cannot be opened.
    """

    verdicts: list[Verdict]
    problems: list[Problem]
    lost: int = 0
    unopened: list[Problem] = field(default_factory=list)

    @property
    def incomplete(self) -> bool:
        """Whether it lacks runs that were asked for."""
        return bool(self.lost or self.unopened)

    @cached_property
    def lineage(self) -> dict[str, Lineage]:
        """By name, the runs that continue another run."""
        return lineage_of_lives(verdict.life for verdict in self.verdicts if verdict.life is not None)

    def unreadable(self) -> bool:
        """Whether there are runs, and nothing could be read of any."""
        return bool(self.verdicts) and all(verdict.damaged for verdict in self.verdicts)

    def diagnostics(self) -> list[Problem]:
        """Problems of files and data, each once: those of folders first, then run by run."""
        of_runs = (verdict.problems for verdict in self.verdicts)
        return all_diagnostics([*self.unopened, *self.problems], of_runs, self.lineage)


def all_diagnostics(
    of_folders: Iterable[Problem], of_runs: Iterable[Iterable[Problem]], lineage: Mapping[str, Lineage]
) -> list[Problem]:
    """All problems, each once, and the remarks that a run continues another one."""
    continued = [
        Problem("info", "continues", name, f"continues {of} at step {step}")
        for name, (of, step) in sorted(lineage.items(), key=lambda item: item[0])
    ]
    return list(dict.fromkeys((*of_folders, *chain.from_iterable(of_runs), *continued)))


def merge(parts: Iterable[ShardResult | LostShard], *, compared: bool = False) -> EvaluatedRuns:
    """The verdicts of all parts, in an order that does not depend on the order of the parts.

    compared: whether their findings include those of the comparison of sister runs.
    """
    verdicts: list[Verdict] = []
    problems = Problems()
    lost: list[Problem] = []
    missing = 0
    for part in parts:
        if isinstance(part, LostShard):
            missing += len(part.shard)
            lost.append(part.problem("not judged"))
        else:
            verdicts += part.verdicts
            problems.note(part.problems)
    verdicts.sort(key=lambda verdict: verdict.order)
    if not compared:
        verdicts = with_sister_comparisons(verdicts)
    evaluated = EvaluatedRuns(verdicts, [*problems.values(), *lost], missing)
    continued = {of for of, _ in evaluated.lineage.values()}
    for at, verdict in enumerate(verdicts if continued else ()):
        if verdict.run in continued:
            verdicts[at] = verdict._replace(pace=verdict.pace.continued())
    return evaluated


def of_session(session: Session, *, at_step: int | None = None) -> EvaluatedRuns:
    """The verdicts on the runs of a session."""
    from rltui.many_runs.evaluate_shard import verdict_of  # cached verdicts need none of its imports

    now = time.time()
    asked = with_namesakes(session.runs)
    verdicts = [
        verdict_of(view, now, at_step=at_step, hparams=name in asked) for name, view in session.runs.items()
    ]
    return merge([ShardResult(verdicts, list(session.problems.values()))])

"""Findings that several runs share: the same finding, or a stall at the same time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from rltui.common.named_tuple import NamedTuple
from rltui.logs.log_file_names import names
from rltui.many_runs.verdict import Verdict
from rltui.rules.finding import RANK

MAX_GAP_SECONDS = 300.0  # between last points: writers buffer up to two minutes, and steps are slow
MIN_RUNS = 2


class CommonFinding(NamedTuple):
    """A finding and the names of its runs."""

    kind: str  # the id of a finding, or `stalled`
    severity: str
    title: str
    runs: tuple[str, ...]
    steps: tuple[int, int] | None = None  # the lowest and highest at which it began
    since: float | None = None  # seconds since 1970
    host: str = ""  # that wrote all of them, where their logs say so

    def as_json(self) -> dict[str, object]:
        """The fields of `check --json`."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "title": self.title,
            "count": len(self.runs),
            "runs": list(self.runs),
            "since_step": None if self.steps is None else self.steps[0],
            "since": self.since,
            "host": self.host or None,
        }


def common_findings(verdicts: Sequence[Verdict], *, at_step: int | None = None) -> list[CommonFinding]:
    """The findings of at least two runs, the most severe first, then those of most runs.

    Remarks and findings that another one explains are left out. At an earlier step no run has stalled.
    """
    found = [*_findings(verdicts), *(_stalls(verdicts) if at_step is None else ())]
    found = [one for one in found if len(one.runs) >= MIN_RUNS]
    return sorted(found, key=lambda one: (-RANK[one.severity], -len(one.runs), one.kind, one.runs))


def _findings(verdicts: Iterable[Verdict]) -> list[CommonFinding]:
    titles: dict[tuple[str, str, str], str] = {}
    runs: dict[tuple[str, str, str], list[tuple[str, int]]] = {}
    for verdict in verdicts:
        for one in verdict.findings:
            if one.rank and one.explained_by is None:
                # One rule finds all exceptions: only its title says which.
                key = (one.id, one.severity, one.title if one.console is not None else "")
                titles.setdefault(key, one.title or one.id)
                runs.setdefault(key, []).append((verdict.run, one.since_step))
    return [
        CommonFinding(
            kind=kind,
            severity=severity,
            title=titles[kind, severity, exception],
            runs=tuple(sorted(run for run, _ in found)),
            steps=(min(step for _, step in found), max(step for _, step in found)),
        )
        for (kind, severity, exception), found in runs.items()
    ]


def _stalls(verdicts: Iterable[Verdict]) -> list[CommonFinding]:
    """Stalled runs, grouped by the time of their last points."""
    silent = sorted(
        (verdict.pace.last_wall, verdict.run, _hosts(verdict))
        for verdict in verdicts
        if verdict.liveness.state == "stalled" and verdict.pace.last_wall is not None
    )
    groups: list[list[tuple[float, str, frozenset[str]]]] = []
    for wall, run, hosts in silent:
        if not groups or wall - groups[-1][-1][0] > MAX_GAP_SECONDS:
            groups.append([])
        groups[-1].append((wall, run, hosts))
    stalls = []
    for group in groups:
        common = frozenset.intersection(*(hosts for _, _, hosts in group))
        stalls.append(
            CommonFinding(
                kind="stalled",
                severity="warning",
                title="stalled",
                runs=tuple(sorted(run for _, run, _ in group)),
                since=group[0][0],
                host=next(iter(common)) if len(common) == 1 else "",
            )
        )
    return stalls


def _hosts(verdict: Verdict) -> frozenset[str]:
    """The machines that wrote its event files, from the names of these."""
    found = (names().writer.search(source.path) for source in verdict.sources)
    return frozenset(match["writer"].rpartition(".")[0] for match in found if match is not None)

"""The verdict on a run, as data for documents, lists, the cache and other processes."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, field
from typing import Any

from rltui.common.json_value import json_value
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.logs.run_names import shown_name
from rltui.panes.runs.outcome import Outcome
from rltui.rules.finding import (
    EvidenceName,
    Finding,
    RunHealth,
    as_json,
    from_json,
    health_of,
    number_of,
    order,
)
from rltui.rules.run_status.liveness import Liveness, RunPace
from rltui.rules.run_status.liveness_finding import liveness_finding
from rltui.session.outcome_curve import OutcomeCurve
from rltui.session.sister_runs import FINDING_ID, SisterComparison, sister_comparisons, sister_finding
from rltui.store.continued_runs import Life

USER_RULE_PREFIX = "own-"  # ids of rules in the user's configuration begin with it
Plain = dict[str, Any]  # what JSON can hold


class ListedSource(NamedTuple):
    """A log file of a run, as lists show it."""

    path: str
    format: str
    bytes: int
    duplicate: bool


class Verdict(NamedTuple):
    """One run. `now` of `liveness` is the time at which it was evaluated."""

    run: str
    framework: str
    last_step: int | None
    last_wall: float | None  # seconds since 1970
    points: int
    series: int
    modified: float | None  # seconds since 1970; newer runs come first
    health: RunHealth
    unjudged: str  # why the run or its outcome could not be judged; empty if both could
    now: float  # seconds since 1970
    pace: RunPace
    findings: tuple[Finding, ...]  # most important first
    notes: frozenset[int]  # positions of findings that are remarks on a healthy run
    problems: tuple[Problem, ...]  # of its files and data
    sources: tuple[ListedSource, ...]
    consoles: tuple[str, ...]  # paths
    life: Life | None
    outcome: Outcome | None
    last_error: str  # in its consoles, if it stopped without a known reason
    last_line: str  # of its console
    curve: OutcomeCurve | None = None  # of its outcome, for the comparison with its sisters
    sister_comparison: SisterComparison | None = None  # with its sisters
    given_name: str = ""  # its display name in a tracker
    names: tuple[EvidenceName, ...] = ()  # of the keys in its findings, for texts

    @property
    def name(self) -> str:
        """The run's folder relative to LOGDIR."""
        return self.run

    def title(self, logdirs: Sequence[str]) -> str:
        """Its name for people, after its display name."""
        return f"{self.given_name} {shown_name(self.run, logdirs)}".lstrip()

    @property
    def order(self) -> tuple[float, str]:
        """A key that sorts the run with the newest point first."""
        return (math.inf if self.modified is None else -self.modified, self.run)

    @property
    def liveness(self) -> Liveness:
        """Live, stalled or ended when it was evaluated."""
        return self.pace.at(self.now)

    @property
    def liveness_finding(self) -> Finding | None:
        """The remark that it writes no more."""
        return liveness_finding(self.liveness, self.last_step, self.last_line, self.findings)

    @property
    def rank(self) -> int:
        """The highest severity of its findings; -1 without any."""
        return max((finding.rank for finding in self.findings), default=-1)

    @property
    def damaged(self) -> bool:
        """Whether its files have problems and no points."""
        return not self.points and any(problem.level != "info" for problem in self.problems)

    def describe(self) -> dict[str, Any]:
        """The fields that `runs --json` and `check --json` share, as promised."""
        return {
            "run": self.run,
            **({"given_name": self.given_name} if self.given_name else {}),
            "framework": self.framework,
            "state": (liveness := self.liveness).state,
            "state_certain": liveness.known,
            "last_step": self.last_step,
            "last_wall_time": self.last_wall,
            "points": self.points,
            "health": self.health,
            **({"message": self.unjudged} if self.unjudged else {}),
        }

    def document(self) -> dict[str, Any]:
        """The run in `check --json`."""
        return {
            **self.describe(),
            "findings": [as_json(one) for at, one in enumerate(self.findings) if at not in self.notes],
            "notes": [as_json(one) for one in self._all_notes()],
        }

    def all_findings(self) -> Iterator[Finding]:
        """Its findings, notes among them, and the remark that it writes no more."""
        yield from self.findings
        if (state := self.liveness_finding) is not None:
            yield state

    def _all_notes(self) -> Iterator[Finding]:
        count = len(self.findings)
        return (one for at, one in enumerate(self.all_findings()) if at in self.notes or at >= count)


@dataclass(slots=True)
class ShardResult:
    """The verdicts on the runs of a shard, and problems of files that belong to no run."""

    verdicts: list[Verdict] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)


def with_sister_comparisons(verdicts: Sequence[Verdict]) -> list[Verdict]:
    """The verdicts with a new comparison of sister runs in place of an earlier one."""
    found = sister_comparisons(verdict.curve for verdict in verdicts if verdict.curve is not None)
    return [_with_comparison(verdict, found.get(verdict.run)) for verdict in verdicts]


def _with_comparison(verdict: Verdict, sister_comparison: SisterComparison | None) -> Verdict:
    own = [one for one in verdict.findings if one.id != FINDING_ID]
    found = sister_finding(sister_comparison, own) if sister_comparison is not None else None
    findings = tuple(sorted(own if found is None else (*own, found), key=order))
    if findings == verdict.findings:
        return verdict if sister_comparison is None else verdict._replace(sister_comparison=sister_comparison)
    health = health_of(findings)
    return verdict._replace(
        sister_comparison=sister_comparison,
        findings=findings,
        health="unjudged" if verdict.unjudged and health == "ok" else health,
        notes=note_positions(findings, healthy=health == "ok"),
    )


def note_positions(findings: Sequence[Finding], *, healthy: bool) -> frozenset[int]:
    """The positions of findings that are notes: all of a healthy run, except those of the user's own rules.

    In a run that is not healthy the same remarks belong to the diagnosis.
    """
    return frozenset(
        at for at, one in enumerate(findings) if healthy and not one.id.startswith(USER_RULE_PREFIX)
    )


class TagSets:
    """Sets of tags by number. Runs of one project log the same tags: each set is stored once."""

    def __init__(self, plain: Iterable[Iterable[str]] = ()) -> None:
        self._sets = [frozenset(tags) for tags in plain]
        self._numbers = {tags: number for number, tags in enumerate(self._sets)}

    def number(self, tags: frozenset[str]) -> int:
        """The number of a set."""
        found = self._numbers.get(tags)
        if found is None:
            found = self._numbers[tags] = len(self._sets)
            self._sets.append(tags)
        return found

    def tags(self, number: int) -> frozenset[str]:
        """The set of a number."""
        return self._sets[number]

    def as_plain(self) -> list[list[str]]:
        """All sets, for JSON."""
        return [sorted(tags) for tags in self._sets]


def as_plain(verdict: Verdict, sets: TagSets) -> Plain:
    """A verdict for JSON; its tags go into `sets`."""
    life = verdict.life
    plain = {
        **verdict._asdict(),
        "pace": list(verdict.pace),
        "findings": [json_value(as_json(one)) for one in verdict.findings],
        "notes": sorted(verdict.notes),
        "problems": [astuple(problem) for problem in verdict.problems],
        "sources": [list(source) for source in verdict.sources],
        "life": None if life is None else [sets.number(life.tags), *life[2:]],
        "outcome": None if verdict.outcome is None else json_value(list(verdict.outcome)),
        "curve": None if verdict.curve is None else list(verdict.curve),
        "names": list(map(list, verdict.names)),
    }
    del plain["sister_comparison"]  # computed again when verdicts are merged
    return plain


def shard_result_as_plain(evaluated: ShardResult) -> Plain:
    """A shard's result for JSON."""
    sets = TagSets()
    verdicts = [as_plain(verdict, sets) for verdict in evaluated.verdicts]
    return {"verdicts": verdicts, "tags": sets.as_plain(), "problems": list(map(astuple, evaluated.problems))}


def shard_result_from_plain(plain: Plain) -> ShardResult:
    """The result written by `shard_result_as_plain`. Raises KeyError, TypeError, ValueError."""
    sets = TagSets(plain["tags"])
    verdicts = [from_plain(each, sets) for each in plain["verdicts"]]
    return ShardResult(verdicts, [Problem(*problem) for problem in plain["problems"]])


def from_plain(plain: Mapping[str, Any], sets: TagSets) -> Verdict:
    """The verdict written by `as_plain`. Raises KeyError, TypeError or ValueError for other data."""
    life = plain["life"]
    known = {
        **plain,
        "framework": sys.intern(plain["framework"]),
        "unjudged": sys.intern(plain["unjudged"]),
        "pace": RunPace(*plain["pace"]),
        "findings": tuple(map(_finding, plain["findings"])),
        "notes": frozenset(plain["notes"]),
        "problems": tuple(Problem(*problem) for problem in plain["problems"]),
        "sources": tuple(ListedSource(*source) for source in plain["sources"]),
        "consoles": tuple(plain["consoles"]),
        "life": None if life is None else Life(plain["run"], sets.tags(life[0]), *life[1:]),
        "outcome": _outcome(plain["outcome"]),
        "curve": _curve(plain["curve"]),
        "names": tuple(EvidenceName(*map(sys.intern, each)) for each in plain["names"]),
    }
    return Verdict(**known)


def _outcome(plain: Sequence[Any] | None) -> Outcome | None:
    if plain is None:
        return None
    title, tag, unit, direction, last, best, best_step, exact = plain
    return Outcome(title, tag, unit, direction, number_of(last), number_of(best), best_step, exact)


def _curve(plain: Sequence[Any] | None) -> OutcomeCurve | None:
    if plain is None:
        return None
    run, metric, tag, framework, hparams, names, steps, levels = plain
    return OutcomeCurve(run, metric, tag, framework, hparams, names, tuple(steps), tuple(levels))


def _finding(plain: Plain) -> Finding:
    """A finding; its texts, most of which come from rules, are interned."""
    for name in ("id", "severity", "pane", "advice", "title", "state", "source"):
        plain[name] = sys.intern(plain[name])
    for name in ("metrics", "canonical", "check_next"):
        plain[name] = list(map(sys.intern, plain[name]))
    return from_json(plain)

"""Labelled logs: expected findings, replays, and comparing both."""

from __future__ import annotations

import tempfile
import tomllib
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np

from rltui.demo import recording
from rltui.demo.replay import Replay as Writer
from rltui.logs.follow.read_all import read_all
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import Finding
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.store import series_table
from rltui.store.points import NewPoints, Points
from rltui.store.store import Store
from tests.support.shared import BUNDLED

PIECES = 100  # deliveries that a run is replayed in
WHOLE = 1 << 20  # points of a series that a replay holds: more than any labelled log has
LATE = 0.2  # share of the run after the onset within which a fault must be told
EXPECTED = {"recording": recording.FOLDER / "expected.toml", "log": BUNDLED / "expected.toml"}


@dataclass(frozen=True)
class Fault:
    """A cause that can be seen in a log, and what must be told of it."""

    onset: int  # the first step at which it can be seen
    because: str  # what begins there
    findings: tuple[str, ...]  # all must be told, at or after the onset and not late


@dataclass(frozen=True)
class Label:
    """The expected findings of a log. A healthy log has no alarm at any time."""

    name: str
    kind: str  # recording or log
    healthy: bool = False
    faults: tuple[Fault, ...] = ()  # in the order of their onsets
    also: tuple[str, ...] = ()  # true as well

    @property
    def onset(self) -> int:
        """The first step at which anything is wrong."""
        return min(fault.onset for fault in self.faults)


@dataclass
class Told:
    """The findings during a replay. Steps are those of the newest point at the time."""

    first: dict[str, int] = field(default_factory=dict)  # id -> step at which it was first told
    alarms: dict[str, int] = field(default_factory=dict)  # likewise, from when on it was a warning or worse
    leading: dict[str, int] = field(default_factory=dict)  # likewise of alarms that no symptom explained
    last: list[Finding] = field(default_factory=list)  # the findings at the end
    ranks: list[tuple[int, int]] = field(default_factory=list)  # step, and the worst severity (0: no alarm)
    sentence: str = ""
    begin: int = 0
    end: int = 0

    def flaps(self, onset: int = 0) -> int:
        """How often the health went back to ok after an alarm that came at or after the onset."""
        later = [rank for step, rank in self.ranks if step >= onset]
        return sum(before > 0 == rank for before, rank in pairwise(later))


def labels() -> list[Label]:
    """The labels of the recordings and of the bundled logs."""
    found = []
    for kind, path in EXPECTED.items():
        for name, row in tomllib.loads(path.read_text()).items():
            faults = [each for each in (row, row.get("then")) if each and not each.get("healthy")]
            label = Label(
                name, kind, row.pop("healthy", False), tuple(map(_fault, faults)), tuple(row.pop("also", ()))
            )
            assert not row.keys() - {"onset", "because", "findings", "then"}, name
            found.append(label)
    return found


def _fault(row: dict[str, Any]) -> Fault:
    return Fault(row["onset"], row["because"], tuple(row["findings"]))


@cache
def told_of(label: Label) -> Told:
    """The replay of a labelled log; of several runs, the one with the most steps."""
    if label.kind == "log":
        return longest(replayed(BUNDLED / label.name))
    with tempfile.TemporaryDirectory() as folder:
        found = recording.read(label.name)
        Writer(found, Path(folder), clock=lambda: 1.76e9).write_until(len(found.rows))
        return longest(replayed(Path(folder)))


def longest(runs: list[Told]) -> Told:
    """The run with the most steps."""
    return max(runs, key=lambda each: each.end - each.begin)


def replayed(path: Path) -> list[Told]:
    """Replay every run below a path from its first point, with all points kept exactly."""
    session = Session()
    session.store = Store(window=WHOLE)
    with patch.object(series_table, "SIZES", ()):  # a run of many series holds half a thousand points of each
        for delivery in read_all([path]):
            session.apply((delivery,))
            session.evaluate()
        session.evaluate(force=True)
        return [replay(view) for view in session.ordered() if view.run.series]


def replay(view: RunView) -> Told:
    """Feed a run to an evaluator in about a hundred pieces, recording the findings after each.

    At its end it is over, as every labelled log is.
    """
    columns = {tag: series.recent() for tag, series in view.run.series.items() if series.count}
    steps = np.unique(np.concatenate([points.step for points in columns.values()]))
    cuts = np.unique(steps[np.linspace(0, len(steps) - 1, min(PIECES, len(steps))).astype(int)])
    evaluator, told = Evaluator(view.run, view.names), Told(begin=int(steps[0]), end=int(steps[-1]))
    given = dict.fromkeys(columns, 0)
    for cut in cuts.tolist():
        fresh = []
        for tag, points in columns.items():
            upto = int(np.searchsorted(points.step, cut, "right"))
            if upto > given[tag]:
                part = slice(given[tag], upto)
                piece = Points(points.step[part], points.wall_time[part], points.value[part])
                fresh.append(NewPoints(tag, piece, None))
                given[tag] = upto
        evaluator.feed(fresh)
        told.ranks.append((cut, max((finding.rank for finding in evaluator.findings()), default=0)))
        for finding in evaluator.findings():
            told.first.setdefault(finding.id, cut)
            if finding.rank:
                told.alarms.setdefault(finding.id, cut)
                if finding.explained_by is None:
                    told.leading.setdefault(finding.id, cut)
    evaluator.set_run_over(True)
    for finding in evaluator.findings():
        if finding.rank:
            told.alarms.setdefault(finding.id, told.end)
            if finding.explained_by is None:
                told.leading.setdefault(finding.id, told.end)
    told.last, told.sentence = evaluator.findings(), evaluator.sentence()
    return told


def early(told: Told, label: Label) -> dict[str, int]:
    """False alarms: of anything before the first onset, of a fault before its own."""
    onsets = {name: fault.onset for fault in label.faults for name in fault.findings}
    return {name: step for name, step in told.alarms.items() if step < onsets.get(name, label.onset)}


def late(told: Told, fault: Fault) -> dict[str, int | None]:
    """The expected ids without an alarm soon after the onset, with the step of a later alarm."""
    limit = fault.onset + LATE * (told.end - told.begin)
    steps = {name: told.alarms.get(name) for name in fault.findings}
    return {name: step for name, step in steps.items() if step is None or step > limit}

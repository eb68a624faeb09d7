"""What lists of runs say of one, read or remembered: its outcome, how far it is, what is wrong."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width
from rltui.draw.cells import cut
from rltui.draw.numbers import format_age, format_duration, short_step
from rltui.rules.finding import NO_POINTS, Finding
from rltui.rules.run_state.liveness import Liveness

if TYPE_CHECKING:
    from rltui.run_context.hparams.hparams import HParam
    from rltui.session.sister_runs import Standing

LEAST_WORDS = 6  # cells of a finding's title beside its step


class Outcome(NamedTuple):
    """The metric that says most of how a run does: its last value and its best one.

    best_step: where the best value was reached; `exact` is False where only a range of steps is known.
    """

    title: str
    tag: str
    unit: str
    direction: str
    last: float | None
    best: float | None = None
    best_step: int | None = None
    exact: bool = True


class ListedRun(Protocol):
    """What lists ask of a run: of one that has been read (`RunFacts`), or of what is remembered of it."""

    name: str  # the run's folder relative to LOGDIR
    given_name: str  # what a person called it in its tracker; empty where nobody did
    framework: str  # such as `verl`; `unknown` when the tags say nothing
    modified: float  # when it last wrote, seconds since 1970; infinite where that is not known
    series: int  # how many it has
    points: int  # that were read
    health: str  # ok, unjudged, warning or critical
    step: int | None  # the last one
    standing: Standing | None  # beside its sister runs; None without enough of them

    @property
    def alive(self) -> Liveness:
        """Live, stalled or ended; how long ago, how much longer."""
        ...

    @property
    def share(self) -> float | None:
        """How much of the planned steps is done, 0 to 1."""
        ...

    @property
    def outcome(self) -> Outcome | None:
        """Last and best value of the metric that says most; None without points."""
        ...

    @property
    def findings(self) -> list[Finding]:
        """What is wrong and nothing else explains, worst first."""
        ...

    @property
    def why(self) -> str:
        """The worst finding in a few words, with its step; a stall; else what could not be judged."""
        ...

    @property
    def project(self) -> str:
        """What its settings call the project, else the folder that it lies in."""
        ...

    def setting(self, key: str) -> HParam | None:
        """A setting by its key or the end of one; None where it says nothing of it."""
        ...

    def last_value(self, key: str) -> tuple[float | None, str] | None:
        """Last value and unit of a metric by its tag or id; None where the run has none."""
        ...


def share_done(step: int | None, total: int | None) -> float | None:
    """How much of the planned steps is done, 0 to 1; None where they are not known."""
    return min(max(step / total, 0.0), 1.0) if total and step is not None else None


def why_so(findings: Sequence[Finding], alive: Liveness, last_error: str, unjudged: str) -> str:
    """Why a run is as it is: the worst findings that nothing else explains, a stall, its last error."""
    said = [f"{one.title or one.id}{_at(one)}" for one in findings if one.rank][:2]
    if alive.state == "stalled":
        age = f" {format_age(alive.age).removesuffix(' ago')}" if alive.age is not None else ""
        usual = f" (usual gap {format_duration(alive.gap)})" if alive.gap else ""
        said.insert(1, f"{alive.word}{age}{usual}")  # its state stands beside it: the cause comes first
    elif alive.cut_short:
        code = f"exit code {alive.exit_code}" if alive.exit_code else ""
        done = f"ended early, {math.floor((alive.progress or 0.0) * 100)}% done" if alive.unfinished else ""
        said.insert(1, ", ".join(filter(None, (code, done))))
    if last_error:
        said.append(f"last error: {last_error}")
    if not said or unjudged == NO_POINTS:
        said.insert(0, unjudged)
    return "; ".join(said)


def fitted_why(why: str, cells: int) -> str:
    """What `why_so` says, cut to so many cells; the step of the first finding is left whole."""
    first = why.partition("; ")[0]
    words, at, step = first.rpartition(" @")
    room = cells - cell_width(at + step)
    if at and cell_width(first) > cells and room >= LEAST_WORDS:
        return f"{cut(words, room)}{at}{step}"
    return cut(why, cells)


def _at(finding: Finding) -> str:
    return "" if finding.console is not None else f" @{short_step(finding.since_step, 9)}"

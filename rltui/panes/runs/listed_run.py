"""What lists of runs need of a run, whether it was read or its verdict was cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from rltui.common.display_text import cell_width
from rltui.common.regex import regex
from rltui.draw.cells import cut
from rltui.draw.numbers import format_age, format_duration, format_progress, short_step
from rltui.draw.symbols import HEALTH_ROLE
from rltui.draw.value_range import share_of
from rltui.rules.finding import NO_POINTS, NOTHING_READ, Finding
from rltui.rules.run_status.liveness import GONE, Liveness

if TYPE_CHECKING:
    from rltui.panes.runs.outcome import Outcome
    from rltui.run_context.hparams.hparams import HParam
    from rltui.session.sister_runs import SisterComparison

MIN_TITLE = 6  # cells of a finding's title before its step
_USUAL_GAP = regex(r" \(usual gap [^)]*\)")
MIN_NEXT = 4  # cells of the beginning of a second finding: `; K…`


class ListedRun(Protocol):
    """What lists need of a run that was read (`RunFacts`, which documents it), or of a cached verdict."""

    name: str  # the run's folder relative to LOGDIR
    given_name: str  # its name in the tracker; empty without one
    framework: str  # such as `verl`; `unknown` if no tag is specific
    modified: float  # time of its last write, seconds since 1970; infinite if it is not known
    series: int  # number of series
    points: int  # number of points that were read
    health: str  # ok, unjudged, warning or critical
    urgency: str  # the same without findings that the user has acknowledged
    step: int | None  # the last one
    sister_comparison: SisterComparison | None  # compared with its sister runs; None without enough of them

    @property
    def liveness(self) -> Liveness: ...

    @property
    def share(self) -> float | None: ...

    @property
    def outcome(self) -> Outcome | None: ...

    @property
    def findings(self) -> list[Finding]: ...

    @property
    def why(self) -> str: ...

    @property
    def project(self) -> str: ...

    def hparam(self, key: str) -> HParam | None: ...

    def last_value(self, key: str) -> tuple[float | None, str] | None: ...


def health_role(run: ListedRun) -> str:
    """The role of the sign of its health: dim where all that is wrong has been acknowledged."""
    return "dim" if run.urgency == "ok" != run.health else HEALTH_ROLE.get(run.urgency, "text")


def share_done(step: int | None, total: int | None) -> float | None:
    """The share of the planned steps that is done, 0 to 1; None if they are not known."""
    return share_of(step, 0, total) if total and step is not None else None


def summary_of(findings: Sequence[Finding], liveness: Liveness, last_error: str, unjudged: str) -> str:
    """A run in one line: the two worst unexplained findings, a stall or a deleted log, its last error.

    Findings that read alike, of the reward and of the rate of success, are one.
    """
    parts = list(dict.fromkeys(f"{one.title or one.id}{_at(one)}" for one in findings if one.rank))[:2]
    if liveness.state == "stalled":
        age = f" {format_age(liveness.age).removesuffix(' ago')}" if liveness.age is not None else ""
        usual = f" (usual gap {format_duration(liveness.gap)})" if liveness.gap and liveness.gap >= 1 else ""
        parts.insert(1, f"{liveness.word}{age}{usual}")  # after the cause, since lists show the state as well
    elif liveness.quiet == GONE:
        parts.insert(1, GONE)
    elif liveness.interrupted:
        parts.insert(1, "stopped by its user")
    elif liveness.cut_short:
        code = f"exit code {liveness.exit_code}" if liveness.exit_code else ""
        done = f"ended early, {format_progress(liveness.progress or 0.0)} done" if liveness.unfinished else ""
        parts[1:1] = filter(None, [", ".join(filter(None, (code, done)))])
    if last_error:
        parts.append(f"last error: {last_error}")
    if not parts or unjudged.startswith((NO_POINTS, NOTHING_READ)):
        parts.insert(0, unjudged)
    return "; ".join(parts)


def fitted_summary(summary: str, cells: int) -> str:
    """A summary of `summary_of` cut to `cells`, but not within the step of the first finding.

    The usual gap of a stalled run goes first.
    """
    if cell_width(summary) > cells:
        summary = _USUAL_GAP.sub("", summary)
    first = summary.partition("; ")[0]
    title, at, step = first.rpartition(" @")
    room = cells - cell_width(at + step)
    if at and cell_width(first) > cells and room >= MIN_TITLE:
        return f"{cut(title, room)}{at}{step}"
    if cell_width(first) <= cells < cell_width(first) + MIN_NEXT and cells < cell_width(summary):
        return first  # `@12…` would read as the beginning of a longer number
    return cut(summary, cells)


def _at(finding: Finding) -> str:
    return "" if finding.console is not None else f" @{short_step(finding.since_step, 9)}"

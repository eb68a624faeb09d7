"""The header of every pane as data: the run, its progress and its health."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import (
    format_age,
    format_duration,
    format_pace,
    format_si,
    format_step,
    format_two_digits,
)
from rltui.panes.pane_tabs import RunCounter, overview_tables
from rltui.rules.finding import Finding, health_of
from rltui.rules.rule_messages import headline_of, sentence_of
from rltui.rules.run_status.liveness import GONE, Liveness
from rltui.store.points import sensible

if TYPE_CHECKING:
    from rltui.run_context.jobs.scheduler import Job
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings
    from rltui.store.series import Series


class Header(NamedTuple):
    """The run, its progress and health. At an earlier step `liveness` has no ages: these are of now."""

    run: str
    framework: str
    liveness: Liveness
    step: int | None
    health: str
    sentence: str
    points: int
    moment: str = ""  # `past` or `paused`, in place of the state, if the present is not shown
    counter: tuple[float, str] | None = None  # tokens, environment steps or episodes so far, and their name
    shown_name: str = ""  # the name that is displayed
    given_name: str = ""  # its name in a tracker; `run` is then its id
    short_name: str = ""  # displayed if the name does not fit
    token_rate: float | None = None  # tokens per second
    reached: int | None = None  # the last step of the run, if an earlier one is shown
    job: Job | None = None  # the scheduler job that writes the run
    job_left: float | None = None  # seconds until its limit
    last_error: str = ""  # printed by a run that stopped
    headline: str = ""  # the worst finding, if there is no room for the sentence
    outcome_known: bool = True  # False: it logs no outcome
    acknowledged: bool = False  # all that is wrong has been acknowledged

    @property
    def state(self) -> str:
        """The state of the run, or that of the screen if the present is not shown."""
        return self.moment or self.liveness.shown_state

    @property
    def state_word(self) -> str:
        """The state as displayed: `ended?` if it is a guess."""
        return self.moment or self.liveness.word

    @property
    def facts(self) -> list[str]:
        """The facts below the run's name in documents."""
        texts = (self.framework, self.state_word, self.step_text, self.age_text, self.points_text)
        return [*filter(None, texts)]

    @property
    def step_text(self) -> str:
        """`step 812 / 1,000`."""
        if self.step is None:
            return "no scalars yet"
        text = f"step {format_step(self.step)}"
        if self.reached is not None:
            return f"{text} of {format_step(self.reached)}"
        total = self.liveness.total
        return f"{text} / {format_step(total)}" if total else text

    @property
    def age_text(self) -> str:
        """`last point 12s ago`; `age unknown` of a copy without times."""
        liveness = self.liveness
        if liveness.age is None or not liveness.age_known:
            return "age unknown" if self.points and self.state_word == "ended?" else ""
        written = liveness.last_write if self.step is not None else "last written"
        return f"{written} {format_age(coarse_age(liveness.age))}"

    @property
    def silence_text(self) -> str:
        """`usual gap 1m 04s · between steps, longest phase generation`; empty unless the run stopped."""
        liveness = self.liveness
        if liveness.quiet == GONE:
            return "The log file is gone; what was read of it is kept"
        if liveness.interrupted or liveness.cut_short:
            code = (
                f"exit code {liveness.exit_code} " if liveness.exit_code and not liveness.interrupted else ""
            )
            return f"{code}at {self.step_text.replace(' / ', ' of ')}"
        if liveness.state != "stalled" or not liveness.age_known:
            return ""
        usual = f"usual gap {format_duration(liveness.gap)}" if liveness.gap and liveness.gap >= 1 else ""
        over = "" if liveness.total else "it may have finished: no planned end is known"
        return " · ".join(filter(None, (usual, liveness.quiet, over))) or "nothing new is written"

    @property
    def end_text(self) -> str:
        """`usual gap 1m 04s · rollout.jsonl stopped first. Last error: ...`; empty unless the run stopped."""
        error = f"Last error: {self.last_error}" if self.last_error else ""
        return ". ".join(filter(None, (self.silence_text, error)))

    @property
    def silence_word(self) -> str:
        """The state of a run that stopped: `stalled 35m`, `ended early`, `log gone`."""
        liveness = self.liveness
        if liveness.quiet == GONE:
            return "log gone"
        if liveness.interrupted:
            return "stopped by its user"
        if liveness.cut_short:
            return "failed" if liveness.failed else "ended early"
        age = (
            f" {format_age(coarse_age(liveness.age or 0.0)).removesuffix(' ago')}"
            if liveness.age_known
            else ""
        )
        return f"{self.state_word}{age}"

    @property
    def rate_text(self) -> str:
        """`12 steps/min   4.1k tok/s` of a live run; empty if it is unknown."""
        if self.state != "live" or not self.liveness.pace:
            return ""
        text = format_pace(self.liveness.pace)
        return text if self.token_rate is None else f"{text}   {format_two_digits(self.token_rate)} tok/s"

    @property
    def eta_text(self) -> str:
        """`eta 42m`."""
        eta = self.liveness.eta
        return "" if eta is None or not math.isfinite(eta) else f"eta {format_duration(eta)}"

    @property
    def job_text(self) -> str:
        """`job 4711, 3h 12m left`, `job 4711 pending`; empty without a job."""
        if self.job is None:
            return ""
        state = "" if self.job.state == "running" else f" {self.job.state}"
        if self.job_left is None or state:
            return f"job {self.job.id}{state}"
        return f"job {self.job.id}, {format_duration(self.job_left // 60 * 60)} left"

    @property
    def counter_text(self) -> str:
        """`1.24M tokens`."""
        return "" if self.counter is None else f"{format_si(self.counter[0])} {self.counter[1]}"

    @property
    def points_text(self) -> str:
        """`48.7k points`."""
        return f"{format_si(self.points)} {'point' if self.points == 1 else 'points'}"


def onset_age(view: RunView, finding: Finding, now: float) -> str:
    """`4m ago`: when a finding of a live or stalled run began; empty if that is not known exactly."""
    liveness = view.liveness(now)
    if liveness.state not in ("live", "stalled") or not liveness.age_known or finding.console is not None:
        return ""
    began = onset_wall_time(view, finding)
    if began is None:
        return ""
    age = format_age(coarse_age(max(now - began, 0.0)))
    return "just now" if age == "now" else age  # behind a step, `since step 101, now` is no time


def onset_wall_time(view: RunView, finding: Finding) -> float | None:
    """When a finding began, seconds since 1970; None if that is not known exactly.

    By the wall time of the point at its onset in the series that it is about, which may count something other
    than the run's steps.
    """
    walls = [wall for tag in _onset_tags(finding) if (wall := _wall_time_at(view, tag, finding.since_step))]
    return min(walls, default=None)


def _onset_tags(finding: Finding) -> Sequence[str]:
    """The tags whose step a finding begins at: that of a rule by its first series, a symptom by its parts."""
    if not finding.symptom:
        return finding.metrics[:1]
    return [one.tag for one in finding.evidence if one.since_step == finding.since_step]


def _wall_time_at(view: RunView, tag: str, step: int) -> float | None:
    """The wall time of the point of a tag at a step; None if no exact point or several times are there."""
    if tag not in view.run.series:
        return None
    points = view.run.series[tag].recent()
    walls = set(points.wall_time[points.step == step].tolist())
    wall = walls.pop() if len(walls) == 1 else math.nan
    return wall if sensible(wall) else None


def coarse_age(seconds: float) -> float:
    """An age rounded down: a counter of seconds would redraw an idle screen every second."""
    for step, below in ((15, 60), (30, 120), (60, 600), (300, 7200), (3600, 86400)):
        if seconds < below:
            return float(seconds // step * step)
    return seconds


def header(view: RunView, now: float, at_step: int | None = None, then: PastFindings | None = None) -> Header:
    """The header of a run, now or as of an earlier step; then: the findings at that step."""
    run, liveness = view.run, view.liveness(now)
    head = Header(
        run=run.name,
        shown_name=view.shown_name,
        given_name=view.given_name,
        framework=view.framework,
        liveness=liveness,
        step=run.last_step,
        health=view.health,
        sentence=view.unjudged or view.evaluator.sentence(),
        headline="" if view.unjudged else headline_of(view.evaluator.findings()),
        outcome_known=not view.evaluator.unknown_outcome(),
        points=run.points,
    )
    if at_step is None:
        return head._replace(
            counter=_first_counter(view),
            last_error=view.last_error(now),
            token_rate=_token_rate(view) if liveness.state == "live" else None,
            job=view.job,
            job_left=None if view.job is None else view.job.left_at(now),
        )
    step = min(at_step, run.last_step or 0)
    progress = liveness.progress if then is None else step / liveness.total if liveness.total else None
    head = head._replace(
        moment="past", step=step, liveness=Liveness("live", total=liveness.total, progress=progress)
    )
    if then is None:
        return head
    return head._replace(
        health=health_of(then.findings),
        sentence=sentence_of(then.findings) + ("" if then.whole else " (as far as remembered)"),
        headline=headline_of(then.findings),
    )


def counter_of(view: RunView, canonical: str) -> Series | None:
    """The first series of a metric with at least two points and a positive value; None if it decreases."""
    for tag in view.tag_index.canonical.get(canonical, ()):
        series = view.run.series[tag]
        last, before = series.last_value, series.previous_value
        if series.count > 1 and last is not None and math.isfinite(last) and last > 0:
            return series if before is None or not before > last else None
    return None


def counters_of(view: RunView) -> Iterator[tuple[RunCounter, Series]]:
    """The counters of a run that differ from its steps, such as tokens, and their series."""
    for counter in overview_tables().counter:
        series = counter_of(view, counter.metric)
        if series is None or series.last_value is None or series.last_step is None:
            continue
        if abs(series.last_value - series.last_step) > 0.01 * series.last_value:
            yield counter, series


RATE_POINTS = 50  # of a counter, from which its rate is computed


def _token_rate(view: RunView) -> float | None:
    """Tokens per second by the counter of tokens; None without one, or if its points have no times."""
    series = next((series for counter, series in counters_of(view) if counter.unit == "tokens"), None)
    recent = None if series is None else series.recent(RATE_POINTS)
    if recent is None or len(recent.value) < 3:
        return None
    seconds = float(recent.wall_time[-1] - recent.wall_time[0])
    rate = float(recent.value[-1] - recent.value[0]) / seconds if seconds > 0 else math.nan
    return rate if math.isfinite(rate) and rate > 0 else None


def _first_counter(view: RunView) -> tuple[float, str] | None:
    """The value and the unit of the first counter."""
    counters = ((series.last_value, counter.unit) for counter, series in counters_of(view))
    return next(((value, unit) for value, unit in counters if value is not None), None)

"""The header of every pane as data: the run, its progress and its health."""

from __future__ import annotations

import math
from collections.abc import Iterator
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
from rltui.rules.finding import health_of
from rltui.rules.messages import headline_of, sentence_of
from rltui.rules.run_status.liveness import GONE

if TYPE_CHECKING:
    from rltui.run_context.jobs.scheduler import Job
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings
    from rltui.store.series import Series


class Header(NamedTuple):
    """The run, its state, progress and health; ages and durations in seconds, None if unknown."""

    run: str
    framework: str
    state: str
    step: int | None
    total: int | None
    progress: float | None
    age: float | None
    eta: float | None
    quiet: str
    health: str
    sentence: str
    points: int
    counter: tuple[float, str] | None = None  # tokens, environment steps or episodes so far, and their name
    shown_name: str = ""  # the name that is displayed
    given_name: str = ""  # its name in a tracker; `run` is then its id
    short_name: str = ""  # displayed if the name does not fit
    gap: float | None = None  # usual time between steps
    pace: float | None = None  # seconds per step, pauses included
    token_rate: float | None = None  # tokens per second
    reached: int | None = None  # the last step of the run, if an earlier one is shown
    state_word: str = ""  # the state as displayed: `ended?` if it is a guess
    cut_short: bool = False  # it ended before its planned end, or failed
    exit_code: int = 0  # of its process, if its tracker recorded one
    failed: bool = False  # by its exit code, or by an exception at the end of its console
    interrupted: bool = False  # its console ends with Ctrl-C
    job: Job | None = None  # the scheduler job that writes the run
    job_left: float | None = None  # time until its limit
    last_error: str = ""  # printed by a run that stopped
    headline: str = ""  # the worst finding, if there is no room for the sentence
    outcome_known: bool = True  # False: it logs no outcome
    acknowledged: bool = False  # all that is wrong has been acknowledged

    @property
    def facts(self) -> list[str]:
        """The facts below the run's name in documents."""
        state = self.state_word or self.state
        return [*filter(None, (self.framework, state, self.step_text, self.age_text, self.points_text))]

    @property
    def step_text(self) -> str:
        """`step 812 / 1,000`."""
        if self.step is None:
            return "no scalars yet"
        text = f"step {format_step(self.step)}"
        if self.reached is not None:
            return f"{text} of {format_step(self.reached)}"
        return f"{text} / {format_step(self.total)}" if self.total else text

    @property
    def age_text(self) -> str:
        """`last point 12s ago`."""
        if self.age is None or not math.isfinite(self.age):
            return ""
        return f"{'last point' if self.points else 'last written'} {format_age(coarse_age(self.age))}"

    @property
    def silence_text(self) -> str:
        """`usual gap 1m 04s · between steps, longest phase generation`; empty unless the run stopped."""
        if self.quiet == GONE:
            return "The log file is gone; what was read of it is kept"
        if self.interrupted:
            return f"at {self.step_text.replace(' / ', ' of ')}"
        if self.cut_short:
            code = f"exit code {self.exit_code} " if self.exit_code else ""
            return f"{code}at {self.step_text.replace(' / ', ' of ')}"
        if self.state != "stalled" or self.age is None or not math.isfinite(self.age):
            return ""
        usual = f"usual gap {format_duration(self.gap)}" if self.gap and self.gap >= 1 else ""
        over = "" if self.total else "it may have finished: no planned end is known"
        return " · ".join(filter(None, (usual, self.quiet, over))) or "nothing new is written"

    @property
    def end_text(self) -> str:
        """`usual gap 1m 04s · rollout.jsonl stopped first. Last error: ...`; empty unless the run stopped."""
        error = f"Last error: {self.last_error}" if self.last_error else ""
        return ". ".join(filter(None, (self.silence_text, error)))

    @property
    def silence_word(self) -> str:
        """The state of a run that stopped: `stalled 35m`, `ended early`, `log gone`."""
        if self.quiet == GONE:
            return "log gone"
        if self.interrupted:
            return "stopped by its user"
        if self.cut_short:
            return "failed" if self.failed else "ended early"
        known = self.age is not None and math.isfinite(self.age)
        age = f" {format_age(coarse_age(self.age or 0.0)).removesuffix(' ago')}" if known else ""
        return f"{self.state_word or self.state}{age}"

    @property
    def rate_text(self) -> str:
        """`12 steps/min   4.1k tok/s` of a live run; empty if it is unknown."""
        if self.state != "live" or not self.pace:
            return ""
        text = format_pace(self.pace)
        return text if self.token_rate is None else f"{text}   {format_two_digits(self.token_rate)} tok/s"

    @property
    def eta_text(self) -> str:
        """`eta 42m`."""
        return "" if self.eta is None or not math.isfinite(self.eta) else f"eta {format_duration(self.eta)}"

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


def coarse_age(seconds: float) -> float:
    """An age rounded down: a counter of seconds would redraw an idle screen every second."""
    for step, below in ((15, 60), (30, 120), (60, 600), (300, 7200), (3600, 86400)):
        if seconds < below:
            return float(seconds // step * step)
    return seconds


def header(view: RunView, now: float, at_step: int | None = None, then: PastFindings | None = None) -> Header:
    """The header of a run, now or as of an earlier step; then: the findings at that step."""
    head = _header(view, now, at_step)
    if at_step is not None:  # live, ended and ages refer to the present
        head = head._replace(state="past", state_word="", age=None, eta=None, quiet="")
    if then is None:
        return head
    step, total = head.step, head.total
    return head._replace(
        health=health_of(then.findings),
        sentence=sentence_of(then.findings) + ("" if then.whole else " (as far as remembered)"),
        headline=headline_of(then.findings),
        progress=step / total if step is not None and total else None,
        cut_short=False,
        interrupted=False,
        last_error="",
        job=None,
    )


def _header(view: RunView, now: float, at_step: int | None) -> Header:
    run = view.run
    alive = view.liveness(now)
    return Header(
        run=run.name,
        shown_name=view.shown_name,
        given_name=view.given_name,
        framework=view.framework,
        state=alive.state,
        state_word=alive.word,
        cut_short=alive.cut_short and at_step is None,
        exit_code=alive.exit_code,
        failed=alive.failed,
        interrupted=alive.interrupted and at_step is None,
        step=run.last_step if at_step is None else min(at_step, run.last_step or 0),
        total=alive.total,
        progress=alive.progress,
        age=alive.age,
        eta=alive.eta,
        quiet=alive.quiet,
        health=view.health,
        sentence=view.unjudged or view.evaluator.sentence(),
        headline="" if view.unjudged else headline_of(view.evaluator.findings()),
        outcome_known=not view.evaluator.unknown_outcome(),
        points=run.points,
        counter=_first_counter(view) if at_step is None else None,
        gap=alive.gap,
        last_error=view.last_error(now) if at_step is None else "",
        pace=alive.pace if at_step is None else None,
        token_rate=_token_rate(view) if at_step is None and alive.state == "live" else None,
        job=view.job if at_step is None else None,
        job_left=view.job.left_at(now) if at_step is None and view.job is not None else None,
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

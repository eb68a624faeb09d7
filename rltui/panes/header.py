"""The header of every pane: which run, how far it is, and how it is, in the same words everywhere."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.draw.numbers import format_age, format_duration, format_si, format_step
from rltui.panes.pane_list import RunCounter, pane_tables
from rltui.rules.finding import health_of
from rltui.rules.messages import headline_of, sentence_of
from rltui.rules.run_state.liveness import GONE

if TYPE_CHECKING:
    from rltui.run_context.jobs.scheduler import Job
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings
    from rltui.store.series import Series


class Header(NamedTuple):
    """Who, how, how far: the same words on the screen and in a snapshot."""

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
    shown_name: str = ""  # the run's name for people
    given_name: str = ""  # what a person called the run; `run` is then its id
    short_name: str = ""  # a shorter name of the run, for where the name does not fit
    gap: float | None = None  # usual time between steps, s
    pace: float | None = None  # seconds per step, pauses included
    token_rate: float | None = None  # tokens per second
    reached: int | None = None  # how far the run has come, where an earlier step is shown
    state_word: str = ""  # the state as it is shown: `ended?` where that is a guess
    cut_short: bool = False  # it is over, and nothing says that it was meant to be
    exit_code: int = 0  # of its process, where its tracker noted one
    job: Job | None = None  # of a scheduler that writes the run
    job_left: float | None = None  # seconds until its time limit
    last_error: str = ""  # what a run that stopped printed as its last error
    headline: str = ""  # the worst finding in few words, where there is no room for the sentence
    outcome_known: bool = True  # False: nothing that it logs says what it achieves

    @property
    def facts(self) -> list[str]:
        """What documents say of a run below its name."""
        said = (
            self.framework,
            self.state_word or self.state,
            self.step_text,
            self.age_text,
            self.points_text,
        )
        return [fact for fact in said if fact]

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
        """How long ago the last point was written; for ended runs it is a date's worth of time."""
        if self.age is None or not math.isfinite(self.age):
            return ""
        return f"{'last point' if self.points else 'last written'} {format_age(coarse_age(self.age))}"

    @property
    def silence_text(self) -> str:
        """`usual gap 1m 04s · between steps, longest phase generation`; empty while all is as usual."""
        if self.quiet == GONE:
            return "The log file is gone; what was read of it is kept"
        if self.cut_short:
            code = f"exit code {self.exit_code} " if self.exit_code else ""
            return f"{code}at {self.step_text.replace(' / ', ' of ')}"
        if self.state != "stalled" or self.age is None or not math.isfinite(self.age):
            return ""
        usual = f"usual gap {format_duration(self.gap)}" if self.gap and self.gap >= 1 else ""
        is_file = " " not in self.quiet
        what = f"quiet: {self.quiet}" if self.quiet and is_file else self.quiet
        over = "" if self.total else "no planned end is known, it may have finished"
        return " · ".join(filter(None, (usual, what, over))) or "nothing new is written"

    @property
    def end_text(self) -> str:
        """`usual gap 1m 04s · quiet: rollout.jsonl. Last error: ...`; empty while all is as usual."""
        error = f"Last error: {self.last_error}" if self.last_error else ""
        return ". ".join(filter(None, (self.silence_text, error)))

    @property
    def silence_word(self) -> str:
        """The words for a run that writes no more: `stalled 35m`, `ended early`, `log gone`."""
        if self.quiet == GONE:
            return "log gone"
        if self.cut_short:
            return "failed" if self.exit_code else "ended early"
        known = self.age is not None and math.isfinite(self.age)
        age = f" {format_age(coarse_age(self.age or 0.0)).removesuffix(' ago')}" if known else ""
        return f"{self.state_word or self.state}{age}"

    @property
    def rate_text(self) -> str:
        """`12 steps/min   4.1k tok/s` of a live run; empty where it cannot be known."""
        if self.state != "live" or not self.pace:
            return ""
        per_second = 1 / self.pace
        scale, unit = next((one for one in _RATES if per_second * one[0] >= 1), _RATES[-1])
        text = f"{_two_digits(per_second * scale)} steps/{unit}"
        return text if self.token_rate is None else f"{text}   {_two_digits(self.token_rate)} tok/s"

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


_RATES = ((1.0, "s"), (60.0, "min"), (3600.0, "h"))


def _two_digits(value: float) -> str:
    """A rate that holds still: two digits are as much as it is known to."""
    rounded = float(f"{value:.1e}")
    return format_si(rounded, 2) if rounded >= 1000 else f"{rounded:g}"


def coarse_age(seconds: float) -> float:
    """An age in steps that grow with it: a counter of seconds would repaint an idle screen every second."""
    for step, below in ((15, 60), (30, 120), (60, 600), (300, 7200), (3600, 86400)):
        if seconds < below:
            return float(seconds // step * step)
    return seconds


def header(view: RunView, now: float, at_step: int | None = None, then: PastFindings | None = None) -> Header:
    """The header of a run; with what was wrong `then`, of an earlier step of a run that has gone on since."""
    found = _header(view, now, at_step)
    if then is None:
        return found
    step, total = found.step, found.total
    return found._replace(
        health=health_of(then.findings),
        sentence=sentence_of(then.findings) + ("" if then.whole else " (as far as remembered)"),
        headline=headline_of(then.findings),
        progress=step / total if step is not None and total else None,
        age=None,  # nobody knew when the next point would come
        eta=None,
        quiet="",
        cut_short=False,
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
    """The series of a run that counts something, if it is a counter with at least two points that grows."""
    for tag in view.tag_index.canonical.get(canonical, ()):
        series = view.run.series[tag]
        last, before = series.last_value, series.previous_value
        if series.count > 1 and last is not None and math.isfinite(last) and last > 0:
            return series if before is None or not before > last else None
    return None


def counters_of(view: RunView) -> Iterator[tuple[RunCounter, Series]]:
    """What a run counts besides its steps, and the series that counts it."""
    for counter in pane_tables().counter:
        series = counter_of(view, counter.metric)
        if series is None or series.last_value is None or series.last_step is None:
            continue
        if abs(series.last_value - series.last_step) > 0.01 * series.last_value:
            yield counter, series


RATE_POINTS = 50  # of a counter that its rate is taken from


def _token_rate(view: RunView) -> float | None:
    """Tokens per second by the counter of tokens; None without one, or where its points have no times."""
    for counter, series in counters_of(view):
        if counter.unit != "tokens":
            continue
        recent = series.recent(RATE_POINTS)
        if len(recent.value) < 3:
            return None
        seconds = float(recent.wall_time[-1] - recent.wall_time[0])
        made = float(recent.value[-1] - recent.value[0])
        rate = made / seconds if seconds > 0 else math.nan
        return rate if math.isfinite(rate) and rate > 0 else None
    return None


def _first_counter(view: RunView) -> tuple[float, str] | None:
    """How far the first of its counters is, and what it counts."""
    found = next(((series.last_value, counter.unit) for counter, series in counters_of(view)), None)
    return None if found is None or found[0] is None else (found[0], found[1])

"""One run as the screen and the commands see it: points, names of metrics, findings, liveness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Literal, TypeVar, cast, get_args

from rltui.common.problem import Problem
from rltui.common.text import clean
from rltui.config.user_config import UserHardware
from rltui.metrics.frameworks.recognise import FrameworkMatch
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import NO_POINTS, Finding, RunHealth
from rltui.rules.run_state.liveness import Liveness, RunPace
from rltui.rules.run_state.log_state import of_sources
from rltui.rules.run_state.run_pace import quiet, run_pace
from rltui.rules.run_state.state_finding import state_finding
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.run_context.jobs.run_jobs import ids_in_settings
from rltui.run_context.jobs.scheduler import Job, RunTraces
from rltui.session.console_findings import console_findings, reports_end
from rltui.session.job_findings import time_limit_finding
from rltui.session.shared_metric_names import SharedNames
from rltui.session.tag_index import TagIndex
from rltui.session.time_travel import PastFindings, current_findings, reevaluated, remembered_findings
from rltui.store.points import NewPoints
from rltui.store.run import Run

if TYPE_CHECKING:  # with it comes what reads consoles
    from rltui.run_context.console.failure_search import ConsoleReport

# New points of all runs held back while history is still being read: evaluating large pieces is faster,
# and by then all tags have been seen, so the framework is known. So many are 7 MB; three times as many would
# save a sixth of the evaluation of a large log.
HELD_POINTS = 300_000
MAX_REPLAYED_POINTS = (
    2048  # means of a series whose older points are in buckets: four for each tick of its rules
)
MAX_GIVEN_NAME = 80  # characters of a name that a person gave
CONSOLE_END_SECONDS = (
    60.0  # seconds without a line after which a console that ends with an exception has ended
)
T = TypeVar("T")


# Who tells of a run what its rules cannot know: consoles, the job, that it writes no more, sister runs,
# the baseline that the user chose.
FindingSource = Literal["consoles", "job", "state", "sisters", "baseline"]


class HeldPoints:
    """How many points all runs together hold back before they are evaluated, and which runs do."""

    def __init__(self) -> None:
        self.points = 0
        self.views: dict[str, RunView] = {}


class RunView:
    """One run with the names of its metrics and what its rules found."""

    def __init__(
        self,
        run: Run,
        shared: SharedNames,
        held: HeldPoints | None = None,
        shown_name: str = "",
        plans: Callable[[Run], tuple[int, ...]] | None = None,
    ) -> None:
        self.run = run
        self.shown_name = shown_name or run.name  # its name for people
        self._shared = shared
        self._all_held = held if held is not None else HeldPoints()
        self._held: list[tuple[list[NewPoints], int]] = []  # by delivery, and how many points they are
        self._held_points = 0
        self.continued = False  # by another run
        self._said_over = False  # by the last line of its console
        self.plans = plans  # what files beside the log say of how far it goes, as far as they are read
        self._pace: tuple[int, tuple[int, ...], RunPace] | None = None  # of which version, by which plans
        self._tags_recognised = -1
        self.recognition: FrameworkMatch = shared.recognise((), run.name)
        self._evaluator: Evaluator | None = None
        self._tag_index: TagIndex | None = None
        self.consoles: tuple[ConsoleReport, ...] = ()  # what the run's consoles told last
        self.last_line = ""  # of the console that was written to last
        self.job: Job | None = None  # of a scheduler that writes it, as it was asked for last
        # Of what, from, until.
        self._state_told: tuple[tuple[object, ...], float, float] | None = None
        self._told: dict[
            FindingSource, tuple[Finding, ...]
        ] = {}  # what its rules cannot know, by who tells it
        self._once: dict[str, tuple[object, object]] = {}

    def once(self, what: str, of: object, make: Callable[[], T]) -> T:
        """What `make` returns, made anew when it is asked of something else than the last time."""
        known = self._once.get(what)
        if known is None or known[0] != of:
            known = self._once[what] = (of, make())
        return cast(T, known[1])

    @property
    def given_name(self) -> str:
        """What a person called the run in its tracker, in one line; empty where nobody did."""
        tracked = self.run.hparams.get("wandb")
        name = tracked.get("name") if isinstance(tracked, dict) else None
        return clean(" ".join(name.split()), MAX_GIVEN_NAME) if isinstance(name, str) else ""

    @property
    def names(self) -> MetricNames:
        """What its tags mean."""
        return self._shared.names(self.recognition.label)

    @property
    def tag_index(self) -> TagIndex:
        """Its tags by pane, metric and distribution; made again when tags appeared or the names changed."""
        index, names = self._tag_index, self.names
        if index is None or index.names is not names or len(index.tags) != len(self.run.series):
            index = self._tag_index = self._shared.tag_index(self.run.series, self.recognition.label)
        return index

    @property
    def hardware(self) -> UserHardware:
        """What the user says that it trains on."""
        return self._shared.config.hardware_of(self.run.name)

    @property
    def evaluator(self) -> Evaluator:
        """What evaluates its rules; made at the first call, since the first points may change the names."""
        if self._evaluator is None:
            label = self.recognition.label
            self._evaluator = Evaluator(self.run, self.names, selection=self._shared.selection(label))
            self._evaluator.set_job_findings(self._told_by(*get_args(FindingSource)))
        return self._evaluator

    @property
    def name(self) -> str:
        """The run's folder relative to LOGDIR; `.` for LOGDIR itself."""
        return self.run.name

    @property
    def framework(self) -> str:
        """Such as `verl` or `trl-grpo`; `unknown` when the tags say nothing."""
        return self.recognition.label

    @property
    def modified(self) -> float:
        """When it last wrote, seconds since 1970: the wall time of its last point, whose age is shown.

        The files may be younger, as copies are. Where points have no wall time, or one in the future, the
        time of the files is all there is.
        """
        files = max((source.modified for source in self.run.sources.values()), default=-math.inf)
        wall = self.run.last_written
        return min(wall, files) if math.isfinite(wall) and math.isfinite(files) else files

    @property
    def loading(self) -> bool:
        """Whether history is still being read."""
        return any(
            source.read < source.size
            # A torn tail is waited for, but is no history.
            and not (source.caught_up or source.gone or source.hung)
            and source.duplicate_of is None
            for source in self.run.sources.values()
        )

    def liveness(self, now: float) -> Liveness:
        """Live, stalled or ended; how long ago, and how much longer. now: seconds since 1970."""
        known = self._now_pace().at(now)
        return known._replace(quiet=self._quiet()) if known.state == "stalled" else known

    def pace(self, now: float) -> RunPace:
        """What liveness follows from, for times from `now` (seconds since 1970) on."""
        known = self._now_pace()
        return known if known.at(now).state == "ended" else known._replace(quiet=self._quiet())

    def _quiet(self) -> str:
        """What is quiet in it once it stalls; looked for anew when something came."""
        return self.once("quiet", (self.run.version, self.names), lambda: quiet(self.run, self.names))

    def _now_pace(self) -> RunPace:
        """By what its log says and, where that does not tell how far it goes, by files beside it."""
        known, version = self._pace, self.run.version
        if known is None or known[0] != version:
            pace = run_pace(self.run, self._shared.config.total_of(self.run.name))
            known = self._pace = (version, (), pace)
        if self.plans is not None and (known[1] or known[2].total is None):
            beside = self.plans(self.run)
            if beside != known[1]:
                known = self._pace = (version, beside, run_pace(self.run, beside=beside))
        pace = known[2].said_over() if self._said_over else known[2]
        return pace.followed() if self.continued else pace

    def set_consoles(self, reports: Sequence[ConsoleReport], now: float) -> bool:
        """Take in what its consoles tell; now: seconds since 1970. True when findings changed."""
        if self.consoles == tuple(reports) and not any(report.failures for report in reports):
            return False
        self.consoles = tuple(reports)
        newest = max(self.consoles, key=lambda report: report.modified, default=None)
        self.last_line = "" if newest is None else newest.last_line
        self._said_over = newest is not None and reports_end(self.run, newest)
        if not any(report.failures for report in self.consoles):
            return self.tell("consoles", ())
        state = self.liveness(now).state
        if not self.run.series and all(now - one.modified > CONSOLE_END_SECONDS for one in self.consoles):
            state = "ended"  # of a run without points nothing but its consoles can tell
        return self.tell("consoles", console_findings(self.run, self.consoles, state))

    def tell(self, of: FindingSource, findings: Iterable[Finding | None]) -> bool:
        """Take in what its rules cannot know, in place of what it said before. True when findings changed."""
        self._told[of] = tuple(one for one in findings if one is not None)
        return self.evaluator.set_job_findings(self._told_by(*get_args(FindingSource)))

    def _told_by(self, *every: FindingSource) -> tuple[Finding, ...]:
        return tuple(one for of in every for one in self._told.get(of, ()))

    def set_job(self, job: Job | None, now: float) -> bool:
        """Take in which job writes it, None for none; now: seconds since 1970. True when findings changed."""
        self.job = job
        alive, before = self.liveness(now), next(iter(self._told_by("job")), None)
        run = self.run
        return self.tell(
            "job", [time_limit_finding(job, alive, now, len(run.step_walls), run.last_step, before)]
        )

    def tell_state(self, now: float) -> bool:
        """Let a remark say that it writes no more; now: seconds since 1970. True when findings changed."""
        failures, told = self._told_by("consoles"), self._state_told
        pace = self._now_pace()
        known = (pace, self.last_line, failures)
        if told is not None and told[0] == known and told[1] <= now <= told[2]:
            return False
        alive = self.liveness(now)
        self._state_told = (known, now, pace.until(now))
        return self.tell("state", [state_finding(alive, self.run.last_step, self.last_line, failures)])

    def job_traces(self) -> RunTraces:
        """What tells which job writes it; the same object until something came."""
        return self.once("job", (self.run.version, self.consoles), self._job_traces)

    def _job_traces(self) -> RunTraces:
        settings = logged_hparams(self.run.texts.values(), self.run.hparams).entries
        consoles = (report.path for report in self.consoles)
        ids = ids_in_settings({key: entry.text for key, entry in settings.items()})
        return RunTraces((*self.run.sources, *consoles), ids)

    def last_error(self, now: float) -> str:
        """What a run that stopped without saying why printed as its last error, cleaned; else empty.

        Nothing where a known failure tells why, where the training is complete, or where it still writes.
        """
        alive = self.liveness(now)
        complete = self.run.exit_code == 0 or (alive.progress or 0.0) >= 1.0
        if (
            alive.state == "live"
            or complete
            or any(one.rank for one in self._told_by("consoles", "job", "state"))
        ):
            return ""
        return next((one.last_error for one in self.consoles if one.last_error), "")

    def hold(self, fresh: Iterable[NewPoints]) -> None:
        """Keep the points of one delivery for the next evaluation."""
        pieces = list(fresh)
        if pieces:
            points = sum([len(piece.points) for piece in pieces])
            self._held.append((pieces, points))
            self._count_held(points)

    def _count_held(self, points: int) -> None:
        self._held_points += points
        self._all_held.points += points
        if self._held:
            self._all_held.views[self.run.name] = self
        else:
            self._all_held.views.pop(self.run.name, None)

    def evaluate_held(self, *, force: bool = False, most: int | None = None) -> bool:
        """Evaluate what was held back, unless more history is about to come. True when anything was.

        `most` bounds the work to about so many points; the rest waits for the next call.
        """
        if not self._held or (self.loading and not force and self._all_held.points < HELD_POINTS):
            return False
        self.recognise_again()
        count = taken = 0
        while count < len(self._held) and (most is None or not count or taken < most):
            taken += self._held[count][1]
            count += 1
        held = [piece for pieces, _ in self._held[:count] for piece in pieces]
        del self._held[:count]
        self._count_held(-taken)
        self.evaluator.feed(held)
        return True

    def drop_held(self) -> None:
        """Evaluate nothing more: the run has no log any more."""
        self._held.clear()
        self._count_held(-self._held_points)

    def recognise_again(self) -> None:
        """Recognise the framework again when tags have appeared that could change the answer."""
        if len(self.run.series) == self._tags_recognised:
            return
        self._tags_recognised = len(self.run.series)
        before, self.recognition = self.recognition, self._shared.recognise(self.run.series, self.run.name)
        if self.recognition.label == before.label:
            return
        self._evaluator = None
        held = {piece.tag for pieces, _ in self._held for piece in pieces}
        # A run whose framework shows late is evaluated again: what is no longer known exactly, by means.
        again = [
            NewPoints(tag, series.thinned(MAX_REPLAYED_POINTS))
            for tag, series in self.run.series.items()
            if tag not in held and series.count
        ]
        if again:
            self.evaluator.feed(again)

    def findings_at(self, step: int, *, evaluate: bool = True) -> PastFindings:
        """What was wrong when the run was at a step: evaluated again if possible, else as far as known."""
        evaluator = self.evaluator
        last = self.run.last_step
        if last is None or step >= last:
            return current_findings(evaluator)
        if evaluate and not self.loading:
            selection = self._shared.selection(self.recognition.label)
            found = reevaluated(self.run, self.names, selection, step)
            if found is not None:
                return found
        return remembered_findings(evaluator.findings(), evaluator.history(), step)

    def file_problems(self, now: float) -> list[Problem]:
        """What is wrong with its log files, as the readers said and as shows with time."""
        return [*self.run.problems.values(), *of_sources(self.run, now)]

    @property
    def unjudged(self) -> str:
        """Why it is not judged, empty where it is. What has been read may still wait for the rules."""
        why = self.evaluator.unjudged()
        return "its points are about to be judged" if why == NO_POINTS and self.run.points else why

    @property
    def health(self) -> RunHealth:
        """ok, warning or critical; `unjudged` where nothing could be judged."""
        return "unjudged" if self.evaluator.unjudged() else self.evaluator.health

    def describe(self, now: float) -> dict[str, str | int | float | None]:
        """The fields that `runs --json` and `check --json` share, as promised."""
        return {
            "run": self.name,
            "framework": self.framework,
            "state": self.liveness(now).state,
            "last_step": self.run.last_step,
            "last_wall_time": self.run.last_wall if math.isfinite(self.run.last_wall) else None,
            "points": self.run.points,
            "health": self.health,
            **({"message": message} if (message := self.unjudged) else {}),
        }

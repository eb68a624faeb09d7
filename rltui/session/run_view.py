"""One run as the screen and the commands see it: points, names of metrics, findings, liveness."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Literal, TypeVar, cast, get_args

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.config.user_config import UserHardware
from rltui.metrics.frameworks.recognise import FrameworkMatch
from rltui.metrics.metric_name import MetricName
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluator import Evaluator
from rltui.rules.finding import NO_POINTS, NOTHING_READ, Finding, RunHealth
from rltui.rules.run_status.liveness import FAILED_SECONDS, Liveness, RunPace
from rltui.rules.run_status.liveness_finding import liveness_finding
from rltui.rules.run_status.log_file_problems import log_file_problems
from rltui.rules.run_status.measured_pace import measured_pace, quiet
from rltui.rules.run_status.nearby_hparams import LookupNearby
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.run_context.jobs.run_jobs import ids_in_hparams
from rltui.run_context.jobs.scheduler import Job, RunTraces
from rltui.session.console_findings import console_findings, outlived, reports_end
from rltui.session.job_findings import time_limit_finding
from rltui.session.shared_metric_names import SharedNames
from rltui.session.tag_index import TagIndex
from rltui.session.time_travel import (
    PastFindings,
    RunAtStep,
    current_findings,
    reevaluated,
    remembered_findings,
)
from rltui.store.points import HIGHEST, NewPoints
from rltui.store.run import Run

if TYPE_CHECKING:  # it imports the readers of consoles
    from rltui.run_context.console.failure_search import ConsoleReport

# New points of all runs that are held back while history is being read: evaluating large pieces is faster,
# and by then all tags are known, and with them the framework. They take 7 MB; three times as many would save
# a sixth of the evaluation of a large log.
HELD_POINTS = 300_000
MAX_REPLAYED_POINTS = 2048  # of a series, means where points are in buckets: four for each tick of its rules
MAX_GIVEN_NAME = 80  # characters of a display name
T = TypeVar("T")

# Sources of findings other than rules: consoles, the job, the state of the run, the comparison with sister
# runs, the comparison with the baseline.
FindingSource = Literal["consoles", "job", "state", "sisters", "baseline"]


class HeldPoints:
    """The points that wait for evaluation: how many in all runs together, and in which runs."""

    def __init__(self) -> None:
        self.points = 0
        self.views: dict[str, RunView] = {}


class RunView:
    """One run with the names of its metrics and its findings."""

    def __init__(
        self,
        run: Run,
        shared: SharedNames,
        held: HeldPoints | None = None,
        shown_name: str = "",
        nearby: LookupNearby | None = None,
    ) -> None:
        self.run = run
        self.shown_name = shown_name or run.name  # for people
        self._shared = shared
        self._held_by_all = held if held is not None else HeldPoints()
        self._held: list[tuple[list[NewPoints], int]] = []  # by delivery, with their number of points
        self._held_points = 0
        self.continued = False  # by another run, which means that it has ended
        self._reported_end = False  # the last line of its console says that it has ended
        self._interrupted = False  # its console ends with Ctrl-C
        self._failed_at: float | None = None  # when its console ended with an exception
        self.nearby = nearby  # looks up what files near its logs say
        self._pace: tuple[int, tuple[int, ...], RunPace] | None = None  # of a version, for planned steps
        self._tags_recognised = -1
        self.recognition: FrameworkMatch = shared.recognise((), run.name)
        self._evaluator: Evaluator | None = None
        self._tag_index: TagIndex | None = None
        self.consoles: tuple[ConsoleReport, ...] = ()  # the latest reports
        self.last_line = ""  # of the console written last
        self.job: Job | None = None  # of the scheduler, as last known
        # What the state was determined from, and from when until when it holds.
        self._state_checked: tuple[tuple[object, ...], float, float] | None = None
        self._live = False  # as last determined
        self._external: dict[FindingSource, tuple[Finding, ...]] = dict.fromkeys(get_args(FindingSource), ())
        self._cached: dict[str, tuple[object, object]] = {}

    def cached(self, name: str, key: object, make: Callable[[], T]) -> T:
        """The value of `make`, computed again when the key differs from that of the last call."""
        known = self._cached.get(name)
        if known is None or known[0] != key:
            known = self._cached[name] = (key, make())
        return cast(T, known[1])

    @property
    def given_name(self) -> str:
        """The display name that somebody gave the run in its tracker, in one line; empty without one."""
        tracked = self.run.hparams.get("wandb")
        name = tracked.get("name") if isinstance(tracked, dict) else None
        return clean(" ".join(name.split()), MAX_GIVEN_NAME) if isinstance(name, str) else ""

    @property
    def names(self) -> MetricNames:
        """The names of its tags."""
        return self._shared.names(self.recognition.label)

    def shown_title(self, name: MetricName) -> str:
        """The title of a series, unless its values contradict it."""
        return name.title_up_to(self.run.series[name.tag].extent()[1]) if name.bounded else name.shown_title

    def title_of(self, tag: str) -> str:
        """The title that the row of a tag has."""
        return self.shown_title(self.names.name(tag))

    @property
    def tag_index(self) -> TagIndex:
        """Its tags by pane, metric and distribution; made again when tags appeared or the names changed."""
        index, names = self._tag_index, self.names
        if index is None or index.names is not names or len(index.tags) != len(self.run.series):
            index = self._tag_index = self._shared.tag_index(self.run.series, self.recognition.label)
        return index

    @property
    def hardware(self) -> UserHardware:
        """The hardware that the user configured for it."""
        return self._shared.config.hardware_of(self.run.name)

    @property
    def evaluator(self) -> Evaluator:
        """The evaluator of its rules; made on first use, since the first points may change the names."""
        if self._evaluator is None:
            label = self.recognition.label
            self._evaluator = Evaluator(self.run, self.names, selection=self._shared.selection(label))
            self._evaluator.set_external_findings(self._external_findings())
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
        """When it last wrote, seconds since 1970: the wall time of its last point.

        Files may be younger, as copies are. Their time counts where points have no wall time, or one in the
        future.
        """
        files = max((source.modified for source in self.run.sources.values()), default=-math.inf)
        wall = self.run.last_written
        return min(wall, files) if math.isfinite(wall) and math.isfinite(files) else files

    @property
    def loading(self) -> bool:
        """Whether history is still being read."""
        return any(
            source.read < source.size
            # A torn record at the end is waited for, but is no history.
            and not (source.caught_up or source.gone or source.hung)
            and source.duplicate_of is None
            for source in self.run.sources.values()
        )

    def liveness(self, now: float) -> Liveness:
        """Live, stalled or ended; how long ago, and how much longer. now: seconds since 1970."""
        known = self._now_pace().at(now)
        if self.loading:
            return known.while_reading()
        return known._replace(quiet=self._quiet()) if known.state == "stalled" else known

    def pace(self, now: float) -> RunPace:
        """The data from which liveness follows at any time from `now` (seconds since 1970) on."""
        known = self._now_pace()
        return known if known.at(now).state == "ended" else known._replace(quiet=self._quiet())

    @property
    def seconds_per_step(self) -> float | None:
        """By the wall times of recent points, including pauses; None if they are unknown."""
        return self._now_pace().pace or None

    def _quiet(self) -> str:
        """Which of its metrics have gone quiet; determined again when points came."""
        return self.cached("quiet", (self.run.version, self.names), lambda: quiet(self.run, self.names))

    def _now_pace(self) -> RunPace:
        """By its log and, where that does not state the planned steps, by files near it."""
        known, version = self._pace, self.run.version
        if known is None or known[0] != version:
            pace = measured_pace(self.run, self._shared.config.total_of(self.run.name))
            known = self._pace = (version, (), pace)
        if self.nearby is not None and (known[1] or known[2].total is None):
            nearby = () if self.run.counts_episodes else self.nearby(self.run).totals
            if nearby != known[1]:
                known = self._pace = (version, nearby, measured_pace(self.run, nearby=nearby))
        pace = known[2].reported_end() if self._reported_end else known[2]
        pace = pace if self._failed_at is None else pace.failed(self._failed_at)
        pace = pace.stopped_by_user() if self._interrupted else pace
        return pace.continued() if self.continued else pace

    def set_consoles(self, reports: Sequence[ConsoleReport], now: float) -> bool:
        """Set the reports on its consoles; now: seconds since 1970. True when findings changed."""
        if self.consoles == tuple(reports) and not any(report.failures for report in reports):
            return False
        self.consoles = tuple(reports)
        newest = max(self.consoles, key=lambda report: report.modified, default=None)
        self.last_line = "" if newest is None else newest.last_line
        self._reported_end = newest is not None and reports_end(self.run, newest)
        failed = newest is not None and newest.exception and not outlived(self.run, newest)
        self._interrupted = newest is not None and newest.interrupted and not outlived(self.run, newest)
        self._failed_at = newest.modified if newest is not None and failed else None
        if not any(report.failures for report in self.consoles):
            return self.set_findings("consoles", ())
        state = self.liveness(now).state
        if not self.run.series and all(now - one.modified > FAILED_SECONDS for one in self.consoles):
            state = "ended"  # without points only its consoles tell
        return self.set_findings("consoles", console_findings(self.run, self.consoles, state))

    def set_findings(self, of: FindingSource, findings: Iterable[Finding | None]) -> bool:
        """Replace the findings of a source other than rules. True when findings changed."""
        self._external[of] = tuple(one for one in findings if one is not None)
        return self.evaluator.set_external_findings(self._external_findings())

    def _external_findings(self) -> tuple[Finding, ...]:
        return tuple(chain.from_iterable(self._external.values()))

    def set_job(self, job: Job | None, now: float) -> bool:
        """Set the job that writes it, or None; now: seconds since 1970. True when findings changed."""
        self.job = job
        liveness, before = self.liveness(now), next(iter(self._external["job"]), None)
        run = self.run
        return self.set_findings(
            "job", [time_limit_finding(job, liveness, now, len(run.step_walls), run.last_step, before)]
        )

    def update_run_over(self, now: float) -> bool:
        """Tell the rules whether it is over; now: seconds since 1970. True when findings changed."""
        return self.evaluator.set_run_over(not self.loading and self._now_pace().at(now).over)

    def update_liveness_finding(self, now: float) -> bool:
        """Update the remark that it writes no more; now: seconds since 1970. True when findings changed.

        Evaluates the newest points if it is not live any more, and tells the rules whether it is over.
        """
        changed = self._update_nearby_hparams()
        failures, told = self._external["consoles"], self._state_checked
        pace = self._now_pace()
        known = (pace, self.last_line, failures, self.loading)
        if told is not None and told[0] == known and told[1] <= now <= told[2]:
            return changed
        liveness = self.liveness(now)
        self._state_checked = (known, now, pace.next_change(now))
        self._live = liveness.state == "live"
        changed |= not self._live and self.evaluator.make_late_ticks()
        changed |= self.evaluator.set_run_over(liveness.over and not self.loading)
        found = liveness_finding(liveness, self.run.last_step, self.last_line, failures)
        return self.set_findings("state", [found]) or changed

    def _update_nearby_hparams(self) -> bool:
        """Tell the rules of settings in files near its logs. True if findings may have changed."""
        if self.nearby is None or not self.run.series:
            return False
        return self.evaluator.set_nearby_hparams(self.nearby(self.run).hparams)

    def job_traces(self) -> RunTraces:
        """The traces of the job that writes it; the same object until data came."""
        return self.cached("job", (self.run.version, self.consoles), self._job_traces)

    def _job_traces(self) -> RunTraces:
        hparams = logged_hparams(self.run.texts.values(), self.run.hparams).entries
        consoles = (report.path for report in self.consoles)
        return RunTraces((*self.run.sources, *consoles), ids_in_hparams(hparams))

    def last_error(self, now: float) -> str:
        """The last error in the consoles of a run that stopped without a known reason, cleaned; else empty.

        Empty where a known failure is the reason, the training is complete, or the run is live.
        """
        liveness = self.liveness(now)
        complete = self.run.exit_code == 0 or (liveness.progress or 0.0) >= 1.0
        if (
            liveness.state == "live"
            or liveness.interrupted
            or complete
            or any(one.rank for of in ("consoles", "job", "state") for one in self._external[of])
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
        self._held_by_all.points += points
        if self._held:
            self._held_by_all.views[self.run.name] = self
        else:
            self._held_by_all.views.pop(self.run.name, None)

    def evaluate_held(self, *, force: bool = False, most: int | None = None) -> bool:
        """Evaluate the points held back, unless more history is about to come. True when there were any.

        most: evaluate about so many points; the rest waits for the next call. Ticks of a live run may be made
        late then (`Evaluator.feed`).
        """
        if not self._held or (self.loading and not force and self._held_by_all.points < HELD_POINTS):
            return False
        self.recognise()
        count = taken = 0
        while count < len(self._held) and (most is None or not count or taken < most):
            taken += self._held[count][1]
            count += 1
        held = [piece for pieces, _ in self._held[:count] for piece in pieces]
        del self._held[:count]
        self._count_held(-taken)
        self.evaluator.feed(held, live=self._live and most is not None, catch_up=most is not None)
        self._update_nearby_hparams()
        return True

    def drop_held(self) -> None:
        """Drop the points held back: the run has no log any more."""
        self._held.clear()
        self._count_held(-self._held_points)

    def recognise(self) -> None:
        """Recognise the framework, again when tags have appeared that could change it."""
        if len(self.run.series) == self._tags_recognised:
            return
        self._tags_recognised = len(self.run.series)
        before, self.recognition = self.recognition, self._shared.recognise(self.run.series, self.run.name)
        if self.recognition.label == before.label:
            return
        self._evaluator = self._state_checked = None
        held: dict[str, int] = {}  # the first step that waits, by tag
        for pieces, _ in self._held:
            for piece in pieces:
                if len(piece.points):
                    first = int(piece.points.step.min())
                    held[piece.tag] = min(first, held.get(piece.tag, first))
        # All points read before are evaluated again under the new names, older ones by their means. Those of
        # a preview are not: they are read again, and ticks do not go back.
        again = []
        for tag, series in self.run.series.items():
            read_up_to, waits_from = series.read_up_to, held.get(tag, HIGHEST)
            if read_up_to is None or waits_from <= (series.first_step or 0):
                continue
            points = series.thinned(MAX_REPLAYED_POINTS)
            points = points.take(points.step <= min(waits_from - 1, read_up_to))
            if len(points):
                again.append(NewPoints(tag, points))
        if again:
            self.evaluator.feed(again)

    def findings_at(self, step: int, *, evaluate: bool = True) -> PastFindings:
        """The findings when the run was at a step: evaluated again if possible, else as remembered."""
        evaluator = self.evaluator
        if self.run.last_step is None or RunAtStep(self.run, step).at_step is None:
            return current_findings(evaluator)
        if evaluate and not self.loading:
            selection = self._shared.selection(self.recognition.label)
            found = reevaluated(self.run, self.names, selection, step, evaluator.nearby_hparams)
            if found is not None:
                return found
        return remembered_findings(evaluator.findings(), evaluator.history(), step)

    def file_problems(self, now: float) -> list[Problem]:
        """Problems of its log files, as the readers reported them and as they show with time."""
        return [*self.run.problems.values(), *log_file_problems(self.run, now)]

    @property
    def unjudged(self) -> str:
        """Why it is not judged; empty where it is. Points may still wait for the rules."""
        why = self.evaluator.unjudged()
        if why != NO_POINTS:
            return why
        return "its points are about to be judged" if self.run.points else self.unreadable or why

    @property
    def unreadable(self) -> str:
        """What is wrong with its logs if no point could be read from them; else empty."""
        if self.run.points:
            return ""
        found = [problem for problem in self.run.problems.values() if problem.level != "info"]
        if not found:
            return ""
        what = found[0].message.removeprefix("cannot be read: ").partition("; ")[0]
        return f"{NOTHING_READ}: {what} ({found[0].path})"

    @property
    def health(self) -> RunHealth:
        """ok, warning or critical; `unjudged` where nothing could be judged."""
        return "unjudged" if self.evaluator.unjudged() else self.evaluator.health

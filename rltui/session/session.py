"""A session: everything known about the runs below LOGDIR, kept up to date by deliveries from the readers.

The screen and the headless commands use this one object. It has no threads and no clock of its own:
whoever owns it applies deliveries and has the rules evaluated.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rltui.common.problem import Problem, Problems
from rltui.config import Config
from rltui.logs.delivery import Delivery, Source
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries
from rltui.logs.run_names import RunFilter, runs_named, shown_name, with_namesakes
from rltui.rules.run_state.planned_steps import PlansBeside
from rltui.run_context.jobs.scheduler import Job, RunTraces
from rltui.session.outcome_curve import outcome_curve
from rltui.session.run_view import HELD_POINTS, HeldPoints, RunView
from rltui.session.shared_metric_names import SharedNames
from rltui.session.sister_runs import (
    FINDING_ID,
    OutcomeCurve,
    SisterComparison,
    iter_comparisons,
    with_sister_finding,
    without_sister_finding,
)
from rltui.session.time_travel import points_until
from rltui.store.continued_runs import Lineage, lineage
from rltui.store.run import Run
from rltui.store.store import Store

if TYPE_CHECKING:  # with it comes what reads consoles
    from rltui.run_context.console.failure_search import ConsoleReport

MAX_FULL_RUNS = 8  # runs that were shown last and still hold everything: going back to one loses nothing


class Session:
    """All runs below the given folders; with `run_glob` those of such names, and the one called `also`.

    part: of these, as `RunFilter` has it. shared: what other sessions of this configuration have found out.
    logdirs: the folders, which name a run that is a whole folder. plans: what files beside a run's logs say
    of how many steps it was meant to take; without it they are read when it is asked for.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        run_glob: str | None = None,
        also: str | None = None,
        part: tuple[int, int] | None = None,
        shared: SharedNames | None = None,
        logdirs: Sequence[str | Path] = (),
        plans: Callable[[Run], tuple[int, ...]] | None = None,
    ) -> None:
        self.config = config if config is not None else Config()
        self._shared = shared if shared is not None else SharedNames(self.config)
        self.store = Store()
        self.runs: dict[str, RunView] = {}
        self.others: Mapping[str, Sequence[str]] = {}  # paths of logs of runs not asked for
        self.folder_changes: int | None = None  # as `LogSearch.changes` says; None where nobody follows
        self.given_names: dict[str, str] = {}  # of runs that a person gave a name, by run
        self.problems = Problems()  # of folders, and of files that are no logs
        self._filter = RunFilter(run_glob, also, part)
        self._sources: dict[str, tuple[str, ...]] | None = None
        self._ordered: list[RunView] | None = None
        self._chosen: Callable[[RunView], bool] | None = None
        self._looked_at: list[str] = []
        self._held = HeldPoints()
        self._logdirs = logdirs
        self._plans = PlansBeside(logdirs).of if plans is None and logdirs else plans
        self._lineage: tuple[tuple[int, ...], dict[str, Lineage]] = ((), {})
        self._told_of_sisters: set[str] = set()
        self._told_until = 0  # place of the run whose state is told next
        self._judging: Iterator[None] | None = None  # the comparison that is under way
        self._sister_comparisons: tuple[tuple[object, ...], Mapping[str, SisterComparison]] = ((), {})

    def look_beside(self, plans: Callable[[Run], tuple[int, ...]]) -> None:
        """Ask this from now on what files beside the logs say of how far runs go, as `plans` above."""
        self._plans = plans
        for view in self.runs.values():
            view.plans = plans

    def focus(self, *names: str) -> None:
        """Runs that are shown now: they, and the last few before them, hold full windows.

        The others hold what the run list and the rules need. What was let go does not come back
        (`Series.exact_from` tells). Without names nothing is shown at all. Until the first call all runs
        hold full windows.
        """
        recent = [*names, *(name for name in self._looked_at if name not in names)]
        recent = recent[: max(MAX_FULL_RUNS, len(names))]
        if set(recent) != set(self._looked_at) or not recent:
            self.store.focus(recent)
        self._looked_at = recent

    def apply(self, deliveries: Iterable[Delivery], *, up_to_step: int | None = None) -> set[str]:
        """Take in what the readers found; returns the names of the runs that changed."""
        changed = set()
        self._ordered = None
        for delivery in deliveries:
            name = delivery.source.run
            if not name:  # troubles with folders, and with files that are no logs, belong to no run
                self.problems.note(delivery.batch.problems)
                continue
            if not self._filter.takes(name):
                continue
            if up_to_step is not None:
                delivery = delivery._replace(batch=points_until(delivery.batch, up_to_step))
            run, fresh = self.store.apply(delivery)
            view = self.runs.get(name)
            if self._sources is not None and len(self._sources.get(name, ())) != len(run.sources):
                self._sources = None
            if view is None:
                view = self.runs[name] = RunView(
                    run, self._shared, self._held, shown_name(name, self._logdirs), self._plans
                )
            view.hold(fresh)
            changed.add(name)
            if delivery.batch.texts and (given := view.given_name):
                self.given_names[name] = given
            if delivery.kind == "rewritten" and delivery.source.duplicate_of not in (None, name):
                self._leave(view, delivery.source.path)
        return changed

    def _leave(self, view: RunView, path: str) -> None:
        """A log turned out to belong to another run; a run that has no other log is none."""
        view.run.sources.pop(path, None)
        self._sources = None
        if not view.run.sources:
            view.drop_held()
            self.runs.pop(view.name, None)
            self.store.runs.pop(view.name, None)

    def choose(self, chosen: Callable[[RunView], bool] | None) -> None:
        """List only the runs of which this holds, as they are then; the others are read, but not shown."""
        self._chosen, self._ordered = chosen, None

    def choose_again(self) -> None:
        """Rules have been evaluated: what is listed may be something else."""
        if self._chosen is not None:
            self._ordered = None

    def keep(self, names: Collection[str]) -> None:
        """Forget all other runs."""
        for name in [name for name in self.runs if name not in names]:
            self.runs.pop(name).drop_held()
            self.store.runs.pop(name, None)
        self._ordered = self._sources = None

    def evaluate(self, *, force: bool = False) -> set[str]:
        """Evaluate the rules on all points that came since the last call; the names of the runs concerned."""
        found = {name for name, view in list(self._held.views.items()) if view.evaluate_held(force=force)}
        self.choose_again()
        return found

    def named(self, name: str) -> list[str]:
        """The runs that a person may mean by a name: of a run, some of its folders, or one that was given."""
        return runs_named(self.runs, name) or [
            run for run, given in self.given_names.items() if given == name
        ]

    def waiting(self) -> list[RunView]:
        """The runs with points that came since the last call of `evaluate`."""
        return list(self._held.views.values())

    def sources(self) -> dict[str, tuple[str, ...]]:
        """The paths of each run's log files, relative to their LOGDIR; the same object until there are more.

        A thousand runs take 0.6 ms, and who looks at files beside the logs asks each second.
        """
        if self._sources is None:
            self._sources = {name: tuple(view.run.sources) for name, view in self.runs.items()}
        return self._sources

    def set_consoles(self, reports: Mapping[str, Sequence[ConsoleReport]], now: float) -> set[str]:
        """Take in what the consoles of the runs tell; the names of the runs whose findings changed."""
        for name in reports.keys() - self.runs.keys():  # they failed before their first metrics
            for one in reports[name]:
                source = Source(
                    name, one.path, "console", one.size, one.size, modified=one.modified, caught_up=True
                )
                self.apply((Delivery(source, kind="state"),))
        self.choose_again()
        return {name for name, view in self.runs.items() if view.set_consoles(reports.get(name, ()), now)}

    def tell_states(self, now: float, most: int | None = None) -> set[str]:
        """Let remarks say which runs write no more; the names of the runs whose findings changed.

        most: runs that are looked at in this call, those after them in the next ones.
        """
        views = list(self.runs.values())
        if most is not None and len(views) > most:
            begin = self._told_until % len(views)
            self._told_until = begin + most
            views = [*views, *views][begin : begin + most]
        return {view.name for view in views if view.tell_state(now)}

    def job_traces(self) -> dict[str, RunTraces]:
        """By run, what tells which job writes it."""
        return {name: view.job_traces() for name, view in list(self.runs.items())}

    def set_jobs(self, jobs: Mapping[str, Job], now: float) -> set[str]:
        """Take in which jobs write the runs; the names of the runs whose findings changed."""
        self.choose_again()
        asked = [view for view in self.runs.values() if view.job is not None or view.name in jobs]
        return {view.name for view in asked if view.set_job(jobs.get(view.name), now)}

    def ordered(self) -> list[RunView]:
        """The runs that are chosen, that with the newest point first."""
        if self._ordered is None:
            views = self.runs.values() if self._chosen is None else filter(self._chosen, self.runs.values())
            self._ordered = sorted(views, key=lambda view: (-view.modified, view.name))
        return list(self._ordered)

    def diagnostics(self) -> list[Problem]:
        """What is odd about files and data: problems of reading first, then what the rules say of data."""
        found = list(self.problems.values())
        for view in self.ordered():
            found += view.run.problems.values()
            found += view.evaluator.diagnostics()
        for name, (of, step) in self.lineage().items():
            found.append(Problem("info", "continues", name, f"continues {of} at step {step}"))
        return list(dict.fromkeys(found))  # a follower and a run may report the same

    def tell_continued(self) -> None:
        """Let the runs that another one continues know that they are over."""
        continued = {of for of, _ in self.lineage().values()}
        for name, view in self.runs.items():
            view.continued = name in continued

    def lineage(self) -> dict[str, Lineage]:
        """By name, the runs that go on where another one stopped."""
        runs = [view.run for view in self.runs.values()]
        # What a run continues is settled by its beginning: asked again when there is twice as much.
        points = sum(run.points for run in runs)
        known = (len(runs), sum(len(run.series) for run in runs), points.bit_length())
        if self._lineage[0] != known:
            self._lineage = (known, lineage(runs))
        return self._lineage[1]

    def judge_sisters(self, within: float | None = None) -> Mapping[str, SisterComparison]:
        """Where each run stands beside its sister runs, by name; the runs get what is worth saying of it.

        Asked again when there are other runs, or a tenth more points. within: seconds after which it goes on
        at the next call; what was known before is given until then.
        """
        if self._judging is None:
            points = sum(view.run.points for view in self.runs.values())
            known = (tuple(self.runs), int(8 * math.log2(points + 1)))
            if self._sister_comparisons[0] == known:
                return self._sister_comparisons[1]
            self._judging = self._judge(known)
        end = math.inf if within is None else time.perf_counter() + within
        for _ in self._judging:
            if time.perf_counter() >= end:
                return self._sister_comparisons[1]
        self._judging = None
        return self._sister_comparisons[1]

    @property
    def sister_comparisons(self) -> Mapping[str, SisterComparison]:
        """Where each run stands beside its sister runs, as far as `judge_sisters` has found it."""
        return self._sister_comparisons[1]

    @property
    def judging_sisters(self) -> bool:
        """Whether `judge_sisters` has more to do."""
        return self._judging is not None

    def _judge(self, known: tuple[object, ...]) -> Iterator[None]:
        """Compare all runs, in steps of one run."""
        asked = with_namesakes(self.runs)
        outcomes: list[OutcomeCurve] = []
        for name, view in list(self.runs.items()):
            outcome = outcome_curve(view, settings=name in asked)
            if outcome is not None:
                outcomes.append(outcome)
            yield
        found: dict[str, SisterComparison] = {}
        for sister_comparison in iter_comparisons(outcomes):
            if sister_comparison is not None and sister_comparison.run in self.runs:
                found[sister_comparison.run] = sister_comparison
            yield
        self._sister_comparisons = (known, found)
        told_before, self._told_of_sisters = self._told_of_sisters, set()
        for name, sister_comparison in found.items():
            if sister_comparison.since_step is not None and name in self.runs:
                view = self.runs[name]
                own = without_sister_finding(view.evaluator.findings())
                view.tell(
                    "sisters",
                    [one for one in with_sister_finding(own, sister_comparison) if one.id == FINDING_ID],
                )
                self._told_of_sisters.add(name)
        for name in told_before - self._told_of_sisters:
            if name in self.runs:
                self.runs[name].tell("sisters", ())

    def predecessor(self, view: RunView) -> tuple[RunView, int] | None:
        """The run that another one continues, and the step from which on; None where it continues none."""
        found = self.lineage().get(view.name)
        return None if found is None else (self.runs[found.run], found.step)

    def successor(self, view: RunView) -> RunView | None:
        """The run that continues another one, the first of several; None without one."""
        later = [self.runs[name] for name, found in self.lineage().items() if found.run == view.name]
        return min(later, key=lambda run: run.run.last_wall, default=None)

    @classmethod
    def load(
        cls,
        logdirs: Sequence[str | Path],
        config: Config | None = None,
        *,
        run_glob: str | None = None,
        at_step: int | None = None,
        verify: bool = False,
        progress: Callable[[Delivery], None] | None = None,
        charts: bool = True,
    ) -> Session:
        """Read everything that is there now and evaluate the rules: what the headless commands start with.

        charts: False holds little of each run: enough for the rules and lists, too little to draw.
        """
        session = cls(config, run_glob=run_glob, logdirs=logdirs)
        follower = Follower(logdirs, run_glob=run_glob, verify=verify, once=True)
        deliveries = chain.from_iterable(Deliveries(follower))
        session.take_all(deliveries, at_step=at_step, progress=progress, charts=charts)
        if at_step is None:  # what a console tells of an earlier step is not known
            from rltui.run_context.console.run_consoles import (
                RunConsoles,  # other sessions are told what they tell
            )

            session.others = follower.others()
            consoles = RunConsoles([str(logdir) for logdir in logdirs])
            reports = consoles.look(session.sources(), session.others)
            session.set_consoles(reports, time.time())
        return session

    def take_all(
        self,
        deliveries: Iterable[Delivery],
        *,
        at_step: int | None = None,
        progress: Callable[[Delivery], None] | None = None,
        charts: bool = False,
    ) -> None:
        """Apply deliveries to their end and evaluate the rules, as far as a step if one is given."""
        if not charts:
            self.focus()
        for delivery in deliveries:
            self.apply((delivery,), up_to_step=at_step)
            # A run may have logs that are still to come, and only with all tags its framework is known.
            if self._held.points >= HELD_POINTS:
                self.evaluate()
            if progress is not None:
                progress(delivery)
        self.evaluate(force=True)

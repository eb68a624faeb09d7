"""A session: everything known about the runs below LOGDIR, kept up to date by deliveries from the readers.

The screen and the commands use this one object. It has no threads and no clock: its owner applies deliveries
and calls for the evaluation of rules.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from rltui.common.problem import Problems
from rltui.config import Config
from rltui.logs.delivery import Delivery, Source
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries
from rltui.logs.run_names import ALL_RUNS, RunFilter, runs_named, shown_name, with_namesakes
from rltui.rules.run_status.nearby_hparams import LookupNearby, NearbyHParamsLookup
from rltui.run_context.jobs.scheduler import Job, RunTraces
from rltui.session.logs_until import LogsUntil
from rltui.session.outcome_curve import OutcomeCurve, outcome_curve
from rltui.session.run_view import HELD_POINTS, HeldPoints, RunView
from rltui.session.shared_metric_names import SharedNames
from rltui.session.sister_runs import SisterComparison, iter_comparisons, sister_finding
from rltui.store.continued_runs import Lineage, lineage
from rltui.store.store import Store

if TYPE_CHECKING:  # it imports the readers of consoles
    from rltui.run_context.console.failure_search import ConsoleReport

MAX_FULL_RUNS = 8  # runs that were shown last and still hold everything: going back to one loses nothing


class Session:
    """The runs below the given folders that a filter selects.

    shared: names and rules that sessions of one configuration share. logdirs: the folders, for the name of a
    run that is a whole folder. nearby: looks up what files near the logs of a run say; by default these are
    read on first use.
    """

    def __init__(
        self,
        config: Config | None = None,
        *,
        runs: RunFilter = ALL_RUNS,
        shared: SharedNames | None = None,
        logdirs: Sequence[str | Path] = (),
        nearby: LookupNearby | None = None,
    ) -> None:
        self.config = config if config is not None else Config()
        self._shared = shared if shared is not None else SharedNames(self.config)
        self.store = Store()
        self.runs: dict[str, RunView] = {}
        self.others: Mapping[str, Sequence[str]] = {}  # paths of logs of runs not asked for
        self.consoles_searched = False  # whether consoles were looked for once
        self.folder_changes: int | None = None  # as `LogSearch.changes`; None: not followed
        self.given_names: dict[str, str] = {}  # display names that people gave, by run
        self.next_steps: dict[str, int] = {}  # by run, the first step left out as of an earlier one
        self.problems = Problems()  # of folders, and of files that are no logs
        self._filter = runs
        self._sources: dict[str, tuple[str, ...]] | None = None
        self._ordered: list[RunView] | None = None
        self._filter_test: Callable[[RunView], bool] | None = None
        self._recently_shown: list[str] = []
        self._held = HeldPoints()
        self._logdirs = logdirs
        self._nearby = NearbyHParamsLookup(logdirs).of if nearby is None and logdirs else nearby
        self._lineage: tuple[tuple[int, ...], dict[str, Lineage]] = ((), {})
        self._next_state_index = 0  # index of the run whose state finding is updated next
        self._comparing: Iterator[None] | None = None  # a comparison in progress
        self._sister_comparisons: tuple[tuple[object, ...], Mapping[str, SisterComparison]] = ((), {})

    def set_nearby_lookup(self, nearby: LookupNearby) -> None:
        """Look up what files near the logs say with this function from now on, as `nearby` above."""
        self._nearby = nearby
        for view in self.runs.values():
            view.nearby = nearby

    def focus(self, *names: str) -> None:
        """Keep full windows only of the runs shown now and the last few before them.

        The others keep what the list of runs and the rules need; dropped points do not come back (see
        `Series.exact_from`). Without names no run is shown. Until the first call all runs have full windows.
        """
        recent = [*names, *(name for name in self._recently_shown if name not in names)]
        recent = recent[: max(MAX_FULL_RUNS, len(names))]
        if set(recent) != set(self._recently_shown) or not recent:
            self.store.focus(recent)
        self._recently_shown = recent

    def apply(self, deliveries: Iterable[Delivery]) -> set[str]:
        """Apply deliveries of the readers; returns the names of the runs that changed."""
        changed = set()
        self._ordered = None
        for delivery in deliveries:
            name = delivery.source.run
            if not name:  # problems of folders and of files that are no logs
                self.problems.note(delivery.batch.problems)
                continue
            if not self._filter.takes(name):
                continue
            run, fresh = self.store.apply(delivery)
            view = self.runs.get(name)
            if self._sources is not None and len(self._sources.get(name, ())) != len(run.sources):
                self._sources = None
            if view is None:
                view = self.runs[name] = RunView(
                    run, self._shared, self._held, shown_name(name, self._logdirs), self._nearby
                )
            view.hold(fresh)
            changed.add(name)
            if delivery.batch.texts and (given := view.given_name):
                self.given_names[name] = given
            if delivery.kind == "rewritten" and delivery.source.duplicate_of not in (None, name):
                self._remove_log(view, delivery.source.path)
        return changed

    def _remove_log(self, view: RunView, path: str) -> None:
        """Remove a log that belongs to another run, and the run where it has no other log."""
        view.run.sources.pop(path, None)
        self._sources = None
        if not view.run.sources:
            view.drop_held()
            self.runs.pop(view.name, None)
            self.store.runs.pop(view.name, None)

    def show_only(self, chosen: Callable[[RunView], bool] | None) -> None:
        """List only the runs for which this is true at that time; the others are read, but not listed."""
        self._filter_test, self._ordered = chosen, None

    def refilter(self) -> None:
        """Apply the filter of `show_only` again after rules have been evaluated."""
        if self._filter_test is not None:
            self._ordered = None

    def keep(self, names: Collection[str]) -> None:
        """Forget all other runs."""
        for name in [name for name in self.runs if name not in names]:
            self.runs.pop(name).drop_held()
            self.store.runs.pop(name, None)
        self._ordered = self._sources = None

    def evaluate(self, *, force: bool = False) -> set[str]:
        """Evaluate the rules on all points since the last call; returns the names of the runs concerned."""
        found = {name for name, view in list(self._held.views.items()) if view.evaluate_held(force=force)}
        self.refilter()
        return found

    def named(self, name: str) -> list[str]:
        """The runs that a name may mean: the name of a run, some of its folders, or a display name."""
        return runs_named(self.runs, name) or [
            run for run, given in self.given_names.items() if given == name
        ]

    def waiting(self) -> list[RunView]:
        """The runs with points since the last call of `evaluate`."""
        return list(self._held.views.values())

    def sources(self) -> dict[str, tuple[str, ...]]:
        """The paths of each run's log files, relative to their LOGDIR; the same object until there are more.

        A thousand runs take 0.6 ms, and threads that read other files are told each second.
        """
        if self._sources is None:
            self._sources = {name: tuple(view.run.sources) for name, view in self.runs.items()}
        return self._sources

    def set_consoles(self, reports: Mapping[str, Sequence[ConsoleReport]], now: float) -> set[str]:
        """Set the reports on consoles by run; returns the names of the runs whose findings changed."""
        self.consoles_searched = True
        for name in reports.keys() - self.runs.keys():  # they failed before their first metrics
            for one in reports[name]:
                source = Source(
                    name, one.path, "console", one.size, one.size, modified=one.modified, caught_up=True
                )
                self.apply((Delivery(source, kind="state"),))
        self.refilter()
        return {name for name, view in self.runs.items() if view.set_consoles(reports.get(name, ()), now)}

    def update_liveness_findings(self, now: float, most: int | None = None) -> set[str]:
        """Update the remarks on runs that write no more; returns the runs whose findings changed.

        most: how many runs are updated in this call; the next calls continue with those after them.
        """
        views = list(self.runs.values())
        if most is not None and len(views) > most:
            begin = self._next_state_index % len(views)
            self._next_state_index = begin + most
            views = [*views, *views][begin : begin + most]
        return {view.name for view in views if view.update_liveness_finding(now)}

    def update_runs_over(self, now: float) -> None:
        """Tell the rules which runs are over, without the remarks on it; now: seconds since 1970."""
        for view in self.runs.values():
            view.update_run_over(now)

    def job_traces(self) -> dict[str, RunTraces]:
        """By run, the traces of the job that writes it."""
        return {name: view.job_traces() for name, view in list(self.runs.items())}

    def set_jobs(self, jobs: Mapping[str, Job], now: float) -> set[str]:
        """Set the jobs that write the runs; returns the names of the runs whose findings changed."""
        self.refilter()
        asked = [view for view in self.runs.values() if view.job is not None or view.name in jobs]
        return {view.name for view in asked if view.set_job(jobs.get(view.name), now)}

    def ordered(self) -> list[RunView]:
        """The listed runs, the one with the newest point first."""
        if self._ordered is None:
            views = filter(self._filter_test, self.runs.values())  # None keeps all
            self._ordered = sorted(views, key=lambda view: (-view.modified, view.name))
        return list(self._ordered)

    def mark_continued_runs(self) -> None:
        """Mark the runs that another run continues: they have ended."""
        continued = {of for of, _ in self.lineage().values()}
        for name, view in self.runs.items():
            view.continued = name in continued

    def lineage(self) -> dict[str, Lineage]:
        """By name, the runs that continue another run."""
        runs = [view.run for view in self.runs.values()]
        # Only the beginning of a run decides: computed again when the number of points has doubled.
        points = sum(run.points for run in runs)
        known = (len(runs), sum(len(run.series) for run in runs), points.bit_length())
        if self._lineage[0] != known:
            self._lineage = (known, lineage(runs))
        return self._lineage[1]

    def compare_sisters(self, within: float | None = None) -> Mapping[str, SisterComparison]:
        """Compare each run with its sister runs; returns the comparisons by run, and sets their findings.

        Computed again when runs were added, or a tenth more points. within: seconds after which the work goes
        on in the next call; until it is done the earlier comparisons are returned.
        """
        if self._comparing is None:
            points = sum(view.run.points for view in self.runs.values())
            known = (tuple(self.runs), int(8 * math.log2(points + 1)))
            if self._sister_comparisons[0] == known:
                return self._sister_comparisons[1]
            self._comparing = self._compare_all(known)
        end = math.inf if within is None else time.perf_counter() + within
        for _ in self._comparing:
            if time.perf_counter() >= end:
                return self._sister_comparisons[1]
        self._comparing = None
        return self._sister_comparisons[1]

    @property
    def sister_comparisons(self) -> Mapping[str, SisterComparison]:
        """The last complete result of `compare_sisters`."""
        return self._sister_comparisons[1]

    @property
    def comparing_sisters(self) -> bool:
        """Whether `compare_sisters` is not complete."""
        return self._comparing is not None

    def _compare_all(self, known: tuple[object, ...]) -> Iterator[None]:
        """Compare all runs; yields after each run."""
        asked = with_namesakes(self.runs)
        outcomes: list[OutcomeCurve] = []
        for name, view in list(self.runs.items()):
            outcome = outcome_curve(view, hparams=name in asked)
            if outcome is not None:
                outcomes.append(outcome)
            yield
        found: dict[str, SisterComparison] = {}
        for comparison in iter_comparisons(outcomes):
            if comparison is not None and comparison.run in self.runs:
                found[comparison.run] = comparison
            yield
        compared, self._sister_comparisons = self._sister_comparisons[1], (known, found)
        for name in self.runs.keys() & {*compared, *found}:
            view = self.runs[name]
            one = sister_finding(found[name], view.evaluator.findings()) if name in found else None
            view.set_findings("sisters", [one])

    def predecessor(self, view: RunView) -> tuple[RunView, int] | None:
        """The run that a run continues, and from which step; None where it continues none."""
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
        """Read everything that is there now and evaluate the rules, for commands.

        charts: False keeps only what rules and lists need, too little to draw.
        """
        runs = RunFilter(run_glob)
        session = cls(config, runs=runs, logdirs=logdirs)
        until = None
        if at_step is not None:
            first = Deliveries(Follower(logdirs, runs=runs, verify=verify, once=True))
            until = LogsUntil(chain.from_iterable(first), at_step, progress)
        follower = Follower(logdirs, runs=runs, verify=verify, once=True)
        deliveries = chain.from_iterable(Deliveries(follower))
        session.apply_all(deliveries, until=until, progress=progress, charts=charts)
        if at_step is None:  # consoles are not dated by step
            # Imported here: other sessions get reports from their owner.
            from rltui.run_context.console.run_consoles import RunConsoles

            session.others = follower.others()
            consoles = RunConsoles([str(logdir) for logdir in logdirs])
            reports = consoles.scan(session.sources(), session.others)
            session.set_consoles(reports, time.time())
        return session

    def apply_all(
        self,
        deliveries: Iterable[Delivery],
        *,
        until: LogsUntil | None = None,
        progress: Callable[[Delivery], None] | None = None,
        charts: bool = False,
    ) -> None:
        """Apply all deliveries and evaluate the rules; until: only what was logged up to a step."""
        if not charts:
            self.focus()
        for delivery in deliveries:
            self.apply((delivery if until is None else until.cut(delivery),))
            # Other logs of a run may follow, and only all tags tell its framework.
            if self._held.points >= HELD_POINTS:
                self.evaluate()
            if progress is not None:
                progress(delivery)
        if until is not None:
            self.next_steps = until.next_steps
            for run in self.store.runs.values():
                run.read_until = until.step
        self.evaluate(force=True)

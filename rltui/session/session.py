"""A session: everything known about the runs below LOGDIR, kept up to date by deliveries from the readers.

The screen and the headless commands use this one object. It has no threads and no clock of its own:
whoever owns it applies deliveries and asks for judgement.
"""

from __future__ import annotations

import dataclasses
import fnmatch
import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from rltui.batch import Batch, Problem, Problems
from rltui.config import Config
from rltui.logs.delivery import Delivery
from rltui.logs.follow.read_all import read_all
from rltui.logs.run_names import called
from rltui.metrics import FrameworkMatch, MetricNames
from rltui.rules.evaluate.evaluator import Evaluator
from rltui.rules.run_state.liveness import Liveness, liveness
from rltui.rules.run_state.log_state import of_sources
from rltui.session.past_findings import PastFindings, judged_by, now_of, remembered
from rltui.session.shared_names import SharedNames
from rltui.store import Fresh, Run, Store
from rltui.store.lineage import Lineage, lineage

# Fresh points of all runs held back while history is still being read: judging in large pieces is faster,
# and by then all tags have been seen, so the framework is known. So many are 7 MB; thrice as many would save
# a sixth of the judging of a large log.
HELD_POINTS = 300_000
LOOKED_AT = 8  # runs that were shown last and still hold everything: going back to one loses nothing
SAME_MOMENT = 0.02  # seconds within which a frame asks several times how a run is doing


class _Held:
    """How many points all runs together hold back, and which runs do."""

    def __init__(self) -> None:
        self.points = 0
        self.views: dict[str, RunView] = {}


class RunView:
    """One run with its names and its judge."""

    def __init__(self, run: Run, knowledge: SharedNames, held: _Held | None = None) -> None:
        self.run = run
        self._all_held = held if held is not None else _Held()
        self._knowledge = knowledge
        self._tags_seen = -1
        self._held: list[tuple[list[Fresh], int]] = []  # by delivery, and how many points they are
        self._held_points = 0
        self._alive: tuple[int, float, Liveness | None] = (-1, 0.0, None)
        self.recognition: FrameworkMatch = knowledge.recognise((), run.name)
        self._judge: Evaluator | None = None

    @property
    def names(self) -> MetricNames:
        """What its tags mean."""
        return self._knowledge.names(self.recognition.label)

    @property
    def judge(self) -> Evaluator:
        """Its judge, made when somebody asks: a run's first points may rename it before."""
        if self._judge is None:
            label = self.recognition.label
            self._judge = Evaluator(self.run, self.names, selection=self._knowledge.selection(label))
        return self._judge

    @property
    def name(self) -> str:
        """The run's folder relative to LOGDIR; `.` for LOGDIR itself."""
        return self.run.name

    @property
    def framework(self) -> str:
        """Such as `verl` or `trl-grpo`; `unknown` when the keys say nothing."""
        return self.recognition.label

    @property
    def modified(self) -> float:
        """When it last wrote, seconds since 1970: its last point, whose age is what is shown.

        A copy of its files is younger than that. Where points have no time, or one that is yet to come, that
        of the files is all there is.
        """
        files = max((source.modified for source in self.run.sources.values()), default=-math.inf)
        wall = self.run.last_wall
        return min(wall, files) if math.isfinite(wall) and math.isfinite(files) else files

    @property
    def loading(self) -> bool:
        """Whether history is still being read."""
        return any(
            source.read < source.size
            and not (source.caught_up or source.gone)  # a torn tail is waited for, but is no history
            and source.also_of is None
            for source in self.run.sources.values()
        )

    def liveness(self, now: float) -> Liveness:
        """Live, stalled or ended; how long ago, and how much longer."""
        version, at, known = self._alive
        if known is None or version != self.run.version or not 0 <= now - at < SAME_MOMENT:
            known = liveness(self.run, now, self._knowledge.config.total_of(self.run.name), self.names)
            self._alive = (self.run.version, now, known)
        return known

    def hold(self, fresh: Iterable[Fresh]) -> None:
        """Keep the points of one delivery for the next judgement."""
        pieces = list(fresh)
        if pieces:
            points = sum([len(piece.points.step) for piece in pieces])
            self._held.append((pieces, points))
            self._count_held(points)

    def _count_held(self, points: int) -> None:
        self._held_points += points
        self._all_held.points += points
        if self._held:
            self._all_held.views[self.run.name] = self
        else:
            self._all_held.views.pop(self.run.name, None)

    def judge_held(self, *, force: bool = False, most: int | None = None) -> bool:
        """Judge what was held back, unless more history is about to come. True when anything was judged.

        `most` bounds the work to about so many points; the rest waits for the next call.
        """
        if not self._held or (self.loading and not force and self._all_held.points < HELD_POINTS):
            return False
        self.name_anew()
        count = taken = 0
        while count < len(self._held) and (most is None or not count or taken < most):
            taken += self._held[count][1]
            count += 1
        held = [piece for pieces, _ in self._held[:count] for piece in pieces]
        del self._held[:count]
        self._count_held(-taken)
        self.judge.feed(held)
        return True

    def drop_held(self) -> None:
        """Judge nothing more: the run is none."""
        self._held.clear()
        self._count_held(-self._held_points)

    def name_anew(self) -> None:
        """Recognise the framework again when tags have appeared that could change the answer."""
        if len(self.run.series) == self._tags_seen:
            return
        self._tags_seen = len(self.run.series)
        before, self.recognition = self.recognition, self._knowledge.recognise(self.run.series, self.run.name)
        if self.recognition.label == before.label:
            return
        self._judge = None
        held = {piece.tag for pieces, _ in self._held for piece in pieces}
        # A run that shows its colours late is judged again from what is still known exactly.
        self.judge.feed(
            [
                Fresh(tag, series.recent(), None)
                for tag, series in self.run.series.items()
                if tag not in held and series.count
            ]
        )

    def then(self, step: int, *, again: bool = True) -> PastFindings:
        """What was wrong when the run was at a step: judged `again` if possible, else as remembered."""
        judge = self.judge
        last = self.run.last_step
        if last is None or step >= last:
            return now_of(judge)
        if again and not self.loading:
            selection = self._knowledge.selection(self.recognition.label)
            found = judged_by(self.run, self.names, selection, step)
            if found is not None:
                return found
        return remembered(judge.findings(), judge.history(), step)

    def troubles(self, now: float) -> list[Problem]:
        """What is wrong with its log files, as the readers said and as shows with time."""
        return [*self.run.problems.values(), *of_sources(self.run, now)]

    def describe(self, now: float) -> dict[str, Any]:
        """The fields that `runs --json` and `check --json` share, as promised."""
        return {
            "run": self.name,
            "framework": self.framework,
            "state": self.liveness(now).state,
            "last_step": self.run.last_step,
            "last_wall_time": self.run.last_wall if math.isfinite(self.run.last_wall) else None,
            "points": self.run.points,
            "health": self.judge.health,
        }


class Session:
    """All runs below the given folders; with `run_glob` those of such names, and the one called `also`."""

    def __init__(
        self, config: Config | None = None, *, run_glob: str | None = None, also: str | None = None
    ) -> None:
        self.config = config if config is not None else Config()
        self._knowledge = SharedNames(self.config)
        self.store = Store()
        self.runs: dict[str, RunView] = {}
        self.problems = Problems()  # of folders, and of files that are no logs
        self._run_glob = run_glob
        self._also = also
        self._ordered: list[RunView] | None = None
        self._looked_at: list[str] = []
        self._held = _Held()
        self._lineage: tuple[tuple[int, ...], dict[str, Lineage]] = ((), {})

    def focus(self, *names: str) -> None:
        """Runs that are shown now: they, and the last few before them, hold full windows.

        The others hold what the run list and the rules need. What was let go does not come back
        (`Series.exact_from` tells). Without names nothing is shown at all. Until the first call all runs
        hold full windows.
        """
        recent = [*names, *(name for name in self._looked_at if name not in names)]
        recent = recent[: max(LOOKED_AT, len(names))]
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
            if not self._wanted(name):
                continue
            if up_to_step is not None:
                delivery = dataclasses.replace(delivery, batch=_until(delivery.batch, up_to_step))
            run, fresh = self.store.apply(delivery)
            view = self.runs.get(name)
            if view is None:
                view = self.runs[name] = RunView(run, self._knowledge, self._held)
            view.hold(fresh)
            changed.add(name)
            if delivery.kind == "rewritten" and delivery.source.also_of not in (None, name):
                self._leave(view, delivery.source.path)
        return changed

    def _wanted(self, name: str) -> bool:
        if self._run_glob is None or fnmatch.fnmatchcase(name, self._run_glob):
            return True
        return self._also is not None and called(name, self._also)

    def _leave(self, view: RunView, path: str) -> None:
        """A log turned out to belong to another run; a run that has no other log is none."""
        view.run.sources.pop(path, None)
        if not view.run.sources:
            view.drop_held()
            self.runs.pop(view.name, None)
            self.store.runs.pop(view.name, None)

    def judge(self, *, force: bool = False) -> set[str]:
        """Judge all points that came since the last call; returns the names of the runs that were judged."""
        return {name for name, view in list(self._held.views.items()) if view.judge_held(force=force)}

    def ordered(self) -> list[RunView]:
        """The runs, that with the newest point first."""
        if self._ordered is None:
            self._ordered = sorted(self.runs.values(), key=lambda view: (-view.modified, view.name))
        return list(self._ordered)

    def diagnostics(self) -> list[Problem]:
        """What is odd about files and data: problems of reading first, then what the judges say of data."""
        found = list(self.problems.values())
        for view in self.ordered():
            found += view.run.problems.values()
            found += view.judge.diagnostics()
        for name, (of, step) in self.lineage().items():
            found.append(Problem("info", "continues", name, f"continues {of} at step {step}"))
        return list(dict.fromkeys(found))  # a follower and a run may tell of the same

    def lineage(self) -> dict[str, Lineage]:
        """By name, the runs that go on where another one stopped."""
        runs = [view.run for view in self.runs.values()]
        # What a run continues is settled by its beginning: asked again when there is twice as much.
        points = sum(run.points for run in runs)
        known = (len(runs), sum(len(run.series) for run in runs), points.bit_length())
        if self._lineage[0] != known:
            self._lineage = (known, lineage(runs))
        return self._lineage[1]

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
        """Read everything that is there now and judge it: what the headless commands start with.

        charts: False holds little of each run: enough to judge and to list, too little to draw.
        """
        session = cls(config, run_glob=run_glob)
        if not charts:
            session.focus()
        for delivery in read_all(logdirs, run_glob=run_glob, verify=verify):
            session.apply((delivery,), up_to_step=at_step)
            session.judge()
            if progress is not None:
                progress(delivery)
        session.judge(force=True)
        return session


def _until(batch: Batch, step: int) -> Batch:
    """The points of a batch at or below a step: a replay sees no more than was there then."""
    then = batch.where(batch.step <= step)
    return dataclasses.replace(
        then,
        starts=tuple(start for start in then.starts if start.step <= step),
        texts=tuple(text for text in then.texts if text.step <= step),
    )

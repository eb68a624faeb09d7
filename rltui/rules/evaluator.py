"""The evaluator of one run: takes new points in, says what is wrong and since when.

Feeding costs O(new points) and a bounded number of rounds: ticks make a long series short (see
`rltui.rules.judged_series.ticks`), and rules on each series are evaluated at every tick while it is short, at
every second or fourth tick later, staggered, so that a step of sixty series does not make sixty rounds. What
is found depends only on the order of points within each series, not on the pieces in which they came.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Protocol

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.problem import Problem
from rltui.config import Config
from rltui.logs.batch import Text
from rltui.metrics.resolve import MetricNames
from rltui.rules.finding import NO_POINTS, Finding, Health, health_of, order
from rltui.rules.judged_series.ticks import START
from rltui.rules.load import Rulebook
from rltui.rules.messages import finding_of, resolved_finding, sentence_of
from rltui.rules.model import Rule
from rltui.rules.rule_states.firing import Firing, FiringState, JudgedSeries, settings_beyond
from rltui.rules.rule_states.rule_selection import RuleSelection, stagger_of
from rltui.rules.rule_states.series_state import RatioState, RuledTicks, SeriesState, StepTimeState
from rltui.rules.run_state import data_quality
from rltui.rules.special_metrics import special_metrics
from rltui.rules.symptoms import gather
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.store.points import NewPoints, Points, join

KNOWN_BY = 20  # points by which an outcome should have been logged


class EvaluatedRun(Protocol):
    """What is read of a run: the store's own, or one as of an earlier step."""

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def step_walls(self) -> Floats:
        """(n, 2) recent steps and their wall times."""

    @property
    def hparams(self) -> Mapping[str, object]:
        """Hyperparameters that the log records as such."""

    @property
    def hparams_texts(self) -> Mapping[str, Mapping[str, Text]]:
        """Texts of its logs that hold hyperparameters, by log and tag."""


class Evaluator:
    """Feed it what is fresh; ask it for findings. Pure: no clock, no I/O."""

    def __init__(
        self,
        run: EvaluatedRun,
        names: MetricNames,
        config: Config | None = None,
        rules: Rulebook | None = None,
        selection: RuleSelection | None = None,
    ) -> None:
        """`selection` saves choosing the rules of each tag again, for runs with the same names and limits."""
        self.run = run
        self._selection = selection if selection is not None else RuleSelection(names, config, rules)
        self.series: dict[str, SeriesState] = {}
        self._ratios: dict[tuple[str, bool], RatioState] = {}
        self._step_times: list[StepTimeState] = []
        self._logs_step_time = False  # the writer times its steps itself
        self._unsettled: list[RuledTicks] = []  # where rules have not seen all ticks that were joined
        self._judged: JudgedSeries | None = None  # all that is judged, made again when there is more
        self._settings: tuple[tuple[int, ...], Mapping[str, HParam]] = (), {}  # and of which texts
        self._state: FiringState | None = None  # these are made once after new ticks, when somebody asks
        self._ruled: list[Finding] | None = None  # what its rules say
        # By rule: what its finding was made of, and that finding.
        self._said: dict[str, tuple[tuple[list[Firing], list[int], bool], Finding]] = {}
        self._findings: list[Finding] | None = None  # and the job's
        self._health: Health | None = None
        self._unjudged: str | None = None
        self._odd: list[Problem] | None = None
        self._job_findings: tuple[Finding, ...] = ()

    # ---- feeding

    @np.errstate(invalid="ignore", divide="ignore")  # what is not known yet is NaN, and compares as such
    def feed(self, fresh: Sequence[NewPoints]) -> None:
        """Take new points in, in order of arrival per tag."""
        by_tag: dict[str, list[NewPoints]] = {}
        again = False
        for piece in fresh:
            if piece.tag not in self.series:
                self._begin(piece.tag)
            by_tag.setdefault(piece.tag, []).append(piece)
            again |= piece.rewound_to is not None
        if again:  # all tags go back before one goes on: what is divided by another must not meet its past
            self._judged = None
            self._said.clear()
            for tag, pieces in by_tag.items():
                back = [piece.rewound_to for piece in pieces if piece.rewound_to is not None]
                if back:
                    self.series[tag].rewind(min(back))
        changed = again
        for tag, pieces in by_tag.items():
            series, points = self.series[tag], _joined(pieces)
            if len(points.step):
                changed |= series.feed(points.step, points.value)
                if series.step_time is not None and not self._logs_step_time:
                    changed |= series.step_time.feed(points.step, points.wall_time)
        self._odd = self._unjudged = None
        if changed:  # a live step of a long run mostly ends no tick
            self._state = self._ruled = self._findings = self._health = None
            self._unsettled = [each for each in self._ruled_ticks() if each.unsettled]
        if self._unsettled:
            self._settle(max(len(piece.points.step) for piece in fresh))

    def _settle(self, most: int) -> None:
        """Let some rules see what they have not seen of ticks that were joined: one for each new step."""
        for _ in range(most):
            while self._unsettled and not self._unsettled[-1].unsettled:
                self._unsettled.pop()
            if not self._unsettled:
                return
            self._unsettled[-1].settle_next()

    def _ruled_ticks(self) -> Iterator[RuledTicks]:
        """All that is judged."""
        for series in self.series.values():
            yield series.ruled
            if series.nonzero is not None:
                yield series.nonzero
        yield from self._derived()

    def _derived(self) -> list[RuledTicks]:
        """What is judged and is no tag: ratios that are known, and times of steps."""
        ratios = [each.ruled for each in self._ratios.values() if each.ruled is not None]
        return ratios + [each.ruled for each in self._step_times]

    def _begin(self, tag: str) -> None:
        plan = self._selection.of(tag)
        series = self.series[tag] = SeriesState(plan)
        for rule in plan.numerator_of:
            self._ratio(rule, plan.held_out).join(series, 0)
        for rule in plan.denominator_of:
            self._ratio(rule, plan.held_out).join(series, 1)
        self._logs_step_time |= plan.is_step_time
        if plan.marks_steps:
            series.step_time = StepTimeState(tag, plan.stagger, self._selection.step_time_rules)
            self._step_times.append(series.step_time)

    def _ratio(self, rule: Rule, held_out: bool) -> RatioState:
        """The ratio of a rule. It waits for its other half: it does not matter which comes first."""
        found = self._ratios.get((rule.id, held_out))
        if found is None:
            found = self._ratios[rule.id, held_out] = RatioState(rule, held_out, stagger_of(rule.id))
        return found

    def set_external_findings(self, findings: Sequence[Finding]) -> bool:
        """Findings of the job, not of metrics, in place of those before; True when they changed."""
        changed = self._job_findings != tuple(findings)
        if changed:
            self._job_findings = tuple(findings)
            self._findings = self._health = self._unjudged = None
        return changed

    # ---- answers

    @property
    def state(self) -> FiringState:
        """Which rules fire now, on which series. Made once after new ticks."""
        if self._state is None:
            derived, judged, settings = self._derived(), self._judged, self._settings_beyond()
            if judged is None or not judged.hold_all(self.series, derived, settings):
                judged = self._judged = JudgedSeries(self._selection.book, self.series, derived, settings)
            self._state = FiringState(judged)
        return self._state

    def _settings_beyond(self) -> Mapping[str, HParam]:
        """Hyperparameters of its logs that are beyond limits; the same object until others are logged."""
        texts = [text for log in self.run.hparams_texts.values() for text in log.values()]
        mark = len(self.run.hparams), *map(id, texts)
        if mark != self._settings[0]:
            entries = logged_hparams(reversed(texts), self.run.hparams).entries
            self._settings = mark, settings_beyond(self._selection.book, entries)
        return self._settings[1]

    def findings(self) -> list[Finding]:
        """What fires now: symptoms with the findings they explain, most important first."""
        if self._findings is None:
            if self._ruled is None:
                self._ruled = self._ask_rules() if self.series else []  # no points: no rule need be read
            self._findings = sorted([*self._ruled, *self._job_findings], key=order)
        return list(self._findings)

    def _ask_rules(self) -> list[Finding]:
        state = self.state
        return gather(state, [self._worded(state, rule_id) for rule_id in state.shown()])

    def _worded(self, state: FiringState, rule_id: str) -> Finding:
        """The finding of a rule that fires: put into words again when it fires otherwise or on more."""
        firings = state.firing[rule_id]
        known = firings, [each.ticks.serial for each in firings], state.any(firings[0].rule.info_when)
        before = self._said.get(rule_id)
        if before is None or before[0] != known:
            before = self._said[rule_id] = known, finding_of(firings, remark=known[-1])
        return before[1]

    def history(self) -> list[Finding]:
        """What fired before and is resolved, latest first."""
        found = [resolved_finding(*episode) for episode in self.state.resolved()]
        return sorted(found, key=lambda finding: -(finding.resolved_step or 0))

    def diagnostics(self) -> list[Problem]:
        """What is odd about the data, as opposed to the training."""
        if self._odd is None:
            self._odd = data_quality.diagnostics(self.run.name, self.run.step_walls, self.series)
        return list(self._odd)

    @property
    def health(self) -> Health:
        """ok, warning or critical."""
        if self._health is None:
            self._health = health_of(self.findings())
        return self._health

    def unjudged(self) -> str:
        """Why `ok` would say too much: no points, no metric with a rule, or too few points; else empty."""
        if self._unjudged is None:
            self._unjudged = self._why_unjudged()
        return self._unjudged

    def _why_unjudged(self) -> str:
        if self.health != "ok":
            return ""
        if not self.series:
            return NO_POINTS
        if any(each.user_states for each in self.series.values()):
            return ""
        ruled = [each.ruled for each in self.series.values()]
        points = [each.ticks.points for each in ruled if any(state.rule.shown for state in each.shown)]
        points += [
            0 if each.ruled is None else each.ruled.ticks.points
            for each in self._ratios.values()
            if each.rule.shown
        ]
        if not points:
            count = f"its {len(self.series)} metrics" if len(self.series) > 1 else "its one metric"
            return f"no rule knows {count}; `rltui doctor` lists keys that are not recognised"
        if max(points) < START:
            return f"too few points: {max(points)} of the metric with most of them, {START} are needed"
        return ""

    def sentence(self) -> str:
        """The run's health in one sentence for a header."""
        return sentence_of(self.findings(), unknown=self.unknown_outcome())

    def unknown_outcome(self) -> str:
        """That nothing says what the run achieves, and what else was judged; empty where something does.

        Few points are no reason yet: the first episode has to end first.
        """
        judged = [each.ruled for each in self.series.values() if each.ruled.shown or each.ruled.recordings]
        points = max((each.ticks.points for each in judged), default=0)
        outcomes = special_metrics().outcomes
        known = any((each.ticks.canonical or "") in outcomes and each.ticks.n >= START for each in judged)
        if known or points < KNOWN_BY or any(each.user_states for each in self.series.values()):
            return ""
        count = f"{len(judged)} metrics that were" if len(judged) > 1 else "one metric that was"
        return (
            f"nothing is wrong in the {count} judged, but no reward, return, score, success or "
            "held-out metric tells what the run achieves"
        )


def _joined(pieces: Sequence[NewPoints]) -> Points:
    """The points of one tag, without what a restart among them took back.

    As one, because many rounds over few points cost more than few.
    """
    if len(pieces) == 1:
        return pieces[0].points
    parts: list[Points] = []
    back: int | None = None
    for piece in reversed(pieces):
        points = piece.points
        if back is not None and (gone := points.step >= back).any():
            points = Points(points.step[~gone], points.wall_time[~gone], points.value[~gone])
        parts.append(points)
        if piece.rewound_to is not None:
            back = piece.rewound_to if back is None else min(back, piece.rewound_to)
    return join(parts[::-1])

"""Evaluates the rules on one run: new points in, findings out.

Feeding costs O(new points) and a bounded number of evaluations: ticks make a long series short (see
`rltui.rules.evaluated_series.ticks`). Rules are evaluated at every tick of a short series, and at every
second or fourth tick later; of which ticks, and how late a tick of a live run is made, differs between
series, so that not all are evaluated at the same step. The findings depend only on the order of points within
each series, not on how they are divided into deliveries.
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
from rltui.rules.evaluated_series.ticks import START
from rltui.rules.finding import NO_POINTS, Finding, Health, health_of, order
from rltui.rules.metric_roles import metric_roles
from rltui.rules.rule import Rule
from rltui.rules.rule_messages import finding_of, is_back, resolved_finding, sentence_of
from rltui.rules.rule_states.firing import FiringState, JudgedSeries
from rltui.rules.rule_states.hparam_conditions import (
    ENVIRONMENT,
    environment_of_name,
    hparams_beyond_limits,
    not_logged,
)
from rltui.rules.rule_states.joint_firings import Firing
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.rules.rule_states.series_state import RatioState, RuledTicks, SeriesState, StepTimeState
from rltui.rules.rulebook import Rulebook
from rltui.rules.run_status import data_quality
from rltui.rules.symptoms import failures_explained, gather
from rltui.run_context.hparams.environments import KnownEnvironment, environment_in
from rltui.run_context.hparams.hparams import HParam
from rltui.run_context.hparams.logged_text import logged_hparams
from rltui.store.points import NewPoints, Points, join

MAX_LATE = 15  # points by which a tick of a live run is late at most; always fewer than the tick has
OUTCOME_POINTS = 20  # points after which an outcome should have been logged


class EvaluatedRun(Protocol):
    """The part of a run that is read here: the store's `Run`, or one as of an earlier step."""

    @property
    def name(self) -> str:
        """The run's name."""

    @property
    def step_walls(self) -> Floats:
        """(n, 2) recent steps and their wall times."""

    def silence(self, tag: str, /) -> float:
        """Share of the time of the run since the last point of a tag; NaN unknown."""

    @property
    def resumes(self) -> tuple[int, ...]:
        """The steps at which it was resumed."""

    @property
    def hparams(self) -> Mapping[str, object]:
        """Hyperparameters recorded as such in the log."""

    @property
    def hparams_texts(self) -> Mapping[str, Mapping[str, Text]]:
        """Texts of its logs that contain hyperparameters, by log and tag."""


class Evaluator:
    """Keeps the states of all rules on one run. Uses no clock and no I/O."""

    def __init__(
        self,
        run: EvaluatedRun,
        names: MetricNames,
        config: Config | None = None,
        rules: Rulebook | None = None,
        selection: RuleSelection | None = None,
    ) -> None:
        """`selection`: may be shared by runs with the same names and thresholds."""
        self.run = run
        self._selection = selection if selection is not None else RuleSelection(names, config, rules)
        self.series: dict[str, SeriesState] = {}
        self._ratios: dict[tuple[str, bool], RatioState] = {}
        self._step_times: list[StepTimeState] = []
        self._logs_step_time = False  # the log has a metric for the time of a step
        self._has_late_ticks = False
        self._logged: set[str] = set()  # metrics that are judged instead of others
        self._awaited: set[str] = set()  # tags of such metrics with too few ticks
        self._behind: list[RuledTicks] = []  # with rules that have not been evaluated at all joined ticks
        self._evaluated: JudgedSeries | None = None
        self._beyond_limits: tuple[tuple[int, ...], Mapping[str, HParam]] = (
            (),
            {},
        )  # with the texts they are from
        self.nearby_hparams: Mapping[str, HParam] = {}  # as last set
        self._external_findings: tuple[Finding, ...] = ()
        self._run_over = False
        # Computed on demand, reset by new ticks:
        self._state: FiringState | None = None
        self._rule_findings: list[Finding] | None = None
        # By rule: what its finding was made from, and that finding.
        self._worded: dict[str, tuple[tuple[list[Firing], list[int], bool], Finding]] = {}
        self._findings: list[Finding] | None = None  # with the external ones
        self._health: Health | None = None
        self._unjudged: str | None = None
        self._diagnostics: list[Problem] | None = None

    # ---- feeding

    # Unknown numbers are NaN, and compare as such; those beyond float64 are infinite.
    @np.errstate(invalid="ignore", divide="ignore", over="ignore")
    def feed(self, fresh: Sequence[NewPoints], *, live: bool = False, catch_up: bool = True) -> None:
        """Add new points, per tag in order of arrival.

        live: ticks of several points may be made late, up to `MAX_LATE` points, each series at other steps.
        They are made by `make_late_ticks` or the next call without `live`. catch_up: False where no live
        steps follow. Then rules wait until they are asked for, which most never are.
        """
        by_tag: dict[str, list[NewPoints]] = {}
        restarted = False
        for piece in fresh:
            if piece.tag not in self.series:
                self._begin(piece.tag)
            by_tag.setdefault(piece.tag, []).append(piece)
            restarted |= piece.rewound_to is not None
        if restarted:  # all tags are rewound before points are added, so that ratios join no superseded ones
            self.make_late_ticks()
            self._evaluated = None
            self._worded.clear()
            for tag, pieces in by_tag.items():
                steps = [piece.rewound_to for piece in pieces if piece.rewound_to is not None]
                if steps:
                    self.series[tag].rewind(min(steps))
            self._update_logged()
        changed = restarted
        # Metrics that are judged instead of others come first, so that rules on these are left out at once.
        tags = sorted(by_tag, key=lambda tag: tag not in self._awaited) if self._awaited else by_tag
        for tag in tags:
            series, points = self.series[tag], _joined(by_tag[tag])
            if len(points.step):
                late = series.number % (MAX_LATE + 1) if live else 0
                changed |= series.feed(points.step, points.value, late)
                if series.step_time is not None and not self._logs_step_time:
                    changed |= series.step_time.feed(points.step, points.wall_time, late)
                if tag in self._awaited and series.ticks.n >= START:
                    self._update_logged()
        if self._has_late_ticks and not live:
            changed |= self.make_late_ticks()
        self._has_late_ticks |= live
        self._reset(changed)
        if catch_up and self._behind:
            self._catch_up(max(len(piece.points.step) for piece in fresh))

    @np.errstate(invalid="ignore", divide="ignore", over="ignore")
    def make_late_ticks(self) -> bool:
        """Make the ticks of a live run that are late. Returns whether findings may have changed."""
        if not self._has_late_ticks:
            return False
        changed = False
        for ruled in self._ruled_ticks():
            changed |= ruled.make_late_ticks()
        self._has_late_ticks = False
        self._reset(changed)
        return changed

    def _reset(self, changed: bool) -> None:
        """Forget what was computed from fewer points."""
        self._diagnostics = self._unjudged = None
        if changed:  # a live step of a long run mostly completes no tick
            self._state = self._rule_findings = self._findings = self._health = None
            self._behind = [each for each in self._ruled_ticks() if each.behind]

    def _catch_up(self, rules: int) -> None:
        """Evaluate some rules at joined ticks that they have not been evaluated at: one per new step."""
        for _ in range(rules):
            while self._behind and not self._behind[-1].behind:
                self._behind.pop()
            if not self._behind:
                return
            self._behind[-1].evaluate_next_missed()

    def _ruled_ticks(self) -> Iterator[RuledTicks]:
        for series in self.series.values():
            yield series.ruled
            if series.nonzero is not None:
                yield series.nonzero
        yield from self._derived()

    def _derived(self) -> list[RuledTicks]:
        """Series that are not tags: ratios, and times of steps."""
        ratios = [each.ruled for each in self._ratios.values() if each.ruled is not None]
        return ratios + [each.ruled for each in self._step_times]

    def _begin(self, tag: str) -> None:
        tag_rules = self._selection.of(tag)
        series = self.series[tag] = SeriesState(tag_rules, len(self.series), self._logged)
        if self._selection.is_judged_instead(tag_rules):
            self._awaited.add(tag)
        for rule in tag_rules.numerator_of:
            self._ratio(rule, tag_rules.held_out).join(series, 0)
        for rule in tag_rules.denominator_of:
            self._ratio(rule, tag_rules.held_out).join(series, 1)
        self._logs_step_time |= tag_rules.is_step_time
        if tag_rules.marks_steps:
            series.step_time = StepTimeState(tag, tag_rules.moment_offset, self._selection.step_time_rules)
            self._step_times.append(series.step_time)

    def _ratio(self, rule: Rule, held_out: bool) -> RatioState:
        found = self._ratios.get((rule.id, held_out))
        if found is None:
            found = self._ratios[rule.id, held_out] = RatioState(rule, held_out, self._logged)
        return found

    def _update_logged(self) -> None:
        """Update which metrics are judged instead of others, and leave out the rules on those."""
        instead = [
            each.ticks for each in self.series.values() if self._selection.is_judged_instead(each.tag_rules)
        ]
        self._awaited = {ticks.tag for ticks in instead if ticks.n < START}
        logged = {ticks.canonical for ticks in instead if ticks.canonical and ticks.n >= START}
        if logged != self._logged:
            self._logged.clear()
            self._logged |= logged
            for ruled in self._ruled_ticks():
                ruled.leave_out()

    def set_external_findings(self, findings: Sequence[Finding]) -> bool:
        """Replace the findings that are not from metrics, such as those of the job; True if they changed."""
        changed = self._external_findings != tuple(findings)
        if changed:
            self._external_findings = tuple(findings)
            self._findings = self._health = self._unjudged = None
        return changed

    def set_run_over(self, over: bool) -> bool:
        """Set whether the run is over (`Liveness.over`): False until it is known. True if that changed."""
        changed = over != self._run_over
        if changed:
            self._run_over = over
            self._reset(True)
        return changed

    def set_nearby_hparams(self, beyond_limits: Mapping[str, HParam]) -> bool:
        """Set those beyond limits in files near the logs, by condition. True if they changed."""
        if beyond_limits == self.nearby_hparams:
            return False
        self.nearby_hparams = beyond_limits
        self._reset(True)
        return True

    # ---- answers

    @property
    def state(self) -> FiringState:
        """Which rules fire now, on which series."""
        if self._state is None:
            derived, evaluated, beyond_limits = (
                self._derived(),
                self._evaluated,
                self._hparams_beyond_limits(),
            )
            resumes = self.run.resumes
            if evaluated is None or not evaluated.is_current(self.series, derived, beyond_limits, resumes):
                evaluated = self._evaluated = JudgedSeries(
                    self._selection.book, self.series, derived, beyond_limits, self.run.silence, resumes
                )
            self._state = FiringState(evaluated, run_over=self._run_over)
        return self._state

    def _hparams_beyond_limits(self) -> Mapping[str, HParam]:
        """Hyperparameters beyond the limits of rules; the same object until others are logged."""
        texts = [text for log in self.run.hparams_texts.values() for text in log.values()]
        mark = len(self.run.hparams), id(self.nearby_hparams), *map(id, texts)
        if mark != self._beyond_limits[0]:
            entries, book = logged_hparams(reversed(texts), self.run.hparams).entries, self._selection.book
            nearby = not_logged(book, self.nearby_hparams, entries)
            named = environment_of_name(self.run.name)
            beyond_limits = {} if named is None else {ENVIRONMENT: named}
            self._beyond_limits = mark, {**beyond_limits, **nearby, **hparams_beyond_limits(book, entries)}
        return self._beyond_limits[1]

    @property
    def environment(self) -> KnownEnvironment | None:
        """The environment of the run, if it is a known one."""
        named = self._hparams_beyond_limits().get(ENVIRONMENT)
        return environment_in(named.text) if named is not None else None

    def findings(self) -> list[Finding]:
        """Present findings: symptoms and the findings that they explain, the most important first."""
        if self._findings is None:
            if self._rule_findings is None:
                # Without points the rules need not be loaded.
                self._rule_findings = self._find() if self.series else []
            external: Sequence[Finding] = self._external_findings
            if external and self._rule_findings:
                external = failures_explained(external, self._rule_findings)
            self._findings = sorted([*self._rule_findings, *external], key=order)
        return list(self._findings)

    def _find(self) -> list[Finding]:
        state = self.state
        findings = [self._finding(state, rule_id) for rule_id in state.shown()]
        gathered = gather(state, findings, run_over=self._run_over)
        return [each.of_whole_run() for each in gathered] if self._run_over else gathered

    def _finding(self, state: FiringState, rule_id: str) -> Finding:
        """The finding of a rule that fires, worded again only if it changed."""
        firings = state.firing[rule_id]
        # The present level is only told of values that are back within the limit.
        made = [each.ticks.serial if is_back(each, each.value) else 0 for each in firings]
        known = firings, made, state.is_remark(firings)
        before = self._worded.get(rule_id)
        if before is None or before[0] != known:
            before = self._worded[rule_id] = known, finding_of(firings, remark=known[-1])
        return before[1]

    def history(self) -> list[Finding]:
        """Resolved findings, the latest first."""
        found = [resolved_finding(*period) for period in self.state.resolved()]
        return sorted(found, key=lambda finding: -(finding.resolved_step or 0))

    def diagnostics(self) -> list[Problem]:
        """Problems of the data, as opposed to the training."""
        if self._diagnostics is None:
            self._diagnostics = data_quality.diagnostics(
                self.run.name, self.run.step_walls, self.series, self.run.silence
            )
        return list(self._diagnostics)

    @property
    def health(self) -> Health:
        """ok, warning or critical."""
        if self._health is None:
            self._health = health_of(self.findings())
        return self._health

    def unjudged(self) -> str:
        """Why the run is `unjudged`: no points, no metric with a rule, or too few points; else empty."""
        if self._unjudged is None:
            self._unjudged = self._reason_unjudged()
        return self._unjudged

    def _reason_unjudged(self) -> str:
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
            return f"no rule applies to {count}; `rltui doctor` lists keys that are not recognised"
        if max(points) < START:
            return f"too few points: at most {max(points)} per metric, {START} are needed"
        return ""

    @property
    def judged(self) -> int:
        """How many of the run's metrics rules judge."""
        return sum(bool(each.ruled.shown) or bool(each.user_states) for each in self.series.values())

    def sentence(self) -> str:
        """The run's health in one sentence for a header."""
        return sentence_of(self.findings(), unknown=self.unknown_outcome())

    def unknown_outcome(self) -> str:
        """A sentence for runs that log no outcome; else empty.

        Empty also for few points, since an outcome may be logged only when the first episode ends.
        """
        evaluated = [
            each.ruled for each in self.series.values() if each.ruled.shown or each.ruled.recording_rules
        ]
        points = max((each.ticks.points for each in evaluated), default=0)
        outcomes = metric_roles().outcomes
        known = any((each.ticks.canonical or "") in outcomes and each.ticks.n >= START for each in evaluated)
        if known or points < OUTCOME_POINTS or any(each.user_states for each in self.series.values()):
            return ""
        count = f"{len(evaluated)} metrics that were" if len(evaluated) > 1 else "one metric that was"
        return (
            f"nothing is wrong in the {count} judged, but no reward, return, score, success or "
            "held-out metric shows what the run achieves"
        )


def _joined(pieces: Sequence[NewPoints]) -> Points:
    """The points of one tag in one piece, without those that a restart among them supersedes."""
    if len(pieces) == 1:
        return pieces[0].points
    parts: list[Points] = []
    restart: int | None = None
    for piece in reversed(pieces):
        points = piece.points
        if restart is not None and (superseded := points.step >= restart).any():
            points = Points(
                points.step[~superseded], points.wall_time[~superseded], points.value[~superseded]
            )
        parts.append(points)
        if piece.rewound_to is not None:
            restart = piece.rewound_to if restart is None else min(restart, piece.rewound_to)
    return join(parts[::-1])

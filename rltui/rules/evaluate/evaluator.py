"""The judge of one run: takes new points in, says what is wrong and since when.

Feeding costs O(new points) and a bounded number of rounds: ticks make a long series short (see
`rltui.rules.track`), and each series is looked at every tick while it is short, every second or fourth
tick later, each series at its own beat, so that a step of sixty series does not make sixty rounds. What
is found depends only on the order of points within each series, not on the pieces in which they came.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rltui.batch import Problem
from rltui.rules.evaluate.firing import FiringState
from rltui.rules.evaluate.rule_selection import RuleSelection, beat_of
from rltui.rules.evaluate.series_state import JudgedSeries, Paced, Quotient, SeriesState
from rltui.rules.finding import Finding, Health, health_of, order
from rltui.rules.load import Rulebook
from rltui.rules.messages import finding_of, sentence_of
from rltui.rules.model import Rule
from rltui.rules.run_state import data_quality
from rltui.rules.symptoms import gather
from rltui.store.model import Points, join


class Evaluator:
    """Feed it what is fresh; ask it for findings. Pure: no clock, no I/O."""

    def __init__(
        self,
        run: Any,
        names: Any,
        config: Any = None,
        rules: Rulebook | None = None,
        selection: RuleSelection | None = None,
    ) -> None:
        """`selection` saves choosing the rules of each tag again, for runs with the same names and limits."""
        self.run = run
        self.names = names
        self._selection = selection if selection is not None else RuleSelection(names, config, rules)
        self.book = self._selection.book
        self.series: dict[str, JudgedSeries] = {}
        self._quotients: dict[tuple[str, bool], Quotient] = {}
        self._paced: list[Paced] = []
        self._timed = False  # the writer times its steps itself
        self._state: FiringState | None = None  # both made once after each feed, when somebody asks
        self._odd: list[Problem] | None = None

    # ---- feeding

    @np.errstate(invalid="ignore", divide="ignore")  # what is not known yet is NaN, and compares as such
    def feed(self, fresh: Sequence[Any]) -> None:
        """Take new points in, in order of arrival per tag."""
        by_tag: dict[str, list[Any]] = {}
        again = False
        for piece in fresh:
            if piece.tag not in self.series:
                self._begin(piece.tag)
            by_tag.setdefault(piece.tag, []).append(piece)
            again |= piece.rewound_to is not None
        if again:  # all tags go back before one goes on: what is divided by another must not meet its past
            for tag, pieces in by_tag.items():
                back = [piece.rewound_to for piece in pieces if piece.rewound_to is not None]
                if back:
                    self.series[tag].rewind(min(back))
        for tag, pieces in by_tag.items():
            series, points = self.series[tag], _joined(pieces)
            if len(points.step):
                series.feed(points.step, points.value)
                if series.paced is not None and not self._timed:
                    series.paced.feed(points.step, points.wall_time)
        self._state = self._odd = None

    def _begin(self, tag: str) -> None:
        plan = self._selection.of(tag)
        series = self.series[tag] = JudgedSeries(plan)
        for rule in plan.above:
            self._quotient(rule, plan.held_out).join(series, 0)
        for rule in plan.below:
            self._quotient(rule, plan.held_out).join(series, 1)
        self._timed |= plan.timed
        if plan.carries:
            series.paced = Paced(tag, plan.beat, self._selection.pace_rules)
            self._paced.append(series.paced)

    def _quotient(self, rule: Rule, held_out: bool) -> Quotient:
        """The quotient of a rule. It waits for its other half: it does not matter which comes first."""
        found = self._quotients.get((rule.id, held_out))
        if found is None:
            found = self._quotients[rule.id, held_out] = Quotient(rule, held_out, beat_of(rule.id))
        return found

    # ---- answers

    @property
    def state(self) -> FiringState:
        """Which rules fire now, on which series. Made once after each feed."""
        if self._state is None:
            judged: list[SeriesState] = [*self.series.values(), *self._quotients.values(), *self._paced]
            self._state = FiringState(self.book, judged, self.run)
        return self._state

    def findings(self) -> list[Finding]:
        """What fires now: symptoms with the findings they explain, most important first."""
        state = self.state
        if state.findings is None:
            single = [finding_of(state, rule_id) for rule_id in state.shown()]
            state.findings = sorted(gather(state, single), key=order)
        return list(state.findings)

    def history(self) -> list[Finding]:
        """What fired before and is resolved, latest first."""
        return self.state.history()

    def diagnostics(self) -> list[Problem]:
        """What is odd about the data, as opposed to the training."""
        if self._odd is None:
            self._odd = data_quality.diagnostics(self.run, self.names, self.series)
        return list(self._odd)

    @property
    def health(self) -> Health:
        """ok, warning or critical."""
        return health_of(self.findings())

    def sentence(self) -> str:
        """The run's health in one sentence for a header."""
        return sentence_of(self.findings())


def _joined(pieces: Sequence[Any]) -> Any:
    """The points of one tag, without what a restart among them took back.

    As one, because many rounds over few points cost more than few.
    """
    if len(pieces) == 1:
        return pieces[0].points
    parts, back = [], None
    for piece in reversed(pieces):
        points = piece.points
        if back is not None and (gone := points.step >= back).any():
            points = Points(points.step[~gone], points.wall_time[~gone], points.value[~gone])
        parts.append(points)
        if piece.rewound_to is not None:
            back = piece.rewound_to if back is None else min(back, piece.rewound_to)
    return join(parts[::-1])

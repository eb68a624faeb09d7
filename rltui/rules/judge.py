"""The judge of one run: takes new points in, says what is wrong and since when.

Feeding costs O(new points) and a bounded number of rounds: ticks make a long series short (see
`rltui.rules.track`), and each series is looked at every tick while it is short, every second or fourth
tick later, each series at its own beat, so that a step of sixty series does not make sixty rounds. What
is found depends only on the order of points within each series, not on the pieces in which they came.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from rltui.rules import quality
from rltui.rules.finding import Finding, Health, health_of, order
from rltui.rules.kinds import KINDS
from rltui.rules.load import Rulebook, rulebook
from rltui.rules.model import Rule
from rltui.rules.own import OwnWatch, own_rules
from rltui.rules.pace import CARRIERS, METRIC, TIMED, Pace
from rltui.rules.pairing import Pairing
from rltui.rules.state import State
from rltui.rules.symptoms import gather
from rltui.rules.track import START, Ints, Track
from rltui.rules.verbal import finding_of, sentence_of
from rltui.rules.watch import Watch
from rltui.rules.window import Window
from rltui.scalars import Problem

_DERIVED = " / "  # joins the tags of a quotient


class NameLike(Protocol):
    """What the judge needs to know of a tag."""

    @property
    def canonical(self) -> str | None:
        """The quantity's id; None where nobody knows it."""
        ...

    @property
    def held_out(self) -> bool:
        """Whether evaluation wrote it."""
        ...

    @property
    def scale(self) -> float:
        """Factor to the canonical scale."""
        ...

    @property
    def offset(self) -> float:
        """What is added after the factor."""
        ...


class Series:
    """A track with its rules and quotients."""

    def __init__(self, track: Track, held_out: bool, bounds: tuple[float, float] | None) -> None:
        self.track = track
        self.held_out = held_out
        self.bounds = bounds
        self.comparable = True
        self.watches: list[Watch] = []
        self.own: list[OwnWatch] = []  # the user's own limits, of the watches
        self.quotients: list[tuple[Quotient, int]] = []  # and the side that this series is
        self.beat = zlib.crc32(track.tag.encode("utf-8", "replace")) & 3
        self.impossible: quality.Impossible | None = None
        self.paced: Paced | None = None  # its times as a series

    def evaluate(self, track: Track, begun: int) -> None:
        """Let all rules look at the ticks from `begun` on."""
        if not self.watches:
            return
        at = self._moments(begun)
        if len(at):
            window = Window(track, at)
            for watch in self.watches:
                kind = KINDS.get(watch.rule.kind)
                if kind is not None:
                    watch.advance(kind(watch.rule, window), window)

    def _moments(self, begun: int) -> Ints:
        """The new ticks at which rules look: all of the first 32, every second up to 128, then every fourth.

        None before the start of the series is known.
        """
        end = self.track.n
        if self.track.serial == end:
            begun = max(begun, START - 1)
        if end - begun == 1:
            every = 1 if begun < 32 else 2 if begun < 128 else 4
            return np.array([begun] if (begun + self.beat) % every == 0 else (), np.int64)
        at: Ints = np.arange(begun, max(end, begun))
        beat = at + self.beat
        chosen: Ints = at[(at < 32) | ((at < 128) & (beat % 2 == 0)) | (beat % 4 == 0)]
        return chosen


class Quotient(Series):
    """One series divided by another, judged by one rule."""

    def __init__(self, rule: Rule, held_out: bool) -> None:
        super().__init__(Track(rule.id, None), held_out, None)
        self.pairing = Pairing()
        self.parts: list[Series | None] = [None, None]  # numerator, denominator
        self.watches.append(Watch(rule, self.track))


class Paced(Series):
    """Seconds per step, by the times of a series that every update writes."""

    def __init__(self, tag: str, rules: Sequence[Rule]) -> None:
        super().__init__(Track(tag, TIMED[0]), False, None)
        self.pace = Pace()
        self.watches += [Watch(rule, self.track) for rule in rules]


class Judge:
    """Feed it what is fresh; ask it for findings. Pure: no clock, no I/O."""

    def __init__(self, run: Any, names: Any, config: Any = None, rules: Rulebook | None = None) -> None:
        self.run = run
        self.names = names
        self.book = rules if rules is not None else rulebook()
        self._own = tuple(getattr(config, "thresholds", ()))
        self._by_metric: dict[str, list[Rule]] = {}
        self._per: dict[str, list[Rule]] = {}  # rules by the metric below the line
        for rule in self.book.rules.values():
            for metric in rule.metrics:
                self._by_metric.setdefault(metric, []).append(rule)
            if rule.per:
                self._per.setdefault(rule.per, []).append(rule)
        self.series: dict[str, Series] = {}
        self._quotients: dict[tuple[str, bool], Quotient] = {}
        self._paced: list[Paced] = []
        self._timed = False  # the writer times its steps itself
        self._framework: str | None = getattr(names, "label", None)
        self._state: State | None = None

    # ---- feeding

    def feed(self, fresh: Sequence[Any]) -> None:
        """Take new points in, in order of arrival per tag."""
        for piece in fresh:
            series = self.series.get(piece.tag)
            if series is None:
                series = self._begin(piece.tag)
            if piece.rewound_to is not None:
                self._rewind(series, piece.rewound_to)
            points = piece.points
            if len(points.step):
                self._take(series, piece.tag, points.step, points.value)
                if series.paced is not None and not self._timed:
                    at, seconds = series.paced.pace.feed(points.step, points.wall_time)
                    series.paced.track.feed(at, seconds, series.paced.evaluate)
        self._state = None

    def _take(self, series: Series, tag: str, steps: Ints, values: np.ndarray[Any, Any]) -> None:
        name = self.names.name(tag)
        if name.scale != 1.0 or name.offset != 0.0:
            values = values * name.scale + name.offset
        if series.bounds is not None:
            series.impossible = quality.impossible(series.bounds, steps, values, series.impossible)
        series.track.feed(steps, values, series.evaluate)
        for own in series.own:
            own.feed(steps, values)
        for quotient, side in series.quotients:
            at, value = quotient.pairing.feed(side, steps, values)
            quotient.track.feed(at, value, quotient.evaluate)

    def _begin(self, tag: str) -> Series:
        name: NameLike = self.names.name(tag)
        metric = getattr(name, "metric", None)
        track = Track(tag, name.canonical)
        series = self.series[tag] = Series(track, name.held_out, getattr(metric, "bounds", None))
        if self._own:
            series.own = [OwnWatch(rule, track) for rule in own_rules(self._own, name)]
            series.watches += series.own
        if name.canonical is None or not getattr(name, "main", True):
            return series
        comparable = getattr(name, "comparable", True)
        series.comparable = comparable
        for rule in self._by_metric.get(name.canonical, ()):
            if not rule.applies.to(self._framework, tag, name.held_out, name.canonical, comparable):
                continue
            if rule.per:
                self._join(rule, series, 0)
            else:
                series.watches.append(Watch(rule, track))
        for rule in self._per.get(name.canonical, ()):
            self._join(rule, series, 1)
        self._timed |= name.canonical in TIMED
        if name.canonical in CARRIERS and not name.held_out:
            series.paced = Paced(tag, self._by_metric.get(METRIC, ()))
            self._paced.append(series.paced)
        return series

    def _join(self, rule: Rule, series: Series, side: int) -> None:
        """Let a series be numerator (0) or denominator (1) of a rule's quotient; the first of each counts.

        The quotient waits for its other half, so that it does not matter which comes first.
        """
        key = (rule.id, series.held_out)
        quotient = self._quotients.get(key)
        if quotient is None:
            quotient = self._quotients[key] = Quotient(rule, series.held_out)
        if quotient.parts[side] is None:
            quotient.parts[side] = series
            series.quotients.append((quotient, side))
            if side == 0:
                quotient.track.canonical = series.track.canonical
            tags = [part.track.tag for part in quotient.parts if part is not None]
            quotient.track.tag = _DERIVED.join(tags)

    def _rewind(self, series: Series, step: int) -> None:
        for each in [series, *(quotient for quotient, _ in series.quotients)]:
            each.track.rewind(step)
            for watch in each.watches:
                watch.rewind(step)
        for quotient, _ in series.quotients:
            quotient.pairing.rewind(step)
        if series.paced is not None:
            series.paced.pace.rewind()
            series.paced.track.rewind(step)
            for watch in series.paced.watches:
                watch.rewind(step)

    # ---- answers

    @property
    def state(self) -> State:
        """Which rules fire now, on which series. Made once after each feed."""
        if self._state is None:
            judged: list[Series] = [*self.series.values(), *self._quotients.values(), *self._paced]
            self._state = State(self.book, judged, self.run)
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
        return quality.diagnostics(self.run, self.names, self.series)

    @property
    def health(self) -> Health:
        """ok, warning or critical."""
        return health_of(self.findings())

    def sentence(self) -> str:
        """The run's health in one sentence for a header."""
        return sentence_of(self.findings(), self.state)

    def ticks(self) -> Mapping[str, Track]:
        """The judged series by tag, for evidence."""
        return {tag: series.track for tag, series in self.series.items()}

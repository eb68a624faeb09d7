"""Which rules fire at one moment, on which series; what explains what away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from rltui.rules.evaluate.rule_state import Episode, RuleState
from rltui.rules.evaluate.ticks import BAD_GAP, BadEpisode, Ticks
from rltui.rules.finding import Finding
from rltui.rules.load import Rulebook
from rltui.rules.model import Gap, Rule

if TYPE_CHECKING:
    from rltui.rules.evaluate.series_state import SeriesState


@dataclass(frozen=True, slots=True)
class Firing:
    """One rule that fires on one series."""

    rule: Rule
    track: Ticks
    since_step: int
    value: float
    limit: float
    before: float
    held_out: bool
    severity: str


class FiringState:
    """A snapshot, made from the watches after a feed."""

    def __init__(self, book: Rulebook, series: Sequence[SeriesState], run: Any) -> None:
        self.book = book
        self.series = series
        self.run = run
        self.findings: list[Finding] | None = None
        self.firing: dict[str, list[Firing]] = {}
        for each in series:
            for watch in each.watches:
                if watch.episode is not None or watch.kind is None:
                    self._look(each, watch)
        for name, gap in book.gaps.items():
            found = _gap(gap, series)
            if found is not None:
                self.firing[name] = [found]

    def _look(self, each: SeriesState, watch: RuleState) -> None:
        rule, track = watch.rule, watch.track
        if rule.kind == "non-finite":
            bad = track.bad
            if bad is not None and _counts(rule, bad) and track.points - 1 - bad.last_index < BAD_GAP:
                lasting = bad.count >= 3 or bad.last_index == track.points - 1
                severity = rule.severity if lasting else "warning"
                self._add(
                    Firing(
                        rule, track, bad.since_step, bad.value, np.nan, track.level(), each.held_out, severity
                    )
                )
            return
        episode = watch.episode
        if episode is not None and episode.firing:
            severity = rule.severity
            self._add(
                Firing(
                    rule,
                    track,
                    episode.since_step,
                    episode.value,
                    episode.limit,
                    episode.before,
                    each.held_out,
                    severity,
                )
            )

    def _add(self, firing: Firing) -> None:
        self.firing.setdefault(firing.rule.id, []).append(firing)

    def any(self, rule_ids: Sequence[str]) -> bool:
        """Whether one of them fires."""
        return not self.firing.keys().isdisjoint(rule_ids)

    def since(self, rule_id: str) -> int:
        """The first step at which a firing rule's condition held."""
        return min(firing.since_step for firing in self.firing[rule_id])

    def shown(self) -> list[str]:
        """The rules that fire and are not explained away."""
        found = []
        for rule_id, firings in self.firing.items():
            rule = firings[0].rule
            if not rule.shown or self.any(rule.quiet_when) or (rule.needs and not self.any(rule.needs)):
                continue
            found.append(rule_id)
        return found

    def history(self) -> list[Finding]:
        """Resolved episodes of rules that are shown, latest first."""
        from rltui.rules.messages import resolved

        found: list[Finding] = []
        for each in self.series:
            for watch in each.watches:
                rule = watch.rule
                if not rule.shown or self.any(rule.quiet_when) or (rule.needs and not self.any(rule.needs)):
                    continue
                episodes: list[Episode | BadEpisode] = list(watch.past)
                if watch.rule.kind == "non-finite":
                    over = watch.track.bad
                    episodes = list(watch.track.bad_before)
                    if over is not None and watch.track.points - 1 - over.last_index >= BAD_GAP:
                        episodes.append(over)
                    episodes = [each for each in episodes if _counts(rule, each)]
                found += [resolved(watch.rule, watch.track, episode) for episode in episodes]
        found.sort(key=lambda finding: -(finding.resolved_step or 0))
        return found


def _counts(rule: Rule, bad: Episode | BadEpisode) -> bool:
    """Whether a spell of non-finite values is long enough for a rule, and came after enough numbers."""
    if not isinstance(bad, BadEpisode):
        return True
    return bad.count >= rule.number("least", 1) and bad.after >= rule.number("after", 0)


def _gap(gap: Gap, series: Sequence[SeriesState]) -> Firing | None:
    """The step since which the held-out level trails the training level, or None."""
    train = [each.track for each in series if each.track.canonical == gap.train and not each.held_out]
    held = [
        each.track
        for each in series
        if each.track.canonical == gap.held_out and (each.held_out or gap.held_out.startswith("validation."))
    ]
    for twin in held:
        for track in train:
            if not twin.n or track.n < 8:
                continue
            held_out, steps = twin.value[twin.filled][-64:], twin.last[twin.filled][-64:]
            level = np.array([track.level_at(int(step), 16) for step in steps])
            distance = (level - held_out) * (1 if gap.above > 0 else -1)
            if gap.relative:
                with np.errstate(divide="ignore", invalid="ignore"):
                    distance = distance / np.maximum(np.abs(level), 1e-12)
            wide = distance > abs(gap.above)
            if len(wide) >= 2 and wide[-2:].all():
                begun = len(wide) - int(np.argmin(wide[::-1])) if not wide.all() else 0
                rule = Rule("", (gap.held_out,), "gap", "sign", {}, {})
                return Firing(
                    rule,
                    twin,
                    int(steps[begun]),
                    float(held_out[-1]),
                    float(level[-1]),
                    float(level[begun]),
                    True,
                    "sign",
                )
    return None

"""What is known of one run for lists of runs: its outcome, how far it is, what is wrong, its settings."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import numpy as np

from rltui.draw.sparkline import Spark, sparkline
from rltui.draw.value_range import value_range
from rltui.metrics.explain_key import explain
from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import window_for
from rltui.panes.runs.listed_run import Outcome, share_done, why_so
from rltui.panes.runs.run_outcome import outcome, outcome_row
from rltui.panes.without_metrics.hparams_pane import Beside, hparams_of_run, no_files
from rltui.rules.finding import Finding
from rltui.run_context.hparams.hparams import HParam, find_hparam, settings_digest
from rltui.run_context.hparams.known_hparams import known_hparams

if TYPE_CHECKING:
    from rltui.rules.run_state.liveness import Liveness
    from rltui.session.run_view import RunView
    from rltui.session.sister_runs import Standing
    from rltui.store.series import Series

NEAREST = 3  # tags that are offered for one that a run has not


class RunSettings:
    """The hyperparameters of runs, merged once from records of their logs and files beside them."""

    def __init__(self, beside: Beside = no_files) -> None:
        self._beside = beside
        self._known: WeakKeyDictionary[RunView, tuple[object, Mapping[str, HParam]]] = WeakKeyDictionary()
        self._digests: WeakKeyDictionary[RunView, tuple[object, str]] = WeakKeyDictionary()

    def of(self, view: RunView) -> Mapping[str, HParam]:
        """By key, what a run was started with, as far as that is known now."""
        beside = self._beside(view)
        key = (id(beside.entries), len(view.run.texts), len(view.run.hparams))
        known = self._known.get(view)
        if known is None or known[0] != key:
            known = self._known[view] = (key, hparams_of_run(view, lambda _: beside).entries)
        return known[1]

    def digest(self, view: RunView) -> str:
        """The same for runs that differ by their seed alone; empty where no settings are known."""
        entries = self.of(view)
        known = self._digests.get(view)
        if known is None or known[0] is not entries:
            known = self._digests[view] = (entries, settings_digest(entries))
        return known[1]


class RunFacts:
    """A run at a moment. What costs time is found when it is asked for.

    now: seconds since 1970. at_step: the step up to which it is seen; None is its end. health: where somebody
    has acknowledged findings, what is left of it. standing: where it stands beside its sister runs.
    """

    def __init__(
        self,
        view: RunView,
        now: float,
        settings: RunSettings,
        *,
        health: str | None = None,
        at_step: int | None = None,
        standing: Standing | None = None,
    ) -> None:
        self.view = view
        self.standing = standing
        self.now = now
        self.health: str = view.health if health is None else health
        self.at_step = at_step
        self.name, self.given_name, self.framework = view.name, view.given_name, view.framework
        self.modified, self.series, self.points = view.modified, len(view.run.series), view.run.points
        last = view.run.last_step
        self.step = last if at_step is None or last is None else min(last, at_step)
        self._settings = settings
        self._alive: Liveness | None = None
        self._outcome: Outcome | None = None

    @property
    def alive(self) -> Liveness:
        """Live, stalled or ended; how long ago, how much longer."""
        if self._alive is None:
            self._alive = self.view.liveness(self.now)
        return self._alive

    @property
    def share(self) -> float | None:
        """How much of the planned steps is done, 0 to 1."""
        return share_done(self.step, self.alive.total)

    @property
    def outcome(self) -> Outcome | None:
        """Last and best value of the metric that says most; None without points."""
        if self._outcome is None:
            self._outcome = outcome(self.view, self.at_step)
        return self._outcome

    @property
    def outcome_title(self) -> str | None:
        """The metric that says most; None without points."""
        row = outcome_row(self.view, self.at_step)
        return None if row is None else row.title

    @property
    def findings(self) -> list[Finding]:
        """What is wrong and nothing else explains, worst first."""
        found = self.view.evaluator.findings()
        return [one for one in found if one.explained_by is None]

    @property
    def why(self) -> str:
        """The worst finding in a few words, with its step; a stall; else what could not be judged."""
        unjudged = self.view.unjudged
        return why_so(self.findings, self.alive, self.view.last_error(self.now), unjudged)

    @property
    def project(self) -> str:
        """What its settings call the project, else the folder that it lies in."""
        settings = self._settings.of(self.view)
        for key in known_hparams().project_keys:
            found = find_hparam(settings, key)
            if found is not None and not found.unset:
                return found.text
        return self.view.name.rpartition("/")[0] or "."

    def setting(self, key: str) -> HParam | None:
        """A setting by its key or the end of one; None where it says nothing of it."""
        return find_hparam(self._settings.of(self.view), key)

    def last_value(self, key: str) -> tuple[float | None, str] | None:
        """Last value and unit of a metric by its tag or id; None where the run has none."""
        series = self.metric(key)
        return None if series is None else (series.last_value, self.view.names.name(series.tag).unit)

    def metric(self, key: str) -> Series | None:
        """A series by its tag, its metric, or the beginning of that; None where the run has none."""
        tag = tag_of(self.view, key)
        return None if tag is None else self.view.run.series[tag]

    def trend(self, columns: int) -> Spark | None:
        """The curve of its outcome in so many cells; None without finite points."""
        of = (self.view.run.version, self.at_step, columns)
        return self.view.once("trend", of, lambda: _trend(self.view, columns, self.at_step))


def tags_of(view: RunView, key: str) -> list[str]:
    """The tags that a person means: all of a metric by its id, else the one of `tag_of`."""
    tag = tag_of(view, key)
    same = view.tag_index.canonical.get(key, [])
    return same if tag in same else [] if tag is None else [tag]


def nearest_tags(view: RunView, key: str) -> list[str]:
    """Some tags of a run that somebody may have meant by a key that it has no tag for."""
    names = {
        name.lower(): tag
        for canonical, tags in view.tag_index.canonical.items()
        for tag in tags[:1]
        for name in (canonical, tag.rpartition("/")[2], tag)
    }
    import difflib  # for the lost only

    found = [names[name] for name in difflib.get_close_matches(key.lower(), names, NEAREST, 0.6)]
    topic = [tag for name, tag in names.items() if name.startswith(f"{key.lower().partition('.')[0]}.")]
    return list(dict.fromkeys((*found, *topic)))[:NEAREST]


def tag_of(view: RunView, key: str) -> str | None:
    """The tag that a person means.

    As written, a metric's id, the beginning of one, the end of a tag, or what another framework or people
    call the metric.
    """
    if key in view.run.series:
        return key
    canonical = view.tag_index.canonical
    if key in canonical:
        return canonical[key][0]
    key = key.lower()
    row = outcome_row(view, None)
    if row is not None and row.name is not None and (row.name.canonical or "").startswith(f"{key}."):
        return row.tag
    started = next((tags[0] for name, tags in canonical.items() if name.startswith(f"{key}.")), None)
    ended = (tag for tag in view.run.series if tag.lower() == key or tag.lower().endswith(f"/{key}"))
    meant = (canonical[name][0] for name in _meant(key) if name in canonical)
    return started or next(ended, None) or next(meant, None)


@lru_cache(1024)
def _meant(key: str) -> tuple[str, ...]:
    """The metrics that frameworks or people call so, what most mean first."""
    return tuple(found.canonical for found in explain(key) if found.canonical)


def _trend(view: RunView, columns: int, at_step: int | None) -> Spark | None:
    row = outcome_row(view, at_step)
    drawn = None if row is None else curve(row, window_for(view, at_step=at_step), columns)
    if drawn is None or not np.isfinite(drawn.low).any():
        return None
    low, high = value_range(drawn.low, drawn.high)
    return sparkline(drawn.low, drawn.high, low, high, nonfinite=drawn.nonfinite)

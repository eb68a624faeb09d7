"""One run for lists of runs: its outcome, progress, findings and settings, computed on demand."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING

from rltui.metrics.explain_key import explain
from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import window_for
from rltui.panes.context_panes.hparams_pane import FileHParams, hparams_of_run, no_file_hparams
from rltui.panes.runs.listed_run import share_done, summary_of
from rltui.panes.runs.outcome import Outcome
from rltui.panes.runs.outcome_row import outcome, outcome_row
from rltui.rules.finding import Finding, unexplained
from rltui.run_context.hparams.hparams import HParam, find_hparam, hparams_digest
from rltui.run_context.hparams.known_hparams import known_hparams

if TYPE_CHECKING:
    from rltui.draw.sparkline import Spark
    from rltui.rules.run_status.liveness import Liveness
    from rltui.session.run_view import RunView
    from rltui.session.sister_runs import SisterComparison
    from rltui.store.series import Series

SUGGESTIONS = 3  # tags that are suggested for one that does not exist


class RunHParams:
    """The hyperparameters of runs, merged once from records of their logs and files beside them."""

    def __init__(self, file_hparams: FileHParams = no_file_hparams) -> None:
        self._file_hparams = file_hparams

    def of(self, view: RunView) -> Mapping[str, HParam]:
        """The hyperparameters of a run by key, as far as they have been read."""
        files = self._file_hparams(view)
        key = (id(files.entries), len(view.run.texts), len(view.run.hparams))
        return view.cached("hparams", key, lambda: hparams_of_run(view, files).entries)

    def digest(self, view: RunView) -> str:
        """A text that is equal for runs that differ only in their seed; empty if no settings are known."""
        entries = self.of(view)
        return view.cached("hparams-digest", (entries,), lambda: hparams_digest(entries))


class RunFacts:
    """A run at a moment; properties that cost time are computed when they are read.

    now: seconds since 1970. at_step: the last step that is taken into account; None for all. urgency: its
    health without findings that the user has acknowledged. sister_comparison: the comparison with its sister
    runs.
    """

    def __init__(
        self,
        view: RunView,
        now: float,
        hparams: RunHParams,
        *,
        health: str | None = None,
        urgency: str | None = None,
        at_step: int | None = None,
        sister_comparison: SisterComparison | None = None,
    ) -> None:
        self.view = view
        self.sister_comparison = sister_comparison
        self.now = now
        self.health: str = view.health if health is None else health
        self.urgency = self.health if urgency is None else urgency
        self.at_step = at_step
        self.name, self.given_name, self.framework = view.name, view.given_name, view.framework
        self.modified, self.series, self.points = view.modified, len(view.run.series), view.run.points
        last = view.run.last_step
        self.step = last if at_step is None or last is None else min(last, at_step)
        self._hparams = hparams

    @cached_property
    def liveness(self) -> Liveness:
        """Live, stalled or ended; the age of its newest point and its estimated end."""
        return self.view.liveness(self.now)

    @property
    def share(self) -> float | None:
        """The share of the planned steps that is done, 0 to 1."""
        return share_done(self.step, self.liveness.total)

    @cached_property
    def outcome(self) -> Outcome | None:
        """Last and best value of its main metric; None without points."""
        return outcome(self.view, self.at_step)

    @property
    def outcome_title(self) -> str | None:
        """The title of its main metric; None without points."""
        row = outcome_row(self.view, self.at_step)
        return None if row is None else row.title

    @property
    def findings(self) -> list[Finding]:
        """Findings that no other finding explains, worst first."""
        return unexplained(self.view.evaluator.findings())

    @property
    def why(self) -> str:
        """A summary of its state: the worst findings with their steps, a stall, its last error."""
        return summary_of(self.findings, self.liveness, self.view.last_error(self.now), self.view.unjudged)

    @property
    def project(self) -> str:
        """The project according to its settings, else its parent folder."""
        hparams = self._hparams.of(self.view)
        for key in known_hparams().project_keys:
            hparam = find_hparam(hparams, key)
            if hparam is not None and not hparam.unset:
                return hparam.text
        return self.view.name.rpartition("/")[0] or "."

    def hparam(self, key: str) -> HParam | None:
        """A setting by its key or the end of one; None if it is not known."""
        return find_hparam(self._hparams.of(self.view), key)

    def last_value(self, key: str) -> tuple[float | None, str] | None:
        """Last value and unit of a metric by its tag or id; None if the run does not log it."""
        series = self.metric(key)
        return None if series is None else (series.last_value, self.view.names.name(series.tag).unit)

    def metric(self, key: str) -> Series | None:
        """A series by its tag, its metric, or the beginning of that; None if there is none."""
        tag = tag_of(self.view, key)
        return None if tag is None else self.view.run.series[tag]

    def trend(self, columns: int) -> Spark | None:
        """A sparkline of its main metric; None without finite points."""
        of = (self.view.run.version, self.at_step, columns)
        return self.view.cached("trend", of, lambda: _trend(self.view, columns, self.at_step))


def tags_of(view: RunView, key: str) -> list[str]:
    """The tags that `key` stands for: all tags of a metric by its id, else that of `tag_of`."""
    tag = tag_of(view, key)
    same = view.tag_index.canonical.get(key, [])
    return same if tag in same else [] if tag is None else [tag]


def nearest_tags(view: RunView, key: str) -> list[str]:
    """Suggestions for a key that stands for no tag of a run."""
    names = {
        name.lower(): tag
        for canonical, tags in view.tag_index.canonical.items()
        for tag in tags[:1]
        for name in (canonical, tag.rpartition("/")[2], tag)
    }
    import difflib  # for this case alone

    similar = [names[name] for name in difflib.get_close_matches(key.lower(), names, SUGGESTIONS, 0.6)]
    topic = [tag for name, tag in names.items() if name.startswith(f"{key.lower().partition('.')[0]}.")]
    return list(dict.fromkeys((*similar, *topic)))[:SUGGESTIONS]


def tag_of(view: RunView, key: str) -> str | None:
    """The tag that `key` stands for, in this order of precedence.

    A tag, a metric's id, the beginning of one, the end of a tag, or a name of the metric in other frameworks
    or in common use.
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
    by_prefix = next((tags[0] for name, tags in canonical.items() if name.startswith(f"{key}.")), None)
    by_suffix = (tag for tag in view.run.series if tag.lower() == key or tag.lower().endswith(f"/{key}"))
    by_other_name = (canonical[name][0] for name in _metrics_called(key) if name in canonical)
    return by_prefix or next(by_suffix, None) or next(by_other_name, None)


@lru_cache(1024)
def _metrics_called(key: str) -> tuple[str, ...]:
    """The metrics with that name in any framework, the most common one first."""
    return tuple(entry.canonical for entry in explain(key) if entry.canonical)


def _trend(view: RunView, columns: int, at_step: int | None) -> Spark | None:
    row = outcome_row(view, at_step)
    drawn = None if row is None else curve(row, window_for(view, at_step=at_step), columns)
    return None if drawn is None or not drawn.has_values else drawn.spark()

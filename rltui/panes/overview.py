"""The first thing a person sees: how the run is, how far, what is wrong, the few metrics that matter."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

from rltui.draw.numbers import format_age, format_duration, format_si, format_step
from rltui.panes.pane import window_for
from rltui.panes.row import Row, rows_of, told_apart
from rltui.panes.step_window import StepWindow
from rltui.rules.finding import health_of
from rltui.rules.messages import sentence_of
from rltui.rules.run_state.log_state import GONE
from rltui.rules.scenario import scenario_of
from rltui.session.tag_index import TagIndex

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rltui.panes.comparison import Difference
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings
    from rltui.store import Series

# What the smallest overview shows of any run that has it: reward, KL, entropy, length.
_CORE = (
    ("reward.mean", "reward.episode_return.mean", "reward.score.mean", "preference.margin"),
    ("policy.kl_ref", "policy.approx_kl", "policy.kl_penalty", "policy.kl_loss", "preference.kl"),
    ("policy.entropy", "policy.entropy_loss"),
    ("lengths.response.mean", "lengths.episode.mean", "lengths.total.mean"),
)
# What matters for any run, in order, where no scenario says better: the first that a run has of each line.
_KEY_METRICS = (
    ("validation.accuracy", "validation.success_rate", "validation.return.mean", "validation.reward.mean"),
    ("reward.mean", "reward.episode_return.mean", "reward.score.mean", "preference.margin"),
    ("reward.success_rate",),
    ("policy.approx_kl", "policy.kl_ref", "policy.kl_penalty", "policy.kl_loss", "preference.kl"),
    ("policy.entropy", "policy.entropy_loss", "preference.accuracy", "policy.action_std"),
    ("lengths.response.mean", "lengths.episode.mean", "lengths.total.mean"),
    ("policy.clip_fraction", "policy.clip_fraction_high"),
    ("critic.explained_variance", "critic.q.mean"),
    ("optimizer.grad_norm",),
    ("critic.loss", "preference.loss", "reward_model.loss", "optimizer.loss", "policy.loss"),
    ("reward.zero_std_fraction", "reward.std", "reward.group_std"),
    ("lengths.response_clip_fraction", "lengths.aborted_fraction"),
    ("perf.throughput", "perf.tokens_per_second", "perf.steps_per_second", "perf.samples_per_second"),
    ("timing.step", "perf.time_per_step"),
    ("perf.mfu.actor", "perf.mfu"),
    ("turns.mean",),
    ("optimizer.learning_rate",),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Header:
    """Who, how, how far: the same words on the screen and in a snapshot."""

    run: str
    framework: str
    state: str
    step: int | None
    total: int | None
    progress: float | None
    age: float | None
    eta: float | None
    quiet: str
    health: str
    sentence: str
    points: int
    loading: float | None  # share of known bytes read, None when all is read
    counter: tuple[float, str] | None = None  # tokens, environment steps or episodes so far, and their name
    brief: str = ""  # a shorter name of the run, for where the name does not fit
    gap: float | None = None  # usual time between steps, s
    reached: int | None = None  # how far the run has come, where an earlier step is shown
    state_word: str = ""  # the state as it is shown: `ended?` where that is a guess

    @property
    def step_text(self) -> str:
        """`step 812 / 1,000`."""
        if self.step is None:
            return "no step yet"
        text = f"step {format_step(self.step)}"
        if self.reached is not None:
            return f"{text} of {format_step(self.reached)}"
        return f"{text} / {format_step(self.total)}" if self.total else text

    @property
    def age_text(self) -> str:
        """How long ago the last point was written; for ended runs it is a date's worth of time."""
        if self.age is None or not math.isfinite(self.age):
            return ""
        return f"last point {format_age(coarse(self.age))}"

    @property
    def silence(self) -> str:
        """`Nothing new for 35m, usually every 1m 04s; quiet: rollout.jsonl`; empty while all is as usual."""
        if self.quiet == GONE:
            return "The log file is gone; what was read of it is kept"
        if self.state != "stalled" or self.age is None or not math.isfinite(self.age):
            return ""
        usual = f", usually every {format_duration(self.gap)}" if self.gap else ""
        what = f"; quiet: {self.quiet}" if self.quiet else ""
        return f"Nothing new for {format_age(coarse(self.age)).removesuffix(' ago')}{usual}{what}"

    @property
    def silenced(self) -> str:
        """The word for a run that writes no more: `stalled`, `log gone`."""
        return "log gone" if self.quiet == GONE else "stalled"

    @property
    def eta_text(self) -> str:
        """`eta 42m`."""
        return "" if self.eta is None or not math.isfinite(self.eta) else f"eta {format_duration(self.eta)}"

    @property
    def counter_text(self) -> str:
        """`1.24M tokens`."""
        return "" if self.counter is None else f"{format_si(self.counter[0])} {self.counter[1]}"

    @property
    def points_text(self) -> str:
        """`48.7k points`."""
        return f"{format_si(self.points)} points"


def coarse(seconds: float) -> float:
    """An age in steps that grow with it: a counter of seconds would repaint an idle screen every second."""
    for step, below in ((15, 60), (30, 120), (60, 600), (300, 3600), (1800, 86400)):
        if seconds < below:
            return float(seconds // step * step)
    return seconds


@dataclass(frozen=True, slots=True)
class Overview:
    """The overview pane as data."""

    header: Header
    findings: tuple[Finding, ...]
    rows: tuple[Row, ...]
    window: StepWindow


def header(view: RunView, now: float, at_step: int | None = None, then: PastFindings | None = None) -> Header:
    """The header of a run; with what was wrong `then`, of an earlier step of a run that has gone on since."""
    found = _header(view, now, at_step)
    if then is None:
        return found
    step, total = found.step, found.total
    return replace(
        found,
        health=health_of(then.findings),
        sentence=("" if then.whole else "as far as remembered: ") + sentence_of(then.findings),
        progress=step / total if step is not None and total else None,
        age=None,  # nobody knew when the next point would come
        eta=None,
        quiet="",
    )


def _header(view: RunView, now: float, at_step: int | None) -> Header:
    run = view.run
    alive = view.liveness(now)
    size = sum(source.size for source in run.sources.values() if source.also_of is None and not source.gone)
    read = sum(source.read for source in run.sources.values() if source.also_of is None and not source.gone)
    return Header(
        run=run.name,
        framework=view.framework,
        state=alive.state,
        state_word=alive.word,
        step=run.last_step if at_step is None else min(at_step, run.last_step or 0),
        total=alive.total,
        progress=alive.progress,
        age=alive.age,
        eta=alive.eta,
        quiet=alive.quiet,
        health=view.evaluator.health,
        sentence=view.evaluator.sentence(),
        points=run.points,
        loading=read / size if view.loading and size else None,
        counter=_counted(view) if at_step is None else None,
        gap=alive.gap,
    )


# What a run may count besides its steps, in order of what tells most about how far it is.
COUNTERS = (
    ("progress.tokens", "tokens"),
    ("progress.env_steps", "env steps"),
    ("progress.episodes", "episodes"),
    ("progress.samples", "samples"),
)


def counter_of(view: RunView, canonical: str) -> Series | None:
    """The series of a run that counts something, if it is a counter with at least two points that grows."""
    for tag in view.tag_index.canonical.get(canonical, ()):
        series = view.run.series[tag]
        last, before = series.last_value, series.previous_value
        if series.count > 1 and last is not None and math.isfinite(last) and last > 0:
            return series if before is None or not before > last else None
    return None


def _counted(view: RunView) -> tuple[float, str] | None:
    """The first counter that says something else than the step."""
    for canonical, word in COUNTERS:
        series = counter_of(view, canonical)
        if series is None or series.last_value is None or series.last_step is None:
            continue
        if abs(series.last_value - series.last_step) > 0.01 * series.last_value:
            return (series.last_value, word)
    return None


def key_rows(
    view: RunView,
    count: int,
    *,
    at_step: int | None = None,
    against: Mapping[str, Difference] | None = None,
    findings: Sequence[Finding] | None = None,
) -> list[Row]:
    """The rows that matter most for this kind of run, at most `count`, each of another thing."""
    rows: list[Row] = []
    shown: set[str] = set()
    findings = view.evaluator.findings() if findings is None else findings
    for tag in _key_tags(view):
        if len(rows) >= count:
            break
        if tag in shown:
            continue
        made = rows_of(
            view,
            view.tag_index.distribution_of(tag),
            at_step=at_step,
            findings=findings,
            against=against,
            apart=False,
        )
        row = next((row for row in made if tag in row.tags), None)
        if row is not None:
            shown.update(row.tags)
            rows.append(row)
    rows = told_apart(rows)
    if len(rows) < min(count, 4):  # a run whose names nobody knows: its own most important rows
        left = (tag for tags in view.tag_index.panes.values() for tag in tags if tag not in shown)
        rest = [tag for tag in left if view.run.series[tag].count]
        rest.sort(key=lambda tag: view.names.name(tag).pane not in ("reward", "validation", "policy"))
        rows += rows_of(view, rest[:64], at_step=at_step, findings=findings)[: count - len(rows)]
    return rows


_ORDERS: WeakKeyDictionary[RunView, tuple[tuple[TagIndex, int], list[str]]] = WeakKeyDictionary()


def _key_tags(view: RunView) -> list[str]:
    """What `_order` says; asked again when tags have appeared and when the run has doubled."""
    key = (view.tag_index, view.run.points.bit_length())
    known = _ORDERS.get(view)
    if known is None or known[0][0] is not key[0] or known[0][1] != key[1]:
        known = _ORDERS[view] = (key, _order(view))
    return known[1]


def _order(view: RunView) -> list[str]:
    """Tags in the order of what to look at: the outcome, the core of any run, the rest of the scenario."""
    canonical = view.tag_index.canonical
    # What is logged once, at the end of a run, is no curve.
    least = 2 if view.run.points >= 2 * len(view.run.series) else 1

    def there(name: str) -> str | None:
        series = view.run.series
        return next(
            (t for t in canonical.get(name, ()) if series[t].count >= least and not _says_nothing(view, t)),
            None,
        )

    scenario = scenario_of(canonical, view.framework)
    wanted = [name for _, names in scenario.groups for name in names]
    outcome = [tag for name in (scenario.groups[0][1] if scenario.groups else ()) if (tag := there(name))][:2]
    core = [next((tag for name in names if (tag := there(name))), None) for names in _CORE]
    rest = [there(name) for name in wanted]
    rest += [next((tag for name in names if (tag := there(name))), None) for names in _KEY_METRICS]
    return list(dict.fromkeys(tag for tag in (*outcome, *core, *rest) if tag is not None))


def _says_nothing(view: RunView, tag: str) -> bool:
    """Whether a metric has been zero ever since: frameworks write 0 for what they do not measure."""
    series = view.run.series[tag]
    if series.last_value != 0 or series.count < 3 or view.names.name(tag).pane not in ("perf", "timing"):
        return False
    return not series.recent(64).value.any()


def overview(
    view: RunView,
    now: float,
    at_step: int | None = None,
    *,
    count: int = 12,
    share: float = 1.0,
    against: Mapping[str, Difference] | None = None,
    then: PastFindings | None = None,
) -> Overview:
    """The overview of a run with at most `count` metrics; of an earlier step with what was wrong `then`."""
    findings = tuple(view.evaluator.findings()) if then is None else then.findings
    return Overview(
        header=header(view, now, at_step, then),
        findings=findings,
        rows=tuple(key_rows(view, count, at_step=at_step, against=against, findings=findings)),
        window=window_for(view, live=view.liveness(now).state == "live", share=share, at_step=at_step),
    )

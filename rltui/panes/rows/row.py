"""A row of a pane: one metric, or the statistics of one distribution, ready to be drawn at any width."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from rltui.draw.numbers import SHARE, format_change, format_percent_change, format_range, format_value
from rltui.panes.pane_tabs import worst_of
from rltui.rules.metric_roles import metric_roles
from rltui.rules.run_status.data_quality import PLACEHOLDER_POINTS
from rltui.session.tag_index import group_of, quantity_of
from rltui.session.time_travel import RunAtStep

if TYPE_CHECKING:
    from rltui.metrics.metric_name import MetricName
    from rltui.panes.baseline.comparison import Difference
    from rltui.rules.finding import Evidence, Finding
    from rltui.session.run_view import RunView
    from rltui.store.series import Series

CONSTANT_POINTS = 5  # of one value, from which a metric is taken as a setting
FIRST_ROWS = 50  # in which `first_row` looks for one that changes


@dataclass(frozen=True, slots=True)
class Row:
    """One row. `parts` are the series by statistic; `main` is the one whose value and curve are shown.

    kind `band`: several statistics of one distribution in one row; `heading`: only a title; `folder`: the
    common folder of several keys, which is its tag.
    """

    kind: Literal["metric", "band", "heading", "folder"]
    title: str
    tag: str = ""
    name: MetricName | None = None
    unit: str = ""  # as shown, see `format_value`
    parts: Mapping[str, Series] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    at_step: int | None = None  # the step shown, on its own axis; None is the last one
    own_axis: bool = False  # it is not logged over the run's steps
    against: Difference | None = None  # to the baseline, at matched steps
    branch: tuple[str, ...] = ()  # in a tree, the tags of the rows that it is a part of, outermost first
    inside: int = 0  # the number of rows that are parts of it
    is_open: bool | None = None  # whether these are visible; None if the tree cannot be folded
    equals: tuple[str, ...] = ()  # keys of other series with the same points, which have no row

    @property
    def matched(self) -> int | None:
        """The step up to which it is compared with the baseline; None without a comparison."""
        return None if self.against is None else self.against.step

    @property
    def value(self) -> float | None:
        """The last value; if it is compared with a baseline, the level that is compared."""
        return self.last if self.against is None else self.against.value

    @property
    def last(self) -> float | None:
        """The last value, or the one at the step shown."""
        return value_at(self.main, self.at_step)[0] if self.main is not None else None

    @property
    def before(self) -> float | None:
        """The value before the last."""
        return value_at(self.main, self.at_step)[1] if self.main is not None else None

    @property
    def last_of(self) -> dict[str, float]:
        """The last values of the other statistics of the distribution."""
        values = {key: value_at(series, self.at_step)[0] for key, series in list(self.parts.items())[1:]}
        return {key: value for key, value in values.items() if value is not None}

    @property
    def main(self) -> Series | None:
        """The series whose value is shown."""
        return next(iter(self.parts.values()), None)

    @property
    def counted(self) -> tuple[int, int] | None:
        """The numbers of its points up to the step shown, and of those not finite; None if unknown."""
        main = self.main
        if main is None or main.first_step is None or main.last_step is None:
            return None
        if self.at_step is None or main.last_step <= self.at_step:
            return main.count, main.nonfinite
        if self.at_step < max(main.exact_from - 1, main.first_step):  # within buckets
            return None
        cut = main.columns_of_steps(main.first_step, self.at_step, 1)
        return int(cut.count[0] + cut.nonfinite[0]), int(cut.nonfinite[0])

    @property
    def tags(self) -> tuple[str, ...]:
        """The keys of all series of the row, as written."""
        return (*(series.tag for series in self.parts.values()), *self.equals)

    @property
    def finding(self) -> Finding | None:
        """The worst finding of its own, else the symptom that it is part of."""
        if not self.findings:
            return None
        own = [finding for finding in self.findings if not finding.symptom] or self.findings
        return max(own, key=lambda finding: finding.rank, default=None)

    @property
    def severity(self) -> str:
        """The worst severity of its findings, empty without any."""
        return worst_of(list(self.findings))

    @property
    def marked(self) -> Finding | None:
        """The finding that a card marks: the worst one; its own before a symptom."""
        return max(self.findings, key=lambda finding: (finding.rank, not finding.symptom), default=None)

    @property
    def evidence(self) -> Evidence | None:
        """The evidence of the marked finding on this metric."""
        evidence = () if self.marked is None else self.marked.evidence
        return next((one for one in evidence if one.tag in self.tags), None)

    @property
    def onset(self) -> int | None:
        """The step since which the marked finding holds for this metric: that of a symptom may be earlier."""
        if self.marked is None:
            return None
        return self.marked.since_step if self.evidence is None else self.evidence.since_step

    @property
    def value_text(self) -> str:
        """The last value with its unit; `unreported` if the writer only fills in zeros, or NaN."""
        value = self.value
        if value is None:
            return "–"
        filled = value == 0 or math.isnan(value)
        return "unreported" if filled and self.unreported else format_value(value, self.unit)

    def text_at(self, step: int) -> str | None:
        """The value at a step with its unit, `–` without one; None for a row without values over steps."""
        if self.main is None or self.own_axis:
            return None
        value = value_at(self.main, step)[0]
        return "–" if value is None else format_value(value, self.unit)

    def change_at(self, step: int | None) -> str:
        """The change at a step since the value before it, with its sign; empty if that is not known."""
        if self.main is None or self.against is not None:
            return ""
        value, before = value_at(self.main, step)
        return "" if value is None or before is None else format_change(value, before, self.unit)

    @property
    def unreported(self) -> bool:
        """Whether the writer fills in zeros, or NaN: MFU of unknown devices, spread of discrete actions."""
        canonical = (self.name.canonical if self.name is not None else None) or ""
        if self.main is None or self.main.count < PLACEHOLDER_POINTS:
            return False
        if canonical.startswith(metric_roles().nan_if_undefined):
            undefined = self.main.nonfinite == self.main.count  # an infinite value was computed
            return undefined and not bool(np.isinf(self.main.recent().value).any())
        return canonical.startswith(metric_roles().zero_if_unknown) and self.main.extent() == (0.0, 0.0)

    @property
    def direction_note(self) -> str:
        """`falls as entropy rises`, of a key that has the opposite sign; else empty."""
        return "" if self.name is None else self.name.direction_note

    def as_written(self, value: float | None) -> float | None:
        """A value in the metric's canonical unit, such as a finding's, in the unit of the key as written."""
        return value if self.name is None else self.name.as_written(value)

    @property
    def change_text(self) -> str:
        """The change since the value before, with its sign; with a baseline the difference to it."""
        if self.against is not None:
            return difference_text(self.against, self.unit)
        return self.change_at(self.at_step)

    @property
    def change_role(self) -> str:
        """The role of the change: differences outside the baseline's own spread are emphasised."""
        if self.against is None or not self.against.outside:
            return "dim"
        return "good" if self.against.better else "warn"

    @property
    def spread_text(self) -> str:
        """The distribution's last extremes or standard deviation, empty for a single metric."""
        if len(self.parts) < 2:
            return ""
        last = {key: value for key, value in self.last_of.items() if math.isfinite(value)}
        low, high, std = (last.get(key) for key in ("min", "max", "std"))
        if low is not None and high is not None:
            return "" if low == high else "…".join(format_range(low, high, self.unit))
        return "" if std is None else f"±{format_value(std, self.unit)}"

    @property
    def smooth(self) -> bool:
        """Whether a moving average is meaningful: not for schedules, counters, coefficients."""
        return self.name is None or self.name.metric is None or self.name.metric.smooth


def is_constant(row: Row) -> bool:
    """Whether a row has a single value and no findings; never for outcomes, whose values are results."""
    main = row.main
    if row.unreported and not row.findings:
        return True
    if main is None or main.count < CONSTANT_POINTS or main.nonfinite or row.findings:
        return False
    if row.name is not None and row.name.pane in ("reward", "validation"):
        return False
    if main.last_value != main.previous_value:
        return False
    low, high = main.extent()
    return low == high


def first_row(rows: Sequence[Row]) -> Row | None:
    """The row that is selected first: the worst with a warning, else the first that changes."""
    metrics = [row for row in rows if row.kind not in ("heading", "folder")]
    flagged = [row for row in metrics if row.severity in ("warning", "critical")]
    if flagged:
        return next((row for row in flagged if row.severity == "critical"), flagged[0])
    changing = (row for row in metrics[:FIRST_ROWS] if not is_constant(row))
    return next(changing, metrics[0] if metrics else None)


def difference_text(against: Difference, unit: str) -> str:
    """The difference to a baseline: in percent unless that is undefined or huge; `!` if it is outside."""
    percent = against.percent
    if against.difference == 0 or (percent is not None and abs(percent) < 0.05):
        return "= "
    if percent is None or abs(percent) >= 1000:
        text = format_change(against.value, against.baseline, unit)
    else:
        text = f"{format_percent_change(percent)}%"
    return f"{text}{'!' if against.outside else ' '}"


def value_at(series: Series, at_step: int | None) -> tuple[float | None, float | None]:
    """The last and the previous value of a series, now or up to a step."""
    if not series.count:
        return (None, None)
    if at_step is None or (series.last_step is not None and series.last_step <= at_step):
        return (series.last_value, series.previous_value)
    recent = series.recent()
    count = int(np.searchsorted(recent.step, at_step, side="right"))
    if count:
        before = float(recent.value[count - 2]) if count > 1 else None
        return (float(recent.value[count - 1]), before)
    first = series.first_step if series.first_step is not None else at_step
    if first > at_step:
        return (None, None)
    cut = series.columns(float(first), float(at_step) + 1, 128)
    filled = np.flatnonzero(cut.count)
    if not len(filled):
        return (None, None)
    return (float(cut.last[filled[-1]]), float(cut.last[filled[-2]]) if len(filled) > 1 else None)


def rows_of(
    view: RunView,
    tags: Iterable[str],
    *,
    at_step: int | None = None,
    merge: bool = True,
    findings: Iterable[Finding] | None = None,
    against: Mapping[str, Difference] | None = None,
    apart: bool = True,
) -> list[Row]:
    """Rows for tags, most important first, without those that were first written after `at_step`.

    A series that another one copies at other steps has no row beside that one.

    merge: whether the statistics of one distribution share a row. apart: whether equal titles are
    distinguished (see `with_distinct_titles`).
    """
    by_tag: dict[str, list[Finding]] = {}
    for finding in view.evaluator.findings() if findings is None else findings:
        for tag in finding.metrics:
            by_tag.setdefault(tag, []).append(finding)
    as_of = RunAtStep(view.run, at_step)
    groups: dict[object, list[MetricName]] = {}
    shown = [view.names.name(tag) for tag in tags if as_of.has(view.run.series[tag])]
    originals = {quantity_of(name) for name in shown if not name.is_copy}
    for name in shown:
        if name.is_copy and quantity_of(name) in originals:
            continue
        merged = name.group and name.statistic and merge
        groups.setdefault(group_of(name) if merged else name.tag, []).append(name)
    members: list[tuple[int, bool, list[MetricName]]] = []
    for names in groups.values():
        stats = {name.statistic: name for name in names}
        if len(stats) == len(names) > 1 and "mean" in stats:
            ordered = [stats[key] for key in ("mean", "min", "max", "std") if key in stats]
            members.append((min(name.importance for name in names), names[0].computed, ordered))
        else:
            members += [(name.importance, name.computed, [name]) for name in names]
    members.sort(key=lambda member: member[:2])
    rows = [_row(view, names, by_tag, as_of, against) for *_, names in members]
    return with_distinct_titles(rows) if apart else rows


def with_distinct_titles(rows: list[Row], *, of_panes: bool = True) -> list[Row]:
    """Add to equal titles the part of the key that distinguishes them: `Entropy · entropy_avg`.

    of_panes: rows of different panes may have the same title.
    """
    same: dict[tuple[str, str], list[int]] = {}
    for at, row in enumerate(rows):
        if row.kind != "heading":
            pane = row.name.pane if of_panes and row.name is not None else ""
            same.setdefault((row.title, pane), []).append(at)
    out = rows
    for positions in same.values():
        if len(positions) < 2:
            continue
        out = list(out) if out is rows else out
        keys = [[part.strip() for part in rows[at].tag.split("/")] for at in positions]
        for at, key in zip(positions, keys, strict=True):
            others = {position for other in keys if other is not key for position in enumerate(other)}
            part = next((part for index, part in enumerate(key) if (index, part) not in others), key[-1])
            if part.lower() != rows[at].title.lower():
                out[at] = replace(rows[at], title=f"{rows[at].title} · {part}")
    return out


def shown_unit(name: MetricName) -> str:
    """The unit in which values of a key are shown: a share in percent where that is usual."""
    in_percent = name.unit == "fraction" and (name.canonical or "").startswith(metric_roles().in_percent)
    return SHARE if in_percent else name.unit


def _row(
    view: RunView,
    names: list[MetricName],
    by_tag: Mapping[str, list[Finding]],
    as_of: RunAtStep,
    against: Mapping[str, Difference] | None,
) -> Row:
    main = names[0]
    band = len(names) > 1
    findings = {id(finding): finding for name in names for finding in by_tag.get(name.tag, ())}
    own_axis, at_step = as_of.step_of(view.run.series[main.tag])
    title = view.shown_title(main)
    if band and title.lower().endswith(" mean"):
        title = title[:-5]
    return Row(
        kind="band" if band else "metric",
        title=title,
        tag=main.tag,
        name=main,
        unit=shown_unit(main),
        parts={name.statistic or "mean": view.run.series[name.tag] for name in names},
        findings=tuple(findings.values()),
        at_step=at_step,
        own_axis=own_axis,
        against=against.get(main.tag) if against else None,
    )

"""Schema of metrics, and of names that map to metrics, in glossary, framework and configuration files.

A canonical id (`policy.clip_fraction`) identifies a quantity independently of frameworks. Its description
refers to the canonical scale (shares as fractions of one, times in seconds).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from rltui.common.display_text import cell_width
from rltui.common.named_tuple import NamedTuple
from rltui.schema.fields import (
    AnyOfField,
    Field,
    IntervalField,
    ListField,
    NumberField,
    TableField,
    TextField,
    table_of,
)
from rltui.schema.units import units

Direction = Literal["up", "down", "flat", "near0", "near1", "none"]
# A copy has the same values at steps of another kind, such as seconds.
Statistic = Literal["", "mean", "min", "max", "std", "copy"]

TITLE_WIDTH = 28  # cells; a title is the first column of a table that holds five more on 100 columns

DIRECTIONS: dict[str, str] = {
    "up": "higher is better",
    "down": "lower is better",
    "flat": "a steady course is good",
    "near0": "near zero is good",
    "near1": "near one is good",
    "none": "no direction is good in itself",
}
STATISTICS: tuple[Statistic, ...] = ("mean", "min", "max", "std")


METRIC_ID = TextField(
    pattern=r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+",
    permitted="lower-case words joined by dots, such as policy.kl_ref",
)
PANE_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="a pane id: lower-case letters, digits and '-'")
TEXTS = ListField(TextField())
MetricId = Annotated[str, METRIC_ID]
# The id of a metric that the glossary must have: `metric_references` finds these in a table.
METRIC_REFERENCE = TextField(pattern=METRIC_ID.pattern, permitted=METRIC_ID.permitted)
MetricReference = Annotated[str, METRIC_REFERENCE]
PaneId = Annotated[str, PANE_ID]
Interval = Annotated[tuple[float, float], IntervalField(infinite=True)]


class Metric(NamedTuple):
    """A quantity of a training run and how to interpret it.

    healthy, watch_for: descriptions of normal and of alarming values, empty if unknown. importance:
    position in the pane, from 1. group: shared by the statistics of a distribution, empty for other
    metrics; statistic: which of them this is; both follow from an id that ends with one, unless they are
    given. bounds: inclusive limits, may be infinite; a value outside is a bug in the log, not bad training.
    range: scale of charts. beyond: the metric whose title a series has that exceeds the bounds.
    healthy_range: if `healthy` states numbers; may be infinite. Rules use neither of these ranges. smooth:
    false where a moving average would be misleading, as for schedules, counters and coefficients. within:
    for the time of a phase of a step, the metrics whose time may include it, innermost first. derived:
    values that a pane derives, with formulas. least_change: of a scale whose zero means nothing.
    """

    id: MetricId
    title: str
    pane: PaneId = "other"
    unit: Annotated[str, TextField(tuple(units().words))] = "varies"
    direction: Direction = "none"
    meaning: str = ""
    importance: int = 0
    healthy: str = ""
    watch_for: str = ""
    check_next: tuple[MetricId, ...] = ()
    sources: tuple[str, ...] = ()
    group: Annotated[str, TextField(empty=True)] = ""
    statistic: Annotated[Statistic, TextField(STATISTICS)] = ""
    smooth: bool = True
    bounds: Interval | None = None
    range: Interval | None = None
    beyond: Annotated[str, TextField(empty=True)] = ""
    healthy_range: Interval | None = None
    within: tuple[MetricId, ...] = ()
    derived: tuple[str, ...] = ()
    least_change: Annotated[float, NumberField(minimum=0)] | None = None


def checked_metric(metric: Metric) -> Metric:
    """A metric from a file; its title is the default of its meaning. Raises ValueError if invalid."""
    if cell_width(metric.title) > TITLE_WIDTH:
        raise ValueError(f"title is wider than {TITLE_WIDTH} cells")
    if metric.statistic and not metric.group:
        raise ValueError("statistic needs a group")
    return metric._replace(meaning=metric.meaning or metric.title)


class NameTarget(NamedTuple):
    """The metric that a name in a log stands for.

    unit: of the values as written, empty for the canonical unit. scale, offset: convert a value to the
    canonical scale (`value * scale + offset`); a scale of None is derived from the two units.
    """

    canonical: str
    unit: str = ""
    scale: float | None = None
    offset: float = 0.0
    statistic: Statistic = ""
    caveat: str = ""
    older: bool = False  # only older releases write the name
    shared: bool = True  # the name may also be used in runs of an unknown framework


_DESCRIPTIONS = {
    "id": "canonical id: lower-case words joined by dots, such as own.auxiliary_loss",
    "title": f"the first column of a row, at most {TITLE_WIDTH} cells",
    "pane": "pane id",
    "unit": "decides how values are written",
    "direction": "which values are good",
    "meaning": "one sentence; the title by default",
    "healthy": "normal values, in words",
    "watch_for": "alarming values, in words",
    "check_next": "ids of metrics to look at next",
    "sources": "where this is stated",
    "group": "shared by the statistics of one distribution",
    "statistic": "which statistic of the group this is",
    "smooth": "false for schedules, counters and coefficients: no moving average is drawn",
    "bounds": "a value outside of [low, high] is a bug in the log; an end may be infinite",
    "range": "[low, high], the scale of charts",
    "beyond": "id of the metric whose title a series has that exceeds the bounds",
    "healthy_range": "[low, high] of normal values, marked in charts; an end may be infinite",
    "within": "of the time of a phase: ids of the times that may include it, innermost first",
    "derived": "values that the pane derives, with formulas",
    "least_change": "the least change that counts, for a scale whose zero is arbitrary",
}


def metric_references(kind: object, value: object) -> Iterator[str]:
    """The ids in a value of a type that are references to metrics, without empty ones.

    kind: a named tuple, a tuple or mapping, or the type of one of their fields.
    """
    if get_origin(kind) is Annotated:
        if METRIC_REFERENCE in get_args(kind) and isinstance(value, str) and value:
            yield value
    elif hasattr(kind, "_fields"):
        for name, hint in get_type_hints(kind, include_extras=True).items():
            yield from metric_references(hint, getattr(value, name))
    elif isinstance(value, Mapping):
        of_key, of_value = get_args(kind)
        for key, each in value.items():
            yield from (*metric_references(of_key, key), *metric_references(of_value, each))
    elif isinstance(value, tuple | frozenset):
        for each in value:
            yield from metric_references(get_args(kind)[0], each)


def metric_fields() -> Mapping[str, Field[object]]:
    """The fields of a metric in a file, which gives its position as well."""
    return table_of(Metric, without=("importance",), descriptions=_DESCRIPTIONS).fields


def _target(is_: str, **values: Any) -> NameTarget:
    return NameTarget(is_, **values)


def entry_field(**more: Field[object]) -> AnyOfField[NameTarget | str]:
    """The target of a name: a canonical id, or a table with `is` and further keys."""
    fields: dict[str, Field[object]] = {
        "is": TextField(),
        "unit": TextField(),
        "scale": NumberField(),
        "offset": NumberField(),
        "statistic": TextField((*STATISTICS, "copy")),
        "caveat": TextField(),
        **more,
    }
    table = TableField(fields, _target, required=("is",), strict=True)
    return AnyOfField((TextField(), table), "a canonical id, such as policy.kl_ref, or a table with 'is'")

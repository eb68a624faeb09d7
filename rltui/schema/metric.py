"""A metric as TOML files write it, and where a name leads: shared by glossary, frameworks and configuration.

A canonical id (`policy.clip_fraction`) names one quantity whatever a framework calls it; what stands
here holds for that quantity on its canonical scale (a share is a fraction of one, time is in seconds).
"""

from __future__ import annotations

from typing import Any, Literal

from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width
from rltui.schema.fields import (
    AnyOfField,
    BoolField,
    Field,
    IntervalField,
    ListField,
    NumberField,
    TableField,
    TextField,
)
from rltui.schema.units import units

Direction = Literal["up", "down", "flat", "near0", "near1", "none"]
# A copy holds the same values at steps of another kind, such as seconds.
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


class Metric(NamedTuple):
    """One quantity of a training run and how to read it.

    `healthy` says what is normal, `watch_for` what to fear; either may be empty, never both guessed.
    `importance` counts from 1 in the order of the pane: what to look at first. `group` gathers the
    statistics of one distribution (empty: stands alone), `statistic` says which of them this is.
    `bounds` are hard, both ends allowed: a value outside is a bug, not bad training; ends may be
    infinite. `range` is a declared scale for charts, `band` the healthy values where `healthy` states
    numbers (ends may be infinite); both are of display only and judge nothing. `smooth` is false where a
    moving average would lie: schedules, counters, coefficients. `within`: the time of a phase of a step; the
    metrics whose time may include it, the innermost first. `derived`: what a pane derives from it, each with
    its formula.
    """

    id: str
    title: str
    pane: str = "other"
    unit: str = "varies"
    direction: Direction = "none"
    meaning: str = ""
    importance: int = 0
    healthy: str = ""
    watch_for: str = ""
    check_next: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    group: str = ""
    statistic: Statistic = ""
    smooth: bool = True
    bounds: tuple[float, float] | None = None
    range: tuple[float, float] | None = None
    band: tuple[float, float] | None = None
    within: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()


def checked_metric(metric: Metric) -> Metric:
    """A metric of a file, with its title for a meaning where it has none.

    Raises ValueError for what is wrong between its fields.
    """
    if cell_width(metric.title) > TITLE_WIDTH:
        raise ValueError(f"title is wider than {TITLE_WIDTH} cells")
    if metric.statistic and not metric.group:
        raise ValueError("statistic needs a group")
    return metric._replace(meaning=metric.meaning or metric.title)


class NameTarget(NamedTuple):
    """Where a name that a program writes leads.

    `unit` is the unit of the value as written, empty for the canonical unit. `scale` and `offset` bring a
    value to the canonical scale (`value * scale + offset`); a scale of None follows from the two units.
    A named tuple, for thousands are made at every start.
    """

    canonical: str
    unit: str = ""
    scale: float | None = None
    offset: float = 0.0
    statistic: Statistic = ""
    caveat: str = ""
    older: bool = False  # only older releases write it
    shared: bool = True  # may also explain a run of an unknown framework


METRIC_ID = TextField(
    pattern=r"[a-z][a-z0-9_]*(\.[a-z0-9_]+)+",
    permitted="lower-case words joined by dots, such as policy.kl_ref",
)
PANE_ID = TextField(pattern=r"[a-z][a-z0-9-]*", permitted="a pane id: lower-case letters, digits and '-'")
TEXTS = ListField(TextField())
METRIC_FIELDS: dict[str, Field[object]] = {
    "id": METRIC_ID,
    "title": TextField(),
    "unit": TextField(tuple(units().words)),
    "direction": TextField(tuple(DIRECTIONS)),
    "meaning": TextField(),
    "healthy": TextField(),
    "watch_for": TextField(),
    "check_next": ListField(METRIC_ID),
    "sources": TEXTS,
    "group": TextField(),
    "statistic": TextField(STATISTICS),
    "smooth": BoolField(),
    "bounds": IntervalField(infinite=True),
    "range": IntervalField(infinite=True),
    "band": IntervalField(infinite=True),
    "within": ListField(METRIC_ID),
    "derived": TEXTS,
}


def _target(is_: str, **values: object) -> NameTarget:
    known: dict[str, Any] = values
    return NameTarget(is_, **known)


def entry_field(**more: Field[object]) -> AnyOfField[NameTarget | str]:
    """The canonical id that a name leads to, alone or in a table with what else is known of the name."""
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

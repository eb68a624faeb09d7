"""The metrics that answers are made of: `rltui/data/answer_metrics.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.fields import ListField, MapField, TableField, table_of
from rltui.schema.metric import METRIC_ID
from rltui.schema.toml_files import read_table


class KeyQuantity(NamedTuple):
    """A quantity and the template of its sentence; `share`: whether it is written in percent."""

    metric: str  # canonical id
    word: str
    said: str = "{word} is {value}"
    share: bool = False


class KeyQuantities(NamedTuple):
    """The question of a pane and the quantities that answer it, most important first."""

    question: str
    quantity: tuple[KeyQuantity, ...]


class Straggler(NamedTuple):
    """The maximum that others wait for, and the mean; without `usual`, `most` is already their ratio."""

    word: str
    most: str  # canonical id
    usual: str = ""


class AnswerMetrics(NamedTuple):
    """The tables of the file; `metrics` are lists of canonical ids."""

    metrics: Mapping[str, tuple[str, ...]]
    named: Mapping[str, tuple[KeyQuantity, ...]]
    straggler: tuple[Straggler, ...]
    pane: Mapping[str, KeyQuantities]


def _answer_metrics_field() -> TableField[AnswerMetrics]:
    quantities = ListField(table_of(KeyQuantity, metric=METRIC_ID))
    return table_of(
        AnswerMetrics,
        metrics=MapField(ListField(METRIC_ID)),
        named=MapField(quantities),
        straggler=ListField(table_of(Straggler, most=METRIC_ID, usual=METRIC_ID)),
        pane=MapField(table_of(KeyQuantities, quantity=quantities)),
    )


@cache
def answer_metrics() -> AnswerMetrics:
    """The tables, read at the first call."""
    return read_table("answer_metrics", _answer_metrics_field)

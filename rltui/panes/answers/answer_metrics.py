"""The metrics that answers are made of: `rltui/data/answer_metrics.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.metric import MetricId
from rltui.schema.toml_files import read_table


class KeyQuantity(NamedTuple):
    """A quantity and the template of its sentence.

    share: whether it is written in percent. rare: the sentence for a mean of counts that is nearly zero.
    setting: whether the program sets it, so that its last value is that of now.
    """

    metric: MetricId
    word: str
    said: str = "{word} is {value}"
    share: bool = False
    rare: str = ""
    setting: bool = False


class Straggler(NamedTuple):
    """The maximum that others wait for, and the mean; without `usual`, `most` is already their ratio."""

    word: str
    most: MetricId
    usual: MetricId = ""


class AnswerMetrics(NamedTuple):
    """The tables of the file."""

    metrics: Mapping[str, tuple[MetricId, ...]]
    named: Mapping[str, tuple[KeyQuantity, ...]]
    straggler: tuple[Straggler, ...]
    pane: Mapping[str, tuple[KeyQuantity, ...]]  # the most important first


@cache
def answer_metrics() -> AnswerMetrics:
    """The tables, read at the first call."""
    return read_table("answer_metrics", AnswerMetrics)

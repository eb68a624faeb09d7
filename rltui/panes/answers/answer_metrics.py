"""The metrics that answers are made of: `rltui/data/answer_metrics.toml`."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

from rltui.common.named_tuple import NamedTuple
from rltui.schema.metric import Interval, MetricReference
from rltui.schema.toml_files import read_table


class KeyQuantity(NamedTuple):
    """A quantity and the template of its sentence.

    share: whether it is written in percent. rare: the sentence for a mean of counts that is nearly zero.
    setting: whether the program sets it, so that its last value is that of now.
    """

    metric: MetricReference
    word: str
    said: str = "{word} is {value}"
    share: bool = False
    rare: str = ""
    setting: bool = False


class Straggler(NamedTuple):
    """The maximum that others wait for, and the mean; without `usual`, `most` is already their ratio."""

    word: str
    most: MetricReference
    usual: MetricReference = ""


class WaitingMetrics(NamedTuple):
    """What says how much one side of a training waits: a share, or a time with the whole it is a part of."""

    metric: MetricReference
    whole: MetricReference = ""


class DeviceColumn(NamedTuple):
    """A column of the table of GPUs.

    scale: of its colours, lowest and highest; by default up to the maximum of the devices. also: metrics of
    other panes that are the same quantity.
    """

    metric: MetricReference
    title: str
    unit: str
    scale: Interval | None = None
    also: tuple[MetricReference, ...] = ()


class SingleMetrics(NamedTuple):
    """Metrics that an answer needs one of, by what it uses them for."""

    gpu_use: MetricReference
    gpu_memory: MetricReference  # a share
    gpu_memory_used: MetricReference
    gpu_throttled: MetricReference
    mfu: MetricReference
    throughput_per_accelerator: MetricReference
    total_throughput: MetricReference
    token_counter: MetricReference
    parameters: MetricReference
    mean_tokens: MetricReference  # of a sequence
    mean_prompt: MetricReference
    cut_off: MetricReference
    load_imbalance: MetricReference
    heaviest_load: MetricReference
    reward: MetricReference
    score: MetricReference
    episode_return: MetricReference
    reward_component: MetricReference
    rating: MetricReference
    validation_time: MetricReference


class AnswerMetrics(NamedTuple):
    """The tables of the file."""

    rank_words: tuple[str, ...]  # before the number of a rank in a key
    single: SingleMetrics
    metrics: Mapping[str, tuple[MetricReference, ...]]
    parts: Mapping[MetricReference, tuple[MetricReference, ...]]
    waiting: Mapping[str, tuple[WaitingMetrics, ...]]
    gpu: tuple[DeviceColumn, ...]
    named: Mapping[str, tuple[KeyQuantity, ...]]
    straggler: tuple[Straggler, ...]
    pane: Mapping[str, tuple[KeyQuantity, ...]]  # the most important first


@cache
def answer_metrics() -> AnswerMetrics:
    """The tables, read at the first call."""
    return read_table("answer_metrics", AnswerMetrics)

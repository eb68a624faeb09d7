"""The words of the glossary: a metric, a pane, and everything known of both.

A canonical id (`policy.clip_fraction`) names one quantity whatever a framework calls it; what stands
here holds for that quantity on its canonical scale (a share is a fraction of one, time is in seconds).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from rltui.batch import Problem

Direction = Literal["up", "down", "flat", "near0", "near1", "none"]
Statistic = Literal["", "mean", "min", "max", "std"]

TITLE_WIDTH = 28  # cells; a title is the first column of a table that holds five more on 100 columns

DIRECTIONS: dict[str, str] = {
    "up": "higher is better",
    "down": "lower is better",
    "flat": "a steady course is good",
    "near0": "near zero is good",
    "near1": "near one is good",
    "none": "no direction is good in itself",
}
STATISTICS = ("", "mean", "min", "max", "std")

UNITS: dict[str, str] = {
    "fraction": "share between 0 and 1",
    "probability": "between 0 and 1",
    "index": "between 0 and 1",
    "nats": "nats",
    "ppl": "perplexity",
    "divergence": "divergence",
    "logit": "logits",
    "score": "reward points",
    "return": "sum of rewards of an episode",
    "loss": "loss, meaningful only against itself",
    "coef": "coefficient",
    "rate": "learning rate or decay",
    "weight": "weight",
    "ratio": "ratio",
    "norm": "norm",
    "std": "standard deviation",
    "action": "units of the action",
    "count": "count",
    "calls": "calls",
    "turns": "turns",
    "tokens": "tokens",
    "tokens2": "tokens squared",
    "steps": "environment steps",
    "step": "step",
    "epoch": "passes over the data",
    "version": "version of the weights",
    "versions": "versions of the weights",
    "flag": "0 or 1",
    "s": "seconds",
    "ms/token": "milliseconds per token",
    "unix_s": "seconds since 1970",
    "tokens/s": "tokens per second",
    "tokens/s/gpu": "tokens per second and accelerator",
    "samples/s": "samples per second",
    "steps/s": "steps per second",
    "episodes/s": "episodes per second",
    "TFLOP/s": "trillion operations per second",
    "FLOP": "floating-point operations",
    "GB": "gigabytes",
    "histogram": "a whole distribution",
    "text": "text",
    "varies": "depends on the run",
}


@dataclass(frozen=True, slots=True)
class Metric:
    """One quantity of a training run and how to read it.

    `healthy` says what is normal, `watch_for` what to fear; either may be empty, never both guessed.
    `importance` counts from 1 in the order of the pane: what to look at first. `group` gathers the
    statistics of one distribution (empty: stands alone), `statistic` says which of them this is.
    `bounds` are hard, both ends allowed: a value outside is a bug, not bad training; ends may be
    infinite. `range` is a declared scale for charts, `band` the healthy values where `healthy` states
    numbers (ends may be infinite); both are of display only and judge nothing. `smooth` is false where a
    moving average would lie: schedules, counters, coefficients.
    """

    id: str
    title: str
    pane: str
    unit: str
    direction: Direction
    meaning: str
    importance: int
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


@dataclass(frozen=True, slots=True)
class Pane:
    """A page of metrics that belong together.

    `title` is its heading, `tab` the word on its tab, `key` jumps to it: without a key it is shown among a
    run's own sections. `always`: its tab is there even when the run has none of its metrics, and `empty` is
    said there.
    """

    id: str
    title: str
    intro: str  # what to look at first, in two or three sentences
    tab: str
    key: str = ""
    always: bool = False
    empty: str = ""


@dataclass(frozen=True, slots=True)
class Glossary:
    """All metrics by canonical id, in the order of panes and importance, and what was wrong with the data."""

    metrics: Mapping[str, Metric]
    panes: tuple[Pane, ...]
    problems: tuple[Problem, ...] = ()

    def pane(self, name: str) -> Pane | None:
        """The pane of that id, or None."""
        return next((pane for pane in self.panes if pane.id == name), None)

    def of_pane(self, name: str) -> list[Metric]:
        """The metrics of a pane, most important first."""
        return [metric for metric in self.metrics.values() if metric.pane == name]

"""Evaluators of runs whose tags are canonical ids."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from rltui.config import Config
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.metrics.glossary_files import glossary
from rltui.metrics.resolve import MetricNames
from rltui.rules.evaluator import Evaluator
from rltui.rules.rulebook import Rulebook, rulebook
from rltui.rules.run_status.liveness import Liveness
from rltui.rules.run_status.measured_pace import measured_pace, quiet
from rltui.schema.metric import NameTarget
from rltui.store.points import NewPoints, Points
from rltui.store.run import Run


@cache
def canonical_names(framework: str | None = None) -> MetricNames:
    """Names by which a tag is a canonical id; `eval/` in front: held-out, `@sum` behind: on another scale."""
    return names_of(framework)


def names_of(framework: str | None = None, **config: Any) -> MetricNames:
    """The same with a configuration of the user's; its aliases are added."""
    aliases: dict[str, NameTarget | str] = {}
    for metric in glossary().metrics:
        aliases[metric] = aliases[f"eval/{metric}"] = metric
        aliases[f"{metric}@sum"] = NameTarget(metric, unit="per response")  # no factor leads to such a unit
    aliases |= config.pop("aliases", {})
    return MetricNames(framework, Config(aliases=aliases, **config))


def liveness_of(run: Run, now: float, total: int | None = None, names: MetricNames | None = None) -> Liveness:
    """Whether a run is live, stalled or ended at a time."""
    return measured_pace(run, total)._replace(quiet=quiet(run, names)).at(now)


def run_with(step_walls: Sequence[tuple[int, float]] = ()) -> Run:
    """A run of the store whose one series was logged at these steps and times (seconds since 1970)."""
    run = Run("run", 1024, 64)
    if step_walls:
        steps, walls = zip(*step_walls, strict=True)
        batch = Batch.of_doubles(("loss",), np.zeros(len(steps)), steps, walls, np.ones(len(steps)))
        run.apply(Delivery(Source("run", "metrics.jsonl", "jsonl"), batch))
    return run


def fresh(
    tag: str, values: ArrayLike, steps: ArrayLike | None = None, rewound_to: int | None = None
) -> NewPoints:
    """New points of one tag, at steps 1, 2, 3, ... unless said otherwise; a second a step."""
    value = np.asarray(values, np.float64)
    step = np.asarray(steps if steps is not None else np.arange(1, len(value) + 1), np.int64)
    return NewPoints(tag, Points(step, step.astype(np.float64), value), rewound_to)


def new_evaluator(
    names: MetricNames | None = None, config: Config | None = None, book: Rulebook | None = None
) -> Evaluator:
    """A new evaluator."""
    return Evaluator(run_with(), names if names is not None else canonical_names(), config, book)


def only(*names: str) -> Rulebook:
    """The shipped rules of these ids alone: evaluating them takes a third of the time."""
    book = rulebook()
    return book._replace(rules={name: book.rules[name] for name in names}, symptoms=(), joint_conditions={})


def evaluator_of(
    series: Mapping[str, Sequence[float]], *, framework: str | None = None, book: Rulebook | None = None
) -> Evaluator:
    """An evaluator after complete series; shorter ones are logged at larger intervals."""
    evaluator = new_evaluator(canonical_names(framework), book=book)
    longest = max(map(len, series.values()), default=1)
    for tag, values in series.items():
        every = max(longest // max(len(values), 1), 1)
        evaluator.feed([fresh(tag, values, [every * (k + 1) for k in range(len(values))])])
    return evaluator


def grow(
    evaluator: Evaluator, series: Mapping[str, np.ndarray], pieces: int, stride: int = 1
) -> Iterator[None]:
    """Feed a run in pieces, as if it were being written; yields after each of them.

    Points are `stride` steps apart; shorter series are logged every so many of them.
    """
    longest = max(map(len, series.values()))
    for piece in range(pieces):
        new = []
        for tag, values in series.items():
            begin, end = (len(values) * at // pieces for at in (piece, piece + 1))
            if begin < end:
                every = stride * max(longest // len(values), 1)
                new.append(fresh(tag, values[begin:end], every * np.arange(begin + 1, end + 1)))
        evaluator.feed(new)
        yield


def ids(evaluator: Evaluator, least: str = "info") -> set[str]:
    """The ids of findings at or above a severity."""
    rank = ("info", "warning", "critical").index(least)
    return {finding.id for finding in evaluator.findings() if finding.rank >= rank}

"""Small stand-ins for runs and names, and a judge fed with series: what the tests of rules are made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from rltui.rules.evaluate.evaluator import Evaluator
from rltui.rules.load import Rulebook


@dataclass
class FakeName:
    """A name as the judge sees it."""

    canonical: str | None
    held_out: bool = False
    scale: float = 1.0
    offset: float = 0.0
    metric: Any = None
    comparable: bool = True
    tag: str = ""
    pane: str = "other"


class FakeNames:
    """Tags that are canonical ids; `eval/` in front: held-out, `@sum` behind: on another scale."""

    def __init__(self, framework: str | None = None, mapping: Mapping[str, FakeName] | None = None) -> None:
        self.framework = framework
        self.mapping = mapping or {}

    def name(self, tag: str) -> FakeName:
        """The name of a tag."""
        if tag in self.mapping:
            return self.mapping[tag]
        bare = tag.removeprefix("eval/").partition("@")[0]
        sums = tag.endswith("@sum")
        canonical = bare if "." in bare else None
        return FakeName(canonical, tag.startswith("eval/"), comparable=not sums, tag=tag)


@dataclass
class FakeRun:
    """A run without anything to say of itself."""

    name: str = "run"
    problems: dict[Any, Any] = field(default_factory=dict)
    total_steps: int | None = None


@dataclass(frozen=True)
class Points:
    """Columns of a series."""

    step: np.ndarray
    wall_time: np.ndarray
    value: np.ndarray

    def __len__(self) -> int:
        return len(self.step)


@dataclass(frozen=True)
class Fresh:
    """New points of one tag."""

    tag: str
    points: Points
    rewound_to: int | None = None


def fresh(
    tag: str, values: Sequence[float], steps: Sequence[int] | None = None, rewound_to: int | None = None
) -> Fresh:
    """New points of one tag, at steps 1, 2, 3, ... unless said otherwise."""
    value = np.asarray(values, np.float64)
    step = np.asarray(steps if steps is not None else np.arange(1, len(value) + 1), np.int64)
    return Fresh(tag, Points(step, step.astype(np.float64), value), rewound_to)


def judge_of(
    series: Mapping[str, Sequence[float]], *, framework: str | None = None, book: Rulebook | None = None
) -> Evaluator:
    """A judge that has seen whole series; shorter ones are logged every so many steps."""
    judge = Evaluator(FakeRun(), FakeNames(framework), None, book)
    longest = max(map(len, series.values()), default=1)
    for tag, values in series.items():
        every = max(longest // max(len(values), 1), 1)
        judge.feed([fresh(tag, values, [every * (k + 1) for k in range(len(values))])])
    return judge


def ids(judge: Evaluator, least: str = "info") -> set[str]:
    """The ids of what fires at or above a severity."""
    rank = ("info", "warning", "critical").index(least)
    return {finding.id for finding in judge.findings() if finding.rank >= rank}

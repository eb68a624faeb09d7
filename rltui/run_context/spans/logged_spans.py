"""The spans of one file: by step, or on a clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from rltui.common.named_tuple import NamedTuple

KEPT_STEPS = 64  # of a file, the newest
MAX_SPANS = 4000  # of a step


class Span(NamedTuple):
    """Something that ran, in seconds; the name is cleaned."""

    name: str
    begin: float
    end: float


# By rising step; spans in order of begin, in seconds since the begin of the first span of the step.
StepSpans = Mapping[int, tuple[Span, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class LoggedSpans:
    """The spans of one file, either `by_step` or `timed`. Compared by identity.

    timed: in order of begin, in seconds since 1970 or another epoch of the file; their steps follow from wall
    times. profiled: the steps of a profiler on the same clock. source: the name of the file. notes: what was
    left out of it. stamp: changes when the file changes.
    """

    by_step: StepSpans = field(default_factory=dict)
    timed: tuple[Span, ...] = ()
    profiled: tuple[Span, ...] = ()
    source: str = ""
    notes: tuple[str, ...] = ()
    stamp: tuple[object, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.by_step or self.timed)


NO_SPANS = LoggedSpans()


def relative_spans(spans: list[tuple[str, float, float]]) -> tuple[Span, ...]:
    """The spans of a step from name, begin and end of each, relative to the first begin."""
    first = min(begin for _, begin, _ in spans)
    relative = (Span(name, begin - first, end - first) for name, begin, end in spans)
    return tuple(sorted(relative, key=lambda span: (span.begin, -span.end)))

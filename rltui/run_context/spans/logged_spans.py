"""Spans as their formats give them: of numbered steps, or on a clock of their own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple


class Span(NamedTuple):
    """Something that ran, in seconds; the name is cleaned."""

    name: str
    begin: float
    end: float


# By rising step, each in order of begin, in seconds since the first span of the step began.
StepSpans = Mapping[int, tuple[Span, ...]]


@dataclass(frozen=True, slots=True, eq=False)
class LoggedSpans:
    """The spans of one file. Either `by_step`, or `timed` on a clock that steps are looked up on.

    `timed` are in order of begin, in seconds since 1970 where the file says so; `profiled` are the steps of
    a profiler on the same clock. `source` names the file, `notes` say what was left out of it. `stamp`
    changes when the file does. Equal is only what was read at once.
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


def from_first(spans: list[tuple[str, float, float]]) -> tuple[Span, ...]:
    """Name, begin and end of the spans of a step, counted from the first of them."""
    first = min(begin for _, begin, _ in spans)
    made = (Span(name, begin - first, end - first) for name, begin, end in spans)
    return tuple(sorted(made, key=lambda one: (one.begin, -one.end)))

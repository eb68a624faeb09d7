"""What ran when in one step, from spans beside the log.

Spans of numbered steps are as their writer says. Those of traces have a clock alone: a step is then what lies
between the wall times at which it and the step before were logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rltui.draw.numbers import format_seconds, format_step
from rltui.panes.answers.answer import Gantt, GanttRow
from rltui.panes.answers.recent_values import RunValues

if TYPE_CHECKING:
    from rltui.run_context.spans.logged_spans import LoggedSpans, Span

STEP = "timing.step"
COVERED = 0.5  # share of a step's time that a trace must span
NAMED = 3  # rows that the words name
Edges = tuple[float, float]


def gantt(run: RunValues, spans: LoggedSpans) -> Gantt | None:
    """The newest step with spans, or the newest up to a step; None without spans."""
    step = max((one for one in spans.by_step if run.at_step is None or one <= run.at_step), default=None)
    if step is not None:
        inside = spans.by_step[step]
        whole = (min(span.begin for span in inside), max(span.end for span in inside))
        return _chart(inside, whole, step, f"step {format_step(step)}", spans.source)
    if not spans.timed:
        return None
    reach = (spans.timed[0].begin, max(span.end for span in spans.timed))
    for step, edges in _steps(run):
        seconds = min(reach[1], edges[1]) - max(reach[0], edges[0])
        if seconds >= COVERED * (edges[1] - edges[0]):
            found = _timed_chart(spans, edges, step, f"step {format_step(step)}")
            if found is not None:
                return found
    if run.at_step is not None:
        return None
    for span in reversed(spans.profiled):
        found = _timed_chart(spans, (span.begin, span.end), None, span.name)
        if found is not None:
            return found
    return _timed_chart(spans, reach, None, "the whole trace")


def longest(chart: Gantt) -> list[str]:
    """The longest rows in words."""
    rows = sorted(chart.rows, key=lambda row: -row.seconds)[:NAMED]
    return [
        f"{row.title} {format_seconds(row.seconds)}" + (f" in {row.count:,}" if row.count > 1 else "")
        for row in rows
    ]


def _chart(spans: Iterable[Span], edges: Edges, step: int | None, title: str, source: str) -> Gantt | None:
    """The rows of what ran between two times; None without any.

    What began before and ended after is around the step, such as the task that runs the whole training.
    """
    rows: dict[str, list[Edges]] = {}
    begin, end = edges
    for span in spans:
        around = span.begin < begin and span.end > end
        if span.begin < end and span.end > begin and not around:
            rows.setdefault(span.name, []).append(
                (max(span.begin, begin) - begin, min(span.end, end) - begin)
            )
    made = []
    for name, each in rows.items():
        apart = _apart(each)
        made.append(GanttRow(name, apart, sum(last - first for first, last in apart), len(each)))
    made.sort(key=lambda row: row.spans[0])
    return Gantt(step, end - begin, tuple(made), title, source) if made else None


@lru_cache(maxsize=16)
def _timed_chart(spans: LoggedSpans, edges: Edges, step: int | None, title: str) -> Gantt | None:
    """The same of a trace: it may hold thousands of spans, and a frame asks for the chart of one step."""
    return _chart(spans.timed, edges, step, title, spans.source)


def _apart(edges: Iterable[Edges]) -> tuple[Edges, ...]:
    """The times in which at least one of several spans ran."""
    found: list[Edges] = []
    for begin, end in sorted(edges):
        if found and begin < found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((begin, end))
    return tuple(found)


def _steps(run: RunValues) -> Iterable[tuple[int, Edges]]:
    """Recent steps with the wall times between which they lie, the newest first."""
    values = run.find(STEP)
    series = run.view.run.series[values.tag] if values is not None else None
    if series is None:
        series = max(run.view.run.series.values(), key=lambda one: one.count, default=None)
    if series is None or not series.count:
        return
    points = series.recent()
    known = np.isfinite(points.wall_time) & (points.step <= run.at_step if run.at_step is not None else True)
    steps, walls = points.step[known], points.wall_time[known]
    rising = np.flatnonzero((np.diff(steps) > 0) & (np.diff(walls) > 0)) + 1
    lengths = values.at(steps) if values is not None else np.zeros(len(steps))
    for at in rising[::-1].tolist():
        gap = float(walls[at] - walls[at - 1])
        own = float(lengths[at])
        seconds = own if 0 < own <= gap else gap
        yield int(steps[at]), (float(walls[at]) - seconds, float(walls[at]))

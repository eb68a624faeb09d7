"""The Gantt chart of one step, from spans in files beside the log.

Spans may have the number of their step. Those of traces only have times: a step is then the time between the
wall times at which the step before and it were logged.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from rltui.draw.numbers import format_seconds, format_step
from rltui.panes.answers.answer import Gantt, GanttRow
from rltui.panes.answers.values.recent_values import STEP, RunValues

if TYPE_CHECKING:
    from rltui.run_context.spans.logged_spans import LoggedSpans, Span

COVERED = 0.5  # share of a step's time that a trace must span
NAMED = 3  # rows that are named in the text
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
            chart = _timed_chart(spans, edges, step, f"step {format_step(step)}")
            if chart is not None:
                return chart
    if run.at_step is not None:
        return None
    for span in reversed(spans.profiled):
        chart = _timed_chart(spans, (span.begin, span.end), None, span.name)
        if chart is not None:
            return chart
    return _timed_chart(spans, reach, None, "the whole trace")


def longest(chart: Gantt) -> list[str]:
    """The longest rows as text."""
    rows = sorted(chart.rows, key=lambda row: -row.seconds)[:NAMED]
    return [
        f"{row.title} {format_seconds(row.seconds)}" + (f" in {row.count:,}" if row.count > 1 else "")
        for row in rows
    ]


def _chart(spans: Iterable[Span], edges: Edges, step: int | None, title: str, source: str) -> Gantt | None:
    """The chart of the spans between two times; None without any.

    Spans that begin before and end after both, such as the task that runs the whole training, are ignored.
    """
    rows: dict[str, list[Edges]] = {}
    begin, end = edges
    for span in spans:
        around = span.begin < begin and span.end > end
        if span.begin < end and span.end > begin and not around:
            rows.setdefault(span.name, []).append(
                (max(span.begin, begin) - begin, min(span.end, end) - begin)
            )
    chart_rows = []
    for name, times in rows.items():
        merged = _merged(times)
        chart_rows.append(GanttRow(name, merged, sum(last - first for first, last in merged), len(times)))
    chart_rows.sort(key=lambda row: row.spans[0])
    return Gantt(step, end - begin, tuple(chart_rows), title, source) if chart_rows else None


@lru_cache(maxsize=16)
def _timed_chart(spans: LoggedSpans, edges: Edges, step: int | None, title: str) -> Gantt | None:
    """The same for a trace, which may have thousands of spans, cached for the frames of one step."""
    return _chart(spans.timed, edges, step, title, spans.source)


def _merged(times: Iterable[Edges]) -> tuple[Edges, ...]:
    """The disjoint times in which at least one of several spans ran."""
    merged: list[Edges] = []
    for begin, end in sorted(times):
        if merged and begin < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], end))
        else:
            merged.append((begin, end))
    return tuple(merged)


def _steps(run: RunValues) -> Iterable[tuple[int, Edges]]:
    """Recent steps with the wall times at which they began and ended, the newest first."""
    values = run.find(STEP)
    series = run.view.run.series
    tag = values.tag if values is not None else max(series, key=lambda one: series[one].count, default=None)
    if tag is None:
        return
    points = run.points(tag)
    known = np.isfinite(points.wall_time)
    steps, walls = points.step[known], points.wall_time[known]
    rising = np.flatnonzero((np.diff(steps) > 0) & (np.diff(walls) > 0)) + 1
    lengths = values.at(steps) if values is not None else np.zeros(len(steps))
    for at in rising[::-1].tolist():
        gap = float(walls[at] - walls[at - 1])
        own = float(lengths[at])
        seconds = own if 0 < own <= gap else gap
        yield int(steps[at]), (float(walls[at]) - seconds, float(walls[at]))

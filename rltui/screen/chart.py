"""The large chart of a metric: axes, smoothing over the raw spread, zoom, cursor, runs over each other."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from rltui.boards.board import span_of
from rltui.boards.row import Row, bridge
from rltui.draw.chart import Plot, Stroke, draw
from rltui.draw.line import BLANK, Line, Span, line, sides
from rltui.draw.number import format_plain, format_si, format_step, format_value
from rltui.draw.scale import hold, value_range
from rltui.screen import overlap
from rltui.screen.actions import SMOOTHINGS
from rltui.screen.trace import Axis, at_text, counterpart, ema, log_of, start_of, weave, x_ticks
from rltui.screen.view import Page, Spot
from rltui.text import fit

if TYPE_CHECKING:
    from rltui.screen.desk import Desk
    from rltui.store import Series

AXES: tuple[Axis, ...] = ("step", "relative", "wall")
GLYPHS = "●◆■▲▼★✚○"  # of overlaid runs: told apart without colours


@dataclass(slots=True)
class Trace:
    """One curve on the chart: a series of a run in columns."""

    label: str
    role: str
    series: Series
    mean: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    smooth: NDArray[np.float64] | None
    points: int
    nonfinite: int


class ChartPage:
    """A whole screen for one row of a board."""

    where = "chart"
    typing = False

    def __init__(self, desk: Desk, row: Row) -> None:
        self.row = row
        self.log = False
        self.overlap = False  # whether points that a restart superseded are shown
        self.zoom: tuple[float, float] | None = None
        self.cursor: float | None = None
        self.columns = 100
        self.shown: tuple[float, float] = (0.0, 1.0)
        self._held: tuple[float, float] | None = None
        self._left = 0

    # ---- data

    def traces(self, desk: Desk, low: float, high: float, columns: int, axis: Axis) -> list[Trace]:
        """The row's series, and the same metric of marked runs and of the baseline."""
        view = desk.view
        main = self.row.main
        if view is None or main is None:
            return []
        found = [(view.name, view, main)]
        names = [
            name for name in (*desk.marked, desk.base.name if desk.base else "") if name and name != view.name
        ]
        for name in dict.fromkeys(names):
            other = desk.session.runs.get(name)
            series = counterpart(self.row, other) if other is not None else None
            if other is not None and series is not None:
                found.append((name, other, series))
        weight = SMOOTHINGS[desk.memory.smoothing] if self.row.smooth else 0.0
        traces = []
        for index, (name, one, series) in enumerate(found[: len(GLYPHS)]):
            shift = 0.0 if axis != "relative" else start_of(one)
            cut = series.columns(low + shift, high + shift, columns, "step" if axis == "step" else "wall")
            count = cut.count
            mean = np.where(count > 0, cut.mean, math.nan)
            traces.append(Trace(
                name, f"series{index}", series, mean,
                np.where(count > 0, cut.low, math.nan), np.where(count > 0, cut.high, math.nan),
                ema(mean, count, weight) if weight else None,
                int(count.sum() + cut.nonfinite.sum()), int(cut.nonfinite.sum()),
            ))  # fmt: skip
        return traces

    def full(self, desk: Desk, axis: Axis) -> tuple[float, float]:
        """The whole range of the x axis."""
        view, main = desk.view, self.row.main
        if view is None or main is None or not main.count:
            return (0.0, 1.0)
        if axis == "step":
            first, last = span_of(view)
            if main.first_step is not None and main.last_step is not None:
                first, last = main.first_step, main.last_step
            if desk.at_step is not None:
                last = min(last, desk.at_step)
            return (float(first), float(max(last, first + 1)))
        start, end = start_of(view), main.last_wall
        if start is None or end is None or not math.isfinite(start) or not math.isfinite(end):
            return (0.0, 1.0)
        shift = start if axis == "relative" else 0.0
        return (start - shift, max(end - shift, start - shift + 1))

    # ---- picture

    def page(self, desk: Desk, under: Page, width: int, height: int) -> Page:
        """Title, legend, chart, the cursor's value."""
        axis: Axis = desk.memory.axis if desk.memory.axis in AXES else "step"
        whole = self.full(desk, axis)
        low, high = self.zoom or whole
        self.shown = (low, high)
        chart_height = max(height - 4, 4)
        inner = max(width - 12, 10)
        traces = self.traces(desk, low, high + (1 if axis == "step" else 0), inner * 2, axis)
        lines = [self._title(desk, width), self._legend(desk, traces, width)]
        if not traces or not any(np.isfinite(trace.mean).any() for trace in traces):
            lines += [BLANK, line(("   no finite points here", "dim"))]
            lines += [BLANK] * (height - len(lines) - 1)
            return Page([*lines[: height - 1], self._foot(desk, axis, width)])
        strokes, y = self._strokes(desk, traces, low, high, axis)
        marks = self._marks(desk, axis)
        ticks = x_ticks(low, high, axis, max(width // 18, 2))
        limits = [(value, role) for value, role in self._limits() if not self.log or value > 0]
        if self.log:
            limits = [(math.log10(value), role) for value, role in limits]
        grid = draw(
            Plot((low, high), y, strokes, limits, marks, ticks, self.log),
            width - 2, chart_height, ascii_only=desk.glyphs == "ascii",
        )  # fmt: skip
        self.columns, self._left = grid.width, grid.left + 1
        if self.cursor is not None and low <= self.cursor <= high:
            grid.cursor(min(round((self.cursor - low) / (high - low) * (grid.width - 1)), grid.width - 1))
        lines += [line((" ", "text"), *one.spans) for one in grid.lines()]
        lines.append(self._value(desk, traces, axis, width))
        lines.append(self._foot(desk, axis, width))
        page = Page(lines[:height])
        for column in range(grid.width):
            page.spots.append(Spot(self._left + column, 2, 1, grid.height, "cursor", str(column)))
        return page

    def _strokes(
        self, desk: Desk, traces: list[Trace], low: float, high: float, axis: Axis
    ) -> tuple[list[Stroke], tuple[float, float]]:
        strokes: list[Stroke] = []
        ranges = []
        for trace in traces:
            n = len(trace.mean)
            x = low + (np.arange(n) + 0.5) * (high - low) / n
            gap = bridge(np.isfinite(trace.mean).astype(np.int64)) < 0
            behind, front = (trace.low, trace.high), trace.smooth
            if self.log:
                behind = (log_of(trace.low), log_of(trace.high))
                front = None if front is None else log_of(front)
            raw_role = trace.role if front is None else "band"
            strokes.append(weave(x, *behind, gap, raw_role))
            if front is not None:
                keep = np.isfinite(front) | gap
                strokes.append(Stroke(x[keep], np.where(gap, math.nan, front)[keep], trace.role))
            ranges.append(value_range(*behind))
        before = None
        if self.overlap and desk.view is not None:
            main = traces[0]
            before = overlap.overlap(desk.view, main.series, low, high, len(main.mean), axis, log=self.log)
        if before is not None:
            ranges.append(value_range(before.y, before.y))
            strokes.insert(0, before)
        raw = [stroke for stroke in strokes if stroke.role == "band"]
        strokes = raw + [stroke for stroke in strokes if stroke.role != "band"]
        data = (min(low for low, _ in ranges), max(high for _, high in ranges))
        if data[0] == data[1]:
            pad = abs(data[0]) * 0.1 or 1.0
            return strokes, (data[0] - pad, data[1] + pad)
        self._held = hold(self._held, data)
        return strokes, self._held

    def _marks(self, desk: Desk, axis: Axis) -> list[float]:
        """Steps at which a new attempt began or something became wrong with the metric."""
        view = desk.view
        if view is None:
            return []
        since = [float(finding.since_step) for finding in self.row.findings] if axis == "step" else []
        return overlap.marks(view, axis) + since

    def _limits(self) -> list[tuple[float, str]]:
        return [
            (finding.limit, "bad" if finding.severity == "critical" else "warn")
            for finding in self.row.findings
            if finding.limit is not None and math.isfinite(finding.limit)
        ]

    def _title(self, desk: Desk, width: int) -> Line:
        row = self.row
        left: list[Span] = [(f" {row.title}", "strong"), (f"   {fit(row.tag, max(width - 50, 10))}", "dim")]
        return sides(left, [(row.value_text, "strong"), (f"  {row.change_text} ", "dim")], width)

    def _legend(self, desk: Desk, traces: list[Trace], width: int) -> Line:
        spans: list[Span] = [(" ", "text")]
        if len(traces) > 1:
            for index, trace in enumerate(traces):
                spans += [(f"{GLYPHS[index]} ", trace.role), (fit(trace.label, 30) + "   ", "text")]
            return line(*spans)
        weight = SMOOTHINGS[desk.memory.smoothing] if self.row.smooth else 0.0
        if traces:
            spans.append(("━ ", traces[0].role))
            spans.append((f"moving average {weight:.2f}" if weight else "every point", "dim"))
            if weight:
                spans += [("   ━ ", "band"), ("lowest to highest", "dim")]
            if not self.row.smooth:
                spans.append((", never smoothed: a schedule or counter", "dim"))
            if traces[0].nonfinite:
                spans += [("   × ", "bad"), (f"{traces[0].nonfinite:,} NaN or infinite", "dim")]
        if traces and desk.view is not None:
            spans += overlap.legend(desk.view, traces[0].series, shown=self.overlap)
        finding = self.row.finding
        if finding is not None:
            role = "bad" if finding.severity == "critical" else "warn"
            spans += [("   ─ ", role), (f"{finding.title} since {format_step(finding.since_step)}", role)]
        return line(*spans)

    def _value(self, desk: Desk, traces: list[Trace], axis: Axis, width: int) -> Line:
        low, high = self.shown
        per = traces[0].points / max(self.columns, 1) if traces else 0
        note = f"1 column ≈ {format_plain(per, 2)} points" if per > 1 else "every point shown"
        note = f"{note} · {format_si(traces[0].points)} points here " if traces else ""
        if self.cursor is None:
            return sides([(" ← → move a cursor", "faint")], [(note, "dim")], width)
        spans: list[Span] = [(f" {at_text(self.cursor, axis)}  ", "strong")]
        for trace in traces:
            n = len(trace.mean)
            column = min(max(int((self.cursor - low) / (high - low) * n), 0), n - 1)
            there = np.flatnonzero(np.isfinite(trace.mean))
            nearest = int(there[np.argmin(np.abs(there - column))]) if len(there) else column
            unit = self.row.unit
            first, last = float(trace.low[nearest]), float(trace.high[nearest])
            text = format_value(float(trace.mean[nearest]), unit)
            if first != last:
                text += f" ({format_value(first, unit)} … {format_value(last, unit)})"
            if trace.smooth is not None:
                text += f"  average {format_value(float(trace.smooth[nearest]), unit)}"
            spans += [
                (f"{fit(trace.label, 20)} " if len(traces) > 1 else "", trace.role),
                (f"{text}  ", "text"),
            ]
        return sides(spans, [(note, "dim")], width)

    def _foot(self, desk: Desk, axis: Axis, width: int) -> Line:
        words: list[Span] = [(" ", "dim")]
        if desk.message:
            return sides([(f" {desk.message}", "strong")], [], width, back="bar")
        pairs = (
            ("z", "zoom"), ("Z", "out"), ("0", "all"), ("x", f"x: {axis}"),
            ("L", "linear" if self.log else "log"),
            ("+ -", "smooth"), ("Tab", "next metric"), ("e", "explain"), ("s", "snapshot"), ("Esc", "back"),
        )  # fmt: skip
        for key, what in pairs:
            words += [(key, "accent"), (f" {what}  ", "dim")]
        return sides(words, [], width, back="bar")

    # ---- keys

    def act(self, desk: Desk, action: str, argument: str) -> bool:
        """Cursor, zoom, axes; the next metric; back."""
        axis = desk.memory.axis
        low, high = self.shown
        step = (high - low) / max(self.columns - 1, 1)
        if action in ("left", "right"):
            at = (low + high) / 2 if self.cursor is None else self.cursor
            self.cursor = min(max(at + (step if action == "right" else -step), low), high)
        elif action == "cursor":
            self.cursor = low + (high - low) * int(argument) / max(self.columns - 1, 1)
        elif action in ("home", "end"):
            self.cursor = low if action == "home" else high
        elif action in ("zoom-in", "zoom-out"):
            self._zoom(desk, 0.5 if action == "zoom-in" else 2.0)
        elif action in ("page-up", "page-down"):
            self._pan(desk, -0.5 if action == "page-up" else 0.5)
        elif action == "reset":
            self.zoom = self._held = None
        elif action == "axis":
            desk.memory.axis = AXES[(AXES.index(axis) + 1) % len(AXES)] if axis in AXES else "step"
            self.zoom = self.cursor = None
        elif action == "log":
            self.log, self._held = not self.log, None
        elif action == "overlap":
            self._turn_overlap(desk)
        elif action in ("next-pane", "previous-pane", "up", "down"):
            from rltui.screen.actions import step_to

            step_to(desk, 1 if action in ("next-pane", "down") else -1)
            row = desk.selected()
            if row is not None:
                self.row, self._held = row, None
        elif action in ("back", "open"):
            desk.close()
        elif action.startswith("pane:"):
            desk.overlays.clear()
            return False
        elif action == "nothing":
            pass
        else:
            return False
        return True

    def _turn_overlap(self, desk: Desk) -> None:
        main = self.row.main
        if main is None or not main.superseded:
            desk.say("no point of this metric was superseded by a restart")
            return
        self.overlap, self._held = not self.overlap, None

    def _zoom(self, desk: Desk, factor: float) -> None:
        axis: Axis = desk.memory.axis if desk.memory.axis in AXES else "step"
        whole = self.full(desk, axis)
        low, high = self.shown
        centre = self.cursor if self.cursor is not None and factor < 1 else (low + high) / 2
        half = (high - low) * factor / 2
        if half * 2 >= whole[1] - whole[0]:
            self.zoom = None
            return
        half = max(half, 2.0)
        first = min(max(centre - half, whole[0]), whole[1] - 2 * half)
        self.zoom, self._held = (first, first + 2 * half), None

    def _pan(self, desk: Desk, share: float) -> None:
        if self.zoom is None:
            return
        axis: Axis = desk.memory.axis if desk.memory.axis in AXES else "step"
        whole = self.full(desk, axis)
        low, high = self.zoom
        by = min(max((high - low) * share, whole[0] - low), whole[1] - high)
        self.zoom = (low + by, high + by)

    def type(self, desk: Desk, key: str) -> bool:
        """Charts take no text."""
        return False

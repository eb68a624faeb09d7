"""The large chart of a metric: axes, smoothing over the raw spread, zoom, cursor, curves over each other."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from rltui.draw.cells import BLANK, line
from rltui.draw.large_chart import Area, Plot, Stroke, draw
from rltui.draw.value_range import embracing, hold, value_range
from rltui.panes.healthy_range import band_of, healthy_rows, within_bounds
from rltui.panes.row import Row
from rltui.panes.single_step import AXIS as ARRIVALS
from rltui.panes.spread import words_of
from rltui.panes.step_window import StepWindow
from rltui.screen.input.actions import SMOOTHINGS
from rltui.screen.pages.chart import legend, superseded
from rltui.screen.pages.chart.chart_data import Axis, x_ticks
from rltui.screen.pages.chart.curves import Range, Trace, area, reach, strokes, traces, weight_of, within
from rltui.screen.pages.chart.x_axis import TIMES, XAxis, axes_of, x_axis
from rltui.screen.pages.page import Page, Spot

if TYPE_CHECKING:
    from rltui.screen.state import AppState


SPREADS = ("fitted", "whole", "none")
CURVE_SHARE = 0.4  # of the height that the curve of a mean keeps while its band is fitted


class ChartPage:
    """A whole screen for one row of a board, and for the metrics that were marked to go with it."""

    where = "chart"
    typing = False

    def __init__(self, desk: AppState, row: Row) -> None:
        self.row = row
        self.log = False
        self.spread = SPREADS[0]  # how much of the band of a distribution is shown
        self.overlap = False  # whether points that a restart superseded are shown
        self.zoom: Range | None = None
        self.cursor: float | None = None
        self.columns = 100
        self._points = 0  # of the first curve, as drawn last
        self._dots = 200  # columns of curves
        self.shown: Range = (0.0, 1.0)
        self._held: Range | None = None

    # ---- picture

    def page(self, desk: AppState, under: Page, width: int, height: int) -> Page:
        """Title, legend, chart, the cursor's value, keys."""
        measure = self._measure(desk)
        main = self.row.main
        axis: Axis = measure.axis if measure is not None else "step"
        foot, places = legend.foot(desk, axis, width, log=self.log)
        spots = [Spot(x, height - 1, cells, 1, action) for x, cells, action in places]
        if measure is None or main is None:
            return Page([*[BLANK] * (height - 1), foot], spots)
        self._dots = 2 * max(width - 12, 10)
        low, high = self.shown = self.zoom or self._whole(desk)
        end = math.nextafter(high + 1, high) if axis == "step" and not self._grows(desk) else high
        found = traces(desk, self.row, desk.beside(self.row), measure, low, end, self._dots)
        lines = [legend.title(desk, self.row, width)]
        behind = area(found[0], log=self.log) if self.spread != "none" else None
        self._points = found[0].points
        drawn, whole = strokes(found, log=self.log, level=self._round)
        if whole is None:
            lines += [BLANK, line(("   no finite points here", "dim"))]
            lines += [BLANK] * (height - len(lines) - 1)
            return Page([*lines[: height - 1], foot], spots)
        y = self._range(drawn, whole, behind, self._before(desk, found, axis))
        cut = behind is not None and not within(behind, y, log=self.log)
        lines.append(
            legend.legend(
                desk,
                self.row,
                found,
                width,
                overlaid=self.overlap,
                spread=behind is not None,
                cut=cut,
                cursor=self.cursor,
            )
        )
        grid = draw(
            Plot((low, high), y, drawn, self._limits(y), self._marks(desk, measure),
                 x_ticks(low, high, axis, max(width // 18, 2)), self.log, behind,
                 found[0].x[found[0].bad > 0].tolist()),
            width - 2, max(height - 4, 4), ascii_only=desk.glyphs == "ascii",
        )  # fmt: skip
        self.columns, left = grid.width, grid.left + 1
        band = band_of(self.row)
        if band is not None and self.log:
            band = (_log(band[0]), _log(band[1]))
        grid.shade(healthy_rows(band, *y, grid.height))
        if self.cursor is not None and low <= self.cursor <= high:
            grid.cursor(min(round((self.cursor - low) / (high - low) * (grid.width - 1)), grid.width - 1))
        lines += [line((" ", "text"), *one.spans) for one in grid.lines()]
        lines.append(legend.under_cursor(found, self.cursor, axis, self.columns, width))
        lines.append(foot)
        spots += [Spot(left + at, 2, 1, grid.height, "cursor", str(at)) for at in range(grid.width)]
        return Page(lines[:height], spots)

    def _measure(self, desk: AppState) -> XAxis | None:
        view = desk.view
        if view is None:
            return None
        return x_axis(view, desk.memory.axis) or XAxis(view, "step")

    def _before(self, desk: AppState, found: list[Trace], axis: Axis) -> Stroke | None:
        """What a restart superseded, where that is asked for and the axis can tell where it was."""
        if not self.overlap or desk.view is None or axis not in TIMES:
            return None
        main = found[0]
        return superseded.overlap(desk.view, main.series, *self.shown, len(main.mean), axis, log=self.log)

    def _range(self, drawn: list[Stroke], whole: Range, behind: Area | None, before: Stroke | None) -> Range:
        """The y range: declared by the user, else what the curves need, with slack that holds still."""
        if behind is not None and np.isfinite(behind.high).any():
            share = CURVE_SHARE if self.spread == "fitted" else 0.0
            whole = embracing(whole, reach(behind, log=self.log), share)
        if before is not None:
            low, high = value_range(before.y, before.y)
            whole = (min(whole[0], low), max(whole[1], high))
            drawn.insert(0, before)
        declared = self.row.name.declared_range if self.row.name is not None else None
        if declared is not None and not self.log:
            return (min(declared[0], whole[0]), max(declared[1], whole[1]))
        if whole[0] == whole[1]:
            return self._round(whole[0])
        self._held = hold(self._held, whole)
        return self._held if self.log else within_bounds(self.row, self._held, whole)

    def _round(self, value: float) -> Range:
        """A range for values that are all the same: with what is healthy, within what is possible."""
        if self.log:
            return (value - 0.5, value + 0.5)
        pad = abs(value) * 0.1 or 1.0
        band = band_of(self.row)
        if band is not None and math.isfinite(band[1] - band[0]):
            return (min(band[0], value), max(band[1] * 1.2, value + pad if value > band[1] else value))
        return within_bounds(self.row, (value - pad, value + pad), (value, value))

    def _marks(self, desk: AppState, measure: XAxis) -> list[float]:
        """Places at which a new attempt began or something became wrong with the metric."""
        if desk.view is None:
            return []
        if measure.axis == ARRIVALS:
            return []
        if measure.axis in ("relative", "wall"):
            return superseded.marks(desk.view, measure.axis)
        steps = superseded.marks(desk.view, "step") + [float(one.since_step) for one in self.row.findings]
        return [measure.place(step) for step in steps]

    def _limits(self, y: Range) -> list[tuple[float, str]]:
        """The limits of what fires, and the ends of what is healthy."""
        found = [
            (finding.limit, "bad" if finding.severity == "critical" else "warn")
            for finding in self.row.findings
            if finding.limit is not None and math.isfinite(finding.limit)
        ]
        told = {value for value, _ in found}
        found += [(end, "good") for end in band_of(self.row) or () if math.isfinite(end) and end not in told]
        if self.log:
            found = [(math.log10(value), role) for value, role in found if value > 0]
        return [(value, role) for value, role in found if y[0] < value < y[1]]

    # ---- keys

    def act(self, desk: AppState, action: str, argument: str) -> bool:
        """Cursor, zoom, axes; the next metric; back."""
        if action.startswith("pane:"):
            desk.overlays.clear()
            return False
        does = _ACTIONS.get(action)
        if does is not None:
            does(self, desk, argument)
        return does is not None

    def _place(self, column: float) -> float:
        """Where a column of the plot is on the x axis."""
        low, high = self.shown
        return low + (high - low) * column / max(self.columns - 1, 1)

    def _point(self, place: float) -> None:
        """Put the cursor somewhere within what is shown."""
        self.cursor = min(max(place, self.shown[0]), self.shown[1])

    def _sideways(self, columns: int) -> None:
        low, high = self.shown
        at = (low + high) / 2 if self.cursor is None else self.cursor
        self._point(at + columns * (high - low) / max(self.columns - 1, 1))

    def _newest(self, desk: AppState) -> None:
        """The cursor on the newest point; while a run goes on there is room behind it."""
        last = self.row.main.last_step if self.row.main is not None and self._grows(desk) else None
        self.cursor = self.shown[1] if last is None else float(last)

    def _reset(self) -> None:
        self.zoom = self._held = None

    def _turn_log(self) -> None:
        self.log, self._held = not self.log, None

    def _smooth(self, desk: AppState, action: str) -> None:
        desk.do_plain(action)
        used = weight_of(desk.smoothing, self._points, self.row.smooth)
        told = f"moving average {used:.2f}" if used else "every point, no average"
        if 0 < used < SMOOTHINGS[desk.smoothing]:
            told += f": {SMOOTHINGS[desk.smoothing]:.2f} would lag behind {self._points:,} points"
        desk.say(told)

    def _add(self, desk: AppState) -> None:
        from rltui.screen.input.prompt import MetricPicker

        desk.overlays.append(MetricPicker(desk, self.row.tag))

    def _turn_spread(self, desk: AppState) -> None:
        words = words_of(self.row)
        if not words:
            desk.say("this metric was logged without a spread: no minimum, maximum or deviation")
            return
        self.spread = SPREADS[(SPREADS.index(self.spread) + 1) % len(SPREADS)]
        self._held = None
        told = {
            "fitted": f"{words} band as far as the curve leaves room",
            "whole": f"the whole {words} band",
            "none": f"without the {words} band",
        }
        desk.say(told[self.spread])

    def wheel(self, desk: AppState, direction: int, column: int) -> None:
        """The mouse wheel at a column of the plot: zoom in (upwards) or out round what is below it."""
        self._zoom(desk, 0.8 if direction < 0 else 1.25, self._place(column), keep=True)

    def drag(self, desk: AppState, columns: int) -> None:
        """The mouse has moved the curve by so many columns to the right."""
        self._pan(desk, -columns / max(self.columns - 1, 1))

    def _turn_row(self, desk: AppState, by: int) -> None:
        from rltui.screen.input.actions import step_to

        step_to(desk, by)
        row = desk.selected()
        if row is not None:
            self.row, self._held = row, None

    def _turn_axis(self, desk: AppState) -> None:
        if desk.view is not None:
            axes = axes_of(desk.view)
            now = desk.memory.axis
            desk.memory.axis = axes[(axes.index(now) + 1) % len(axes)] if now in axes else axes[1]
        self.zoom = self.cursor = None

    def _turn_overlap(self, desk: AppState) -> None:
        main = self.row.main
        if main is None or not main.superseded:
            desk.say("no point of this metric was superseded by a restart")
            return
        self.overlap, self._held = not self.overlap, None
        steps = main.superseded_points().step
        what = (
            f"what restarts superseded, to step {int(steps.max()):,}"
            if len(steps)
            else "nothing: too long ago"
        )
        desk.say(f"{'with' if self.overlap else 'without'} {what}")

    def _whole(self, desk: AppState) -> Range:
        measure, main = self._measure(desk), self.row.main
        if measure is None or main is None:
            return (0.0, 1.0)
        low, high = measure.full(main, desk.at_step)
        if self.overlap and desk.at_step is None and measure.axis == "step":
            steps = main.superseded_points().step
            if len(steps):
                low, high = min(low, float(steps.min())), max(high, float(steps.max()))
        if self._grows(desk):  # with room for steps to come, so that what is drawn holds still
            return StepWindow(low, high, growing=True).edges(self._dots)
        return (low, high)

    def _grows(self, desk: AppState) -> bool:
        """Whether the whole of a live run is shown by steps."""
        view, measure = desk.view, self._measure(desk)
        if view is None or measure is None or measure.axis != "step" or self.zoom is not None:
            return False
        return desk.at_step is None and view.liveness(desk.now).state == "live"

    def _zoom(self, desk: AppState, factor: float, centre: float | None, *, keep: bool = False) -> None:
        """Show `factor` times as much round a place; with `keep` that place stays where it is."""
        whole = self._whole(desk)
        low, high = self.shown
        if centre is None or (factor > 1 and not keep):
            centre = (low + high) / 2
        size = max((high - low) * factor, min(4.0, whole[1] - whole[0]))
        if size >= whole[1] - whole[0]:
            self.zoom = None
            return
        share = (centre - low) / (high - low) if keep and high > low else 0.5
        first = min(max(centre - size * share, whole[0]), whole[1] - size)
        self.zoom, self._held = (first, first + size), None

    def _pan(self, desk: AppState, share: float) -> None:
        if self.zoom is None:
            return
        whole = self._whole(desk)
        low, high = self.zoom
        by = min(max((high - low) * share, whole[0] - low), whole[1] - high)
        self.zoom = (low + by, high + by)

    def type(self, desk: AppState, key: str) -> bool:
        """Charts take no text."""
        return False


_ACTIONS: dict[str, Callable[[ChartPage, AppState, str], None]] = {
    "left": lambda page, desk, _: page._sideways(-1),
    "right": lambda page, desk, _: page._sideways(1),
    "cursor": lambda page, desk, column: page._point(page._place(int(column))),
    "home": lambda page, desk, _: page._point(-math.inf),
    "end": lambda page, desk, _: page._newest(desk),
    "zoom-in": lambda page, desk, _: page._zoom(desk, 0.5, page.cursor),
    "zoom-out": lambda page, desk, _: page._zoom(desk, 2.0, page.cursor),
    "page-up": lambda page, desk, _: page._pan(desk, -0.5),
    "page-down": lambda page, desk, _: page._pan(desk, 0.5),
    "reset": lambda page, desk, _: page._reset(),
    "axis": lambda page, desk, _: page._turn_axis(desk),
    "log": lambda page, desk, _: page._turn_log(),
    "overlap": lambda page, desk, _: page._turn_overlap(desk),
    "spread": lambda page, desk, _: page._turn_spread(desk),
    "smoother": lambda page, desk, _: page._smooth(desk, "smoother"),
    "rougher": lambda page, desk, _: page._smooth(desk, "rougher"),
    "together": lambda page, desk, _: page._add(desk),
    "next-pane": lambda page, desk, _: page._turn_row(desk, 1),
    "previous-pane": lambda page, desk, _: page._turn_row(desk, -1),
    "down": lambda page, desk, _: page._turn_row(desk, 1),
    "up": lambda page, desk, _: page._turn_row(desk, -1),
    "back": lambda page, desk, _: desk.close(),
    "open": lambda page, desk, _: desk.close(),
    "nothing": lambda page, desk, _: None,
}


def _log(value: float) -> float:
    return math.log10(value) if value > 0 and np.isfinite(value) else math.copysign(math.inf, value or -1.0)

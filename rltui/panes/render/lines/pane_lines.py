"""The rows of a pane as lines of cells: which columns fit in a width, and their contents."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.display_text import cell_width, fit, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import Line, Span, colored, cut, empty_lines, line
from rltui.draw.numbers import format_range, format_step, short_step
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.charts.curve import Curve, curve
from rltui.panes.charts.healthy_range import healthy_range_of
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import Ranges, data_range, shown_range
from rltui.panes.pane import PaneView
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.rules.finding import Finding

VALUE = 11  # cells of a value with its unit, right-aligned
CHANGE = 9
RANGE = 17  # "  0.108 … 0.482  "
MAX_SPARK = 64  # a longer curve shows no more and costs bandwidth
MIN_SPARK = 20  # for a shorter curve the key as written is left out
MIN_KEY = 20  # a key that is cut to less is not recognised
STATISTICS = ("std", "min", "max", "mean")  # at the end of titles
MIN_NAME = 5  # cells of a cut title before its statistic, with the blank between them


class ColumnPlan(NamedTuple):
    """Cells per column of a pane; 0 if the column is left out."""

    width: int
    title: int
    key: int
    change: int
    spark: int
    range: int
    value: int = VALUE
    against: bool = False  # whether changes are to a baseline
    matched: int | None = None  # the step of the values, if they are compared at an earlier one
    crosshair: int | None = None  # the step whose values are shown

    @property
    def curve_start(self) -> int:
        """The cell at which curves begin."""
        return 3 + self.title + 2 + (self.key + 2 if self.key else 0) + self.value + self.change + 2


def plan_columns(width: int, pane: PaneView, crosshair: int | None = None) -> ColumnPlan:
    """The columns that fit in a width: the key is left out first, then the range, the change, the curve."""
    longest = max((cell_width(title_in_tree(row)) for row in pane.selectable), default=10)
    keys = max((cell_width(row.tag) for row in pane.metrics), default=10)
    title = min(
        max(longest, 10),
        30 if width >= 120 else 24 if width >= 110 else 22 if width >= 90 else 20 if width >= 60 else 14,
    )
    title = max(min(title, width - VALUE - 6), 4)
    change = CHANGE + 1 if width >= 56 else 0
    value_range_cells = RANGE if width >= 76 else 0
    cut_off = sum(cell_width(title_in_tree(row)) > title for row in pane.metrics[:200])
    if value_range_cells and width < 100 and 3 * cut_off > min(len(pane.metrics), 200):
        title, value_range_cells = min(longest, title + RANGE), 0  # titles are more important than ranges
    rest = width - 3 - title - 2 - VALUE - change - (value_range_cells + 1 if value_range_cells else 0) - 1
    spark = rest - 2
    key = 0
    if spark > MIN_SPARK + MIN_KEY + 2:
        # Keys and curves share the rest, up to the longest key and `MAX_SPARK`.
        key = min(keys, max(MIN_KEY, (spark - 2) * 2 // 5))
        if spark - key - 2 > MAX_SPARK:
            key = min(keys, spark - 2 - MAX_SPARK)
        spark -= key + 2
    spark = min(spark, MAX_SPARK)
    if spark < 6:
        spark = 0
    against = any(row.against is not None for row in pane.metrics[:200])
    matched = next((row.matched for row in pane.metrics[:200] if row.matched is not None), None)
    return ColumnPlan(
        width, title, key, change, spark, value_range_cells, against=against, matched=matched,
        crosshair=crosshair,
    )  # fmt: skip


def header_line(columns: ColumnPlan, pane: PaneView) -> Line:
    """The headings of the columns; that of the curves is their range of steps."""
    window = _steps_of_curves(pane)
    spans: list[Span] = [("   " + pad("metric", columns.title) + "  ", "faint")]
    if columns.key:
        word = "key as written"
        spans.append((pad(word if columns.key >= len(word) else "key", columns.key) + "  ", "faint"))
    word, role = (
        ("last", "faint") if columns.matched is None else (f"at {format_step(columns.matched)}", "mark")
    )
    if columns.crosshair is not None:
        word, role = f"at {short_step(columns.crosshair, columns.value - 4)}", "mark"
    spans.append((pad(fit(word, columns.value), columns.value, right=True), role))
    if columns.change:
        word = "vs base" if columns.against else "change"
        spans.append((pad(word, columns.change, right=True), "faint"))
    if columns.spark:
        low, high = window.edges(columns.spark)
        left, right = f"step {format_step(round(low))}", format_step(round(min(high, window.high)))
        if len(left) > columns.spark:  # `ste…024` tells nothing
            left = short_step(round(low), columns.spark)
        # The right label is aligned with the newest step.
        reach = min(round((window.high + 1 - low) / (high - low) * columns.spark), columns.spark)
        room = max(reach, len(left) + len(right) + 1)
        label = left + " " * (room - len(left) - len(right)) + right if room <= columns.spark else left
        crosshair = None
        if columns.crosshair is not None and window is pane.window:  # it is a step of the run
            crosshair = window.column(columns.crosshair, columns.spark)
        marked = _marked(pad(label, columns.spark), window.restart_columns(columns.spark), crosshair)
        spans += [("  ", "faint"), *marked]
    if columns.range:
        spans.append((" " + pad(_centre("min … max", columns.range), columns.range), "faint"))
    return line(*spans)


def _steps_of_curves(pane: PaneView) -> StepWindow:
    """The steps that the curves of a pane show: those of the run, unless all rows have other ones."""
    own: tuple[int, int] | None = None
    for row in pane.rows:
        main = row.main
        if main is None or main.first_step is None or main.last_step is None:
            continue
        last = main.last_step if row.at_step is None else min(main.last_step, row.at_step)
        if not row.own_axis or own not in (None, (main.first_step, last)):
            return pane.window
        own = (main.first_step, last)
    return pane.window if own is None else StepWindow(float(own[0]), float(own[1]), pane.window.growing)


def _marked(label: str, restarts: list[int], crosshair: int | None) -> list[Span]:
    """The steps over the curves, with a mark at the crosshair and at restarts that have free cells."""
    spans: list[Span] = []
    if crosshair is not None and label[crosshair : crosshair + 1].strip():  # move it beside the number
        free_cells = [
            at for at in range(len(label.rstrip()) + 1) if not label[max(at - 1, 0) : at + 1].strip()
        ]
        column = crosshair
        crosshair = min(free_cells, key=lambda at: abs(at - column), default=None)
    for at, char in enumerate(label):
        if at == crosshair:
            spans.append(("▼", "strong"))
            continue
        free = at in restarts and not label[max(at - 1, 0) : at + 2].strip()
        spans.append(("↻", "mark") if free else (char, "faint"))
    return spans


def row_lines(
    row: Row,
    columns: ColumnPlan,
    window: StepWindow,
    ranges: Ranges | None = None,
    *,
    selected: bool = False,
    notes: int = 1,
) -> list[Line]:
    """A row: one line, and another with its finding, if it has one.

    notes: the number of rows that share the line of the finding, see `finding_rows`; 0 leaves it out.
    """
    back = "select" if selected else ""
    if row.kind == "heading":
        return [line((" " + cut(row.title, columns.width - 2), "strong"), back=back)]
    if row.kind == "folder":
        name = "   " + cut(title_in_tree(row), columns.title)
        return [line((name, "text"), (f"  {row.inside} inside", "dim"), back=back)]
    role = SEVERITY_ROLE[row.severity]
    spans: list[Span] = [
        (f" {SEVERITY_GLYPH[row.severity]} ", role),
        (
            pad(short_title(title_in_tree(row), columns.title), columns.title) + "  ",
            role if row.severity in ("warning", "critical") else "text",
        ),
    ]
    if columns.key:
        spans.append((pad(short_key(row.tag, columns.key), columns.key) + "  ", "dim"))
    value, value_role = row.value_text, "strong" if role == "text" else role
    change, change_role = row.change_text, row.change_role
    if columns.crosshair is not None and row.own_axis:  # the crosshair is a step of the run
        value, value_role, change = "–", "dim", ""
    elif columns.crosshair is not None and (text := row.text_at(columns.crosshair)) is not None:
        value, value_role, change, change_role = text, "mark", row.change_at(columns.crosshair), "dim"
    spans.append((pad(value, columns.value, right=True), value_role))
    if columns.change:
        spans.append((pad(change, columns.change, right=True), change_role))
    if columns.spark:
        spans += _curve_spans(row, columns, window, ranges)
    lines = [line(*spans, back=back)]
    finding = row.finding
    if notes and finding is not None:
        note = note_spans(finding, columns.width - 6, notes)
        lines.append(line(*note, *_onset(row, finding, note, columns, window), back=back))
    return lines


def _onset(
    row: Row, finding: Finding, note: list[Span], columns: ColumnPlan, window: StepWindow
) -> list[Span]:
    """A mark below the curve at the onset of a finding, if the line of the finding is shorter."""
    at = window.column(finding.since_step, columns.spark) if columns.spark and not row.own_axis else None
    blank = -1 if at is None else columns.curve_start + at - sum(cell_width(text) for text, _ in note)
    return [(" " * blank, "text"), ("▲", SEVERITY_ROLE[finding.severity])] if blank > 0 else []


def title_in_tree(row: Row) -> str:
    """The title of a row, indented by its depth in the tree, with a sign if it can be folded."""
    sign = "" if not row.inside else "▾ " if row.is_open else "▸ "
    return "  " * len(row.branch) + sign + row.title


def short_title(title: str, width: int) -> str:
    """A title that fits; its distinguishing part, after the dot, is cut last."""
    head, dot, part = title.partition(" · ")
    if not dot or cell_width(title) <= width:
        return _cut_title(title, width)
    if dot in part:  # `Reward component · correct · samples`
        room = width - cell_width(dot + part)
        return f"{cut(head, room)}{dot}{part}" if room >= MIN_NAME else cut(f"… {part}", width)
    if width < 18:
        return fit(title, width)
    folders, _, last = part.rpartition("/")
    if folders and cell_width(f"{head}{dot}…{last}") <= width:
        return f"{head}{dot}…{last}"
    if not folders and width - 7 < cell_width(part) <= width - 2:
        return f"… {part}"  # what tells rows apart is worth more than a piece of what they share
    if cell_width(part) > width - 7:
        part = f"…{last}" if folders and cell_width(last) < width - 8 else fit(part, width - 10)
    return _cut_title(head, width - cell_width(dot + part)) + dot + part


def _cut_title(title: str, width: int) -> str:
    """A title cut to `width` cells; a statistic at its end, such as `std`, stays: it says what is shown."""
    rest, _, last = title.rpartition(" ")
    if cell_width(title) <= width or last not in STATISTICS or width < len(last) + MIN_NAME:
        return cut(title, width)
    return f"{cut(rest, width - len(last) - 1)} {last}"


def short_key(tag: str, width: int) -> str:
    """A key that fits; its last part is not cut if that leaves a few cells for the folders."""
    head, slash, last = tag.rpartition("/")
    room = width - cell_width(slash + last)
    return cut(head, room) + slash + last if cell_width(head) > room >= 4 else fit(tag, width)


def finding_rows(rows: Sequence[Row]) -> dict[int, int]:
    """The indices of rows whose finding is shown, and the number of rows of their section that share it.

    A finding of several rows is shown once, below the first of them.
    """
    counts: dict[int, int] = {}
    first_rows: dict[str, int] = {}
    for at, row in enumerate(rows):
        if row.kind == "heading":
            first_rows = {}
        elif (finding := row.finding) is not None:
            first = first_rows.setdefault(finding_text(finding), at)
            counts[first] = counts.get(first, 0) + 1
    return counts


def note_spans(finding: Finding, width: int, rows: int) -> list[Span]:
    """A finding in one line: title, onset, number of rows."""
    many = f" · {rows} metrics" if rows > 1 else ""
    text, room = finding_text(finding), width - 1 - len(many)
    if cell_width(text) > room:
        text = cut_finding(finding, room)
    return [("     └ ", "faint"), (text + many, SEVERITY_ROLE[finding.severity])]


def cut_finding(finding: Finding, room: int) -> str:
    """A title cut to leave room for the onset, whose number is not cut: `a higher learning r… @49,152`."""
    step = f" @{format_step(finding.since_step)}"
    return cut(finding.title or finding.message, room - len(step)) + step


def finding_text(finding: Finding) -> str:
    """The title of a finding and since when it holds."""
    text = finding.title or finding.message
    if not text.endswith("from the start"):
        text += f" · {finding.since}"
    if finding.state == "resolved" and finding.resolved_step is not None:
        text += f", resolved at {format_step(finding.resolved_step)}"
    return text


def _curve_spans(row: Row, columns: ColumnPlan, window: StepWindow, ranges: Ranges | None) -> list[Span]:
    drawn = curve(row, window, columns.spark)
    if drawn is None:
        blank = " " * columns.spark
        return [("  " + blank, "faint"), (" " * (columns.range + 1) if columns.range else "", "dim")]
    spans: list[Span] = [("  ", "text"), *_sparkline(row, drawn, columns, window, ranges)]
    if columns.range:
        spans.append((f" {range_text(row, drawn, columns.range)}", "dim"))
    return spans


def _sparkline(
    row: Row, drawn: Curve, columns: ColumnPlan, window: StepWindow, ranges: Ranges | None
) -> list[Span]:
    """The curve in one line: a thin one if it is constant; with marks where it is cut off."""
    if drawn.is_constant or row.unreported:
        return [(" " * columns.spark if row.unreported else drawn.spark().text, "faint")]
    needed, is_cut = data_range(row, drawn.points, [drawn], ranges)
    bottom, top = shown_range(row, needed, window, ranges)
    spark = drawn.spark((bottom, top))
    roles = unhealthy(row, drawn)
    chars = list(spark.text)
    with np.errstate(invalid="ignore"):
        for beyond, sign in ((drawn.low < bottom, "▼"), (drawn.high > top, "▲")) if is_cut else ():
            for at in np.flatnonzero(beyond).tolist():
                chars[at], roles[at] = sign, "mark"
    roles.update(dict.fromkeys(() if drawn.own_axis else window.restart_columns(columns.spark), "mark"))
    if columns.crosshair is not None and not drawn.own_axis:
        here = window.column(columns.crosshair, columns.spark)
        roles.update({} if here is None else {here: "strong/select"})
    roles.update(dict.fromkeys(spark.marks, "bad"))
    return colored("".join(chars), "accent", roles)


def unhealthy(row: Row, drawn: Curve) -> dict[int, str]:
    """The roles of cells with unhealthy values: that of the row's worst finding, else `info`."""
    healthy = healthy_range_of(row)
    if healthy is None or row.unreported:
        return {}
    role = SEVERITY_ROLE[row.severity] if row.severity in ("warning", "critical") else "info"
    with np.errstate(invalid="ignore"):
        beyond = np.flatnonzero((drawn.low < healthy[0]) | (drawn.high > healthy[1]))
    return dict.fromkeys(beyond.tolist(), role)


def range_text(row: Row, drawn: Curve, width: int) -> str:
    """`0.108 … 0.482`, with `!` at an end that is not healthy; for a distribution its last spread."""
    if row.kind == "band" and row.spread_text:
        return pad(_centre(fit(f"now {row.spread_text}", width), width), width)
    if not drawn.has_values:
        return pad(_centre("–", width), width)
    low, high = drawn.range
    ends = format_range(low, high, row.unit)
    least, most = (None if row.unreported else healthy_range_of(row)) or (-math.inf, math.inf)
    first, last = (" !"[not least <= end <= most] for end in (low, high))
    if low == high or drawn.is_constant:
        word = "always " if drawn.points > 1 else ""
        return pad(_centre(f"{word}{ends[0]}{last}".rstrip(), width), width)
    side, upper = (width - 3) // 2, f"{ends[1]}{last}".rstrip()
    if ends[0] == ends[1]:  # a schedule that has hardly begun
        return pad(_centre(f"about {upper}", width), width)
    if max(cell_width(ends[0]), cell_width(upper)) > side:  # without its blanks it is not cut
        return pad(_centre(f"{ends[0]}{first.strip()}…{upper}", width), width)
    return f"{pad(ends[0], side, right=True)}{first}… {pad(upper, side)}"


def _centre(text: str, width: int) -> str:
    return " " * max((width - cell_width(text)) // 2, 0) + text


def pane_lines(pane: PaneView, width: int) -> list[Line]:
    """A whole pane as printed: headings, rows, findings."""
    if not pane.metrics:
        return empty_lines(pane.empty, width)
    columns = plan_columns(width, pane)
    lines = [header_line(columns, pane)]
    notes = finding_rows(pane.rows)
    for index, row in enumerate(pane.rows):
        if row.kind == "heading" and index:
            lines.append(Line())
        lines += row_lines(row, columns, pane.window, notes=notes.get(index, 0))
    return lines

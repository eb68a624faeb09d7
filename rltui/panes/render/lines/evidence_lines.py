"""A finding and its evidence: each metric with the step since which it moved, its curve, its levels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width, pad
from rltui.draw.cells import Line, Span, colored, hanging, line, wrap
from rltui.draw.numbers import format_step
from rltui.draw.sparkline import sparkline
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.charts.curve import curve
from rltui.panes.charts.healthy_range import EDGE
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.charts.value_axis import whole_range
from rltui.panes.evidence import course_of_row
from rltui.panes.render.lines.pane_lines import finding_text, short_title
from rltui.panes.rows.row import Row
from rltui.rules.judged_series.ratio import numerator

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

TITLE = 24  # cells of a metric's name
SPARK_LEAST, SPARK_MOST = 8, 48  # cells of a curve
INDENT = 3
MOST_NEXT = 4  # metrics to look at next


class FindingBlock(NamedTuple):
    """One finding in a few lines; `first` of its `evidence` lines of evidence."""

    lines: list[Line]
    first: int = 0
    evidence: int = 0


def finding_block(
    finding: Finding,
    width: int,
    *,
    view: RunView | None = None,
    rows: Sequence[Row] = (),
    window: StepWindow | None = None,
    nested: bool = False,
    handled: str = "",
    selected: int = -1,
) -> FindingBlock:
    """What is wrong since when; of a run, also why, the evidence, what to do and where to look next.

    `nested` is what a symptom explains, `handled` says that it was acknowledged or snoozed.
    """
    lines = _head(finding, width, handled, nested=nested)
    if view is None or window is None:
        return FindingBlock(lines)
    if finding.title and finding.message not in ("", finding.title):
        lines += [line(("     " + part, "text")) for part in wrap(finding.message, width - 6)]
    first = len(lines)
    lines += evidence_lines(finding, rows, width, window, selected)
    count = len(lines) - first
    lines += hanging("     → ", "accent", finding.advice, "text", width - 1)
    found = (next(iter(view.tag_index.canonical.get(one, ())), None) for one in finding.check_next)
    titles = [view.names.name(tag).title for tag in found if tag is not None][:MOST_NEXT]
    if titles:
        words = f"look next at  {', '.join(titles)}"
        lines += [line(("     " + part, "dim")) for part in wrap(words, width - 6)]
    return FindingBlock(lines, first, count)


def _head(finding: Finding, width: int, handled: str, *, nested: bool) -> list[Line]:
    """What is wrong and since when; what a symptom explains stands farther to the right."""
    resolved = finding.state == "resolved"
    role = "dim" if resolved or handled else SEVERITY_ROLE[finding.severity]
    glyph = "✓" if resolved else SEVERITY_GLYPH[finding.severity]
    indent = "   " if nested else ""
    lines = hanging(f"{indent} {glyph} ", role, finding_text(finding), role, width - 1)
    if lines[-1].width + cell_width(finding.pane) + 3 <= width:
        lines[-1] = line(*lines[-1].spans, (f"   {finding.pane}", "dim"))
    if handled:
        lines[0] = line(*lines[0].spans, (f"   {handled}", "info"))
    return lines


def evidence_lines(
    finding: Finding, rows: Sequence[Row], width: int, window: StepWindow, selected: int = -1
) -> list[Line]:
    """A line for each of the metrics of a finding, in the order in which they moved; one may be selected."""
    known = {numerator(one.tag): one for one in finding.evidence}
    steps = [known[row.tag].since_step if row.tag in known else finding.since_step for row in rows]
    ats = [f"@{format_step(step)}" for step in steps]
    title = min(max((cell_width(row.title) for row in rows), default=0), TITLE, max(width // 3, 8))
    at = max(map(cell_width, ats), default=0)
    room = width - INDENT - 3 - title - 2 - at - 2
    moves = [course_of_row(row, finding, known.get(row.tag), room) for row in rows]
    rest = room - max(map(cell_width, moves), default=0) - 3
    spark = min(rest, SPARK_MOST) if rest >= SPARK_LEAST else 0
    role = SEVERITY_ROLE[finding.severity]
    lines = []
    for index, row in enumerate(rows):
        number: Span = (f"▸{index + 1} ", "accent") if index == selected else (f" {index + 1} ", "dim")
        spans: list[Span] = [
            (" " * INDENT, "text"),
            number,
            (pad(short_title(row.title, title), title), "text"),
        ]
        spans.append((f"  {pad(ats[index], at)}  ", "dim"))
        if spark:
            spans += [*_spark(row, steps[index], window, spark, role), ("  ", "text")]
        lines.append(line(*spans, (moves[index], "strong" if index == selected else "text")))
    return lines


def _spark(row: Row, step: int, window: StepWindow, cells: int, role: str) -> list[Span]:
    """The curve in one line, a bar where the metric began to move."""
    drawn = curve(row, window, cells)
    if drawn is None or not np.isfinite(drawn.low).any():
        return [(" " * cells, "text")]
    low, high = whole_range(drawn)
    made = sparkline(drawn.low, drawn.high, low, high, nonfinite=drawn.nonfinite)
    roles = dict.fromkeys(made.marks, "bad")
    text = made.text
    at = None if drawn.own_axis else window.column(step, cells)
    if at is not None:
        text = f"{text[:at]}{EDGE}{text[at + 1 :]}"
        roles[at] = role
    return colored(text, "accent", roles)

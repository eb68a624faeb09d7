"""A finding and its evidence as lines of cells: each metric with its onset, its curve, its change."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rltui.common.display_text import cell_width, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import Line, Span, colored, hanging, line, wrap
from rltui.draw.numbers import short_step
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.charts.curve import curve
from rltui.panes.charts.healthy_range import EDGE
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.evidence import change_of_row
from rltui.panes.render.lines.pane_lines import finding_text, short_title
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

TITLE = 24  # cells of a metric's name
MIN_TITLE = 7  # cells of a metric's name beside long values
NARROW, NARROW_STEP = 60, 7  # cells: of a page with less indent, and of a step written in full there
MIN_SPARK, MAX_SPARK = 8, 48  # cells of a curve
INDENT = 3
MAX_NEXT = 4  # metrics to look at next


class FindingBlock(NamedTuple):
    """The lines of a finding; `evidence` of them from `first` on are its evidence."""

    lines: list[Line]
    first: int = 0
    evidence: int = 0


def no_findings(view: RunView, width: int) -> list[Line]:
    """What the pane says of a run without findings: how much was judged, or why too little was."""
    if view.unjudged:
        return hanging(" ? ", "dim", f"Not judged: {view.unjudged}", "text", width - 1)
    if unknown := view.evaluator.unknown_outcome():
        return hanging(" ? ", "dim", f"{unknown[:1].upper()}{unknown[1:]}.", "text", width - 1)
    judged, of = view.evaluator.judged, len(view.run.series)
    which = (
        f"{judged} of its {of:,} metrics"
        if judged < of
        else f"all {of:,} metrics"
        if of > 1
        else "its one metric"
    )
    return hanging(" ✓ ", "good", f"Nothing is wrong: rules judge {which}.", "text", width - 1)


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
    age: str = "",
) -> FindingBlock:
    """The title and onset of a finding; with a run also its message, evidence, advice and what to check next.

    `nested`: a symptom explains it; `handled`: a note that it was acknowledged or snoozed.
    `age`: how long ago it began, left out without room.
    """
    lines = _head(finding, width, handled, age, nested=nested)
    if view is None or window is None:
        return FindingBlock(lines)
    if finding.title and finding.message not in ("", finding.title):
        lines += [line(("     " + part, "text")) for part in wrap(finding.message, width - 6)]
    if finding.printed:
        lines += hanging("     │ ", "dim", finding.printed, "dim", width - 1)
    first = len(lines)
    lines += evidence_lines(finding, rows, width, window, selected)
    count = len(lines) - first
    lines += hanging("     → ", "accent", finding.advice, "text", width - 1)
    tags = (next(iter(view.tag_index.canonical.get(metric, ())), None) for metric in finding.check_next)
    titles = [view.title_of(tag) for tag in tags if tag is not None][:MAX_NEXT]
    if titles:
        text = f"look next at  {', '.join(titles)}"
        lines += [line(("     " + part, "dim")) for part in wrap(text, width - 6)]
    return FindingBlock(lines, first, count)


def _head(finding: Finding, width: int, handled: str, age: str, *, nested: bool) -> list[Line]:
    """The title and onset of a finding; nested ones are indented."""
    resolved = finding.state == "resolved"
    role = "dim" if resolved or handled else SEVERITY_ROLE[finding.severity]
    glyph = "✓" if resolved else SEVERITY_GLYPH[finding.severity]
    indent = "   " if nested else ""
    text = f"{handled}: {finding_text(finding)}" if handled else finding_text(finding)
    lines = hanging(f"{indent} {glyph} ", role, text, role, width - 1)
    if age and lines[-1].width + cell_width(age) + 2 <= width:
        lines[-1] = line(*lines[-1].spans, (f", {age}", role))
    if lines[-1].width + cell_width(finding.pane) + 3 <= width:
        lines[-1] = line(*lines[-1].spans, (f"   {finding.pane}", "dim"))
    return lines


def evidence_lines(
    finding: Finding, rows: Sequence[Row], width: int, window: StepWindow, selected: int = -1
) -> list[Line]:
    """A line for each metric of a finding, in the order of onset."""
    evidence = {one.tag: one for one in finding.evidence}
    steps = [evidence[row.tag].since_step if row.tag in evidence else finding.since_step for row in rows]
    narrow = width < NARROW
    indent = 0 if narrow else INDENT
    onsets = [f"@{short_step(step, NARROW_STEP if narrow else width)}" for step in steps]
    title = min(max((cell_width(row.title) for row in rows), default=0), TITLE, max(width // 3, 8))
    onset = max(map(cell_width, onsets), default=0)
    room = width - indent - 3 - title - 2 - onset - 2
    changes = [change_of_row(row, finding, evidence.get(row.tag), room) for row in rows]
    lacking = max(map(cell_width, changes), default=0) - room
    if lacking > 0:  # a cut name can be read, a cut number cannot
        title, room = max(title - lacking, MIN_TITLE), room + min(lacking, max(title - MIN_TITLE, 0))
    rest = room - max(map(cell_width, changes), default=0) - 3
    spark = min(rest, MAX_SPARK) if rest >= MIN_SPARK else 0
    role = SEVERITY_ROLE[finding.severity]
    lines = []
    for index, row in enumerate(rows):
        number: Span = (f"▸{index + 1} ", "accent") if index == selected else (f" {index + 1} ", "dim")
        spans: list[Span] = [
            (" " * indent, "text"),
            number,
            (pad(short_title(row.title, title), title), "text"),
            (f"  {pad(onsets[index], onset)}  ", "dim"),
        ]
        if spark:
            spans += [*_spark(row, steps[index], window, spark, role), ("  ", "text")]
        lines.append(line(*spans, (changes[index], "strong" if index == selected else "text")))
    return lines


def _spark(row: Row, step: int, window: StepWindow, cells: int, role: str) -> list[Span]:
    """The curve in one line, with a bar at the step of onset."""
    drawn = curve(row, window, cells)
    if drawn is None or not drawn.has_values:
        return [(" " * cells, "text")]
    text, marks = drawn.spark()
    roles = dict.fromkeys(marks, "bad")
    at = None if drawn.own_axis else window.column(step, cells)
    if at is not None:
        text = f"{text[:at]}{EDGE}{text[at + 1 :]}"
        roles[at] = role
    return colored(text, "accent", roles)

"""The overview as lines of cells: findings, and a card for each of the metrics that matter."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from rltui.draw.ascii_curve import AsciiCanvas
from rltui.draw.braille import Canvas
from rltui.draw.cells import BLANK, Line, Span, colored, fill, line, sides
from rltui.draw.numbers import format_range
from rltui.draw.sparkline import Glyphs, sparkline
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.draw.value_range import range_with_spread, value_range
from rltui.panes.curve import Curve, Spread, curve, spread
from rltui.panes.healthy_range import EDGE, band_of, healthy_rows
from rltui.panes.other_runs import OtherRun, canvas_spans, draw_overlaid, joint_range, overlaid_curves
from rltui.panes.overview import Overview
from rltui.panes.pane_list import PANES
from rltui.panes.render.header_lines import finding_lines
from rltui.panes.render.pane_lines import Ranges, short_title, shown_range, unhealthy
from rltui.panes.row import Row
from rltui.panes.step_window import StepWindow
from rltui.text import cell_width, fit, pad

CARD_WIDTH = 36  # cells that a card wants; as many cards stand side by side as fit
CARD_MOST = 12  # rows; taller cards say no more
AXIS = 7  # cells of the value labels left of a card's curve
BAND_ROWS = 3  # from which there is room for a band behind a curve
BAND_LAYER = 1.0  # ranges with a band are held apart from those without
CURVE_SHARE = 0.6  # of a card's height that the curve of a mean keeps, whatever its band needs


@dataclass(frozen=True, slots=True)
class MetricCard:
    """Where a row's card stands: for clicks and for moving the selection."""

    x: int
    y: int
    width: int
    height: int
    row: int


def card_grid(count: int, width: int, height: int, *, full: bool = False) -> tuple[int, int, int]:
    """Columns, cards and rows per card for at most `count` cards in a box; zeros when not even one fits.

    Cards are six rows or taller where that leaves two lines of them; `full` takes more and lower cards.
    """
    columns = max(1, min((width + 3) // (CARD_WIDTH + 3), 5, count))
    if height < 4 or width < 24 or not count:
        return (0, 0, 0)
    lines = math.ceil(count / columns)
    least = 5 if full or height < 18 else 6 if height < 30 else 7
    while lines > 1 and height // lines < least:
        lines -= 1
    return (columns, min(count, lines * columns), min(height // lines, CARD_MOST))


def _row_heights(lines: int, rows: int, height: int) -> list[int]:
    """Rows of each line of cards: what is left over goes to the first lines, one each."""
    spare = min(max(height - lines * rows, 0), lines) if rows < CARD_MOST else 0
    return [rows + (at < spare) for at in range(lines)]


def card_lines(
    row: Row,
    width: int,
    height: int,
    window: StepWindow,
    *,
    ranges: Ranges | None,
    glyphs: Glyphs,
    selected: bool,
    others: Sequence[OtherRun] = (),
) -> list[Line]:
    """One metric as a small chart: title and value, the curve with its range at the left, a blank line.

    others: the same metric of other runs, drawn behind the curve.
    """
    role = SEVERITY_ROLE[row.severity]
    value, change = row.value_text, row.change_text
    glyph = f"{SEVERITY_GLYPH[row.severity]} " if row.severity in ("warning", "critical") else ""
    cells = 8 if row.against is None else 9  # a mark stands behind the difference to a baseline
    room = width - cell_width(value) - cells - 2 - cell_width(glyph)
    ends = row.spread_text
    words = f"{'min–max' if width >= 56 else 'now'} {ends}"
    if "…" in ends and cell_width(row.title) + cell_width(words) + 2 <= room:
        ends = words
    title: list[Span] = [(glyph, role), (short_title(row.title, max(room, 8)), role if glyph else "text")]
    if ends and cell_width(row.title) + cell_width(ends) + 2 <= room:
        title.append((f"  {ends}", "faint"))
    value_spans: list[Span] = [
        (value, role if glyph else "strong"),
        (" " + pad(change, cells, right=True), row.change_role),
    ]
    head = sides(title, value_spans, width, back="select" if selected else "")
    inner = height - 2
    out = [head]
    if inner >= 5:
        out.append(line((fit(row.tag, width), "faint")))
        inner -= 1
    out += _card_curve(row, width, max(inner, 1), window, ranges, glyphs, others)
    return [*out, _restart_marks(row, width, window)][:height]


def _restart_marks(row: Row, width: int, window: StepWindow) -> Line:
    """The line below a card's curve: blank, with a mark where the run was started again."""
    cells = width - AXIS - 1
    if not window.restarts or row.main is None or row.own_axis:
        return BLANK
    marks = window.restart_columns(cells)
    return line(
        (" " * (AXIS + 1) + "".join("↻" if at in marks else " " for at in range(cells)).rstrip(), "mark")
    )


def _card_curve(
    row: Row, width: int, rows: int, window: StepWindow, ranges: Ranges | None, glyphs: Glyphs,
    others: Sequence[OtherRun],
) -> list[Line]:  # fmt: skip
    cells = width - AXIS - 1
    columns = cells * (1 if glyphs == "ascii" or rows == 1 else 2)
    drawn = curve(row, window, columns)
    if drawn is None:
        return [line((" " * AXIS + " no points yet", "faint"))] + [BLANK] * (rows - 1)
    low, high = value_range(drawn.low, drawn.high)
    found = overlaid_curves(row, others, window, columns) if rows > 1 else []
    behind = _behind(row, drawn, columns) if rows >= BAND_ROWS and not found else None
    if behind is not None:
        around = range_with_spread((low, high), behind.range, CURVE_SHARE)
        held = {} if ranges is None else ranges.shown
        key = (row.tag, BAND_LAYER)
        if not behind.seen(*around, held=key in held):
            behind = None
            held.pop(key, None)
    if behind is not None:
        bottom, top = shown_range(row, around, window, ranges, layer=BAND_LAYER)
    else:
        bottom, top = shown_range(
            row, joint_range((low, high), found), window, ranges, layer=2.0 * bool(found)
        )
    some = bool(np.isfinite(drawn.low).any())
    if rows == 1:
        spark = sparkline(drawn.low, drawn.high, bottom, top, nonfinite=drawn.nonfinite,
                          glyphs="ascii" if glyphs == "ascii" else "blocks")  # fmt: skip
        label = pad(format_range(low, high, row.unit)[1] if some else "", AXIS, right=True)
        shown = colored(spark.text, "accent", unhealthy(row, drawn) | dict.fromkeys(spark.marks, "bad"))
        return [line((label + " ", "faint"), *shown)]
    canvas = AsciiCanvas(cells, rows) if glyphs == "ascii" else Canvas(cells, rows)
    draw_overlaid(canvas, found, bottom, top)
    body = canvas_spans(canvas, drawn, bottom, top, behind, columns // cells, found)
    ends = format_range(bottom, top, row.unit) if some else ("", "")
    healthy = healthy_rows(band_of(row), bottom, top, rows)
    lines = []
    for index, spans in enumerate(body):
        label = ends[1] if index == 0 else ends[0] if index == rows - 1 else ""
        if top == bottom:
            label = ends[0] if index == rows // 2 else ""
        words = pad(label, AXIS, right=True)
        if index in healthy:
            shaded = [(text, f"{role}/panel") for text, role in spans]
            lines.append(line((words, "faint"), (EDGE, "good"), *shaded))
        else:
            lines.append(line((words + " ", "faint"), *spans))
    return lines


def _behind(row: Row, drawn: Curve, columns: int) -> Spread | None:
    """What a card shows behind the curve of a mean, in the same columns."""
    return spread(row, drawn.mean, lambda series: series.columns(*drawn.edges, columns))


def overview_lines(
    data: Overview, width: int, height: int, *, ranges: Ranges | None = None, glyphs: Glyphs = "blocks",
    selected: int = -1,
    full: bool = False,
    others: Callable[[Row], Sequence[OtherRun]] = lambda row: (),
) -> tuple[list[Line], list[MetricCard]]:  # fmt: skip
    """The overview below its header: findings, then cards; and where the cards stand.

    others: what other runs have of a row's metric.
    """
    most = max(1, min(len(data.findings), 2 if height < 22 else 5 if height < 34 else 8))
    if not data.rows and not data.findings:
        return [line(("   " + PANES["overview"].empty, "dim"))], []
    lines = finding_lines(data.findings, width, most)
    lines.append(BLANK)
    margin = 1
    columns, count, rows = card_grid(len(data.rows), width - 2 * margin, height - len(lines), full=full)
    if not columns:
        return lines, []
    card_width = (width - 2 * margin - 3 * (columns - 1)) // columns
    cards: list[MetricCard] = []
    heights = _row_heights(math.ceil(count / columns), rows, height - len(lines))
    for start in range(0, count, columns):
        rows = heights[start // columns]
        blocks = []
        for index in range(start, min(start + columns, count)):
            x = margin + (index - start) * (card_width + 3)
            cards.append(MetricCard(x, len(lines), card_width, rows, index))
            card = card_lines(
                data.rows[index],
                card_width,
                rows,
                data.window,
                ranges=ranges,
                glyphs=glyphs,
                selected=index == selected,
                others=others(data.rows[index]),
            )
            blocks.append(card)
        for at in range(rows):
            spans: list[Span] = [(" " * margin, "text")]
            for place, block in enumerate(blocks):
                part = fill(block[at] if at < len(block) else BLANK, card_width)
                role_back = part.back
                spans += [(text, f"{role}/{role_back}" if role_back else role) for text, role in part.spans]
                if place < len(blocks) - 1:
                    spans.append(("   ", "text"))
            lines.append(line(*spans))
    return lines, cards

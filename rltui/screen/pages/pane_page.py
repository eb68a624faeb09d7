"""The page of a pane of metrics: the visible rows, and below a short pane curves in the free lines."""

from __future__ import annotations

from rltui.common.display_text import fit
from rltui.draw.cells import BLANK, Line, Span, cut_sentence, empty_lines, line, wrap
from rltui.panes.answers.answer import Answer
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.pane import PaneView
from rltui.panes.render.cards import card_grid, card_lines, cards_lines, constants_line
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.lines.pane_lines import (
    finding_rows,
    header_line,
    plan_columns,
    row_lines,
)
from rltui.panes.rows.row import Row, first_row, is_constant
from rltui.screen.pages.chart.compared_run_names import card_style
from rltui.screen.pages.page import Page, PanePage, Spot, card_spots, scrolled
from rltui.screen.shown_pane import pane, selected
from rltui.screen.state import AppState, PaneDrawn

TALL_ROWS = 16  # from here on the answer may take three fifths of the page, else two
MIN_ROWS_FOR_ANSWER = 5  # of the page
MIN_CURVE_ROWS = 8  # free rows that a curve needs
MIN_ROWS_FOR_CONSTANTS = 8  # of the page
FEW_METRICS = 8  # of a pane, which get a card each
SPARE_ROWS = 8  # beyond the tallest curve, from which on any pane has cards
MAX_CURVE_ROWS = 26  # a taller one shows no more, and costs bytes when a pane is opened


def metrics_page(state: AppState, width: int, height: int) -> Page:
    """The metrics of the pane shown."""
    made = pane(state)
    return Page() if made is None else pane_page(state, made, width, height)


def pane_page(state: AppState, made: PaneView, width: int, height: int, *, column_words: bool = True) -> Page:
    """A pane with its selected row visible. Only visible rows are drawn."""
    if not made.metrics and made.answer is not None:
        return Page(answer_lines(made.answer, width, height))
    if not made.metrics:
        return Page([BLANK, *empty_lines(made.empty, width)][:height])
    columns = plan_columns(width, made, state.time.crosshair)
    page = Page()
    quiet = []
    if made.constants and height >= MIN_ROWS_FOR_CONSTANTS:
        quiet = [constants_line(made.constants, width)]
    height -= len(quiet)
    if made.answer is not None and height >= MIN_ROWS_FOR_ANSWER:
        page.lines += _answer_lines(made.answer, made, state, width, height)
        if height >= TALL_ROWS - 2:
            page.lines.append(BLANK)
    if column_words and height - len(page.lines) >= 6:
        page.lines.append(header_line(columns, made))
    room = height - len(page.lines)
    notes = finding_rows(made.rows) if state.saved.density != "compact" else {}
    # Heights of all rows, lines only of visible ones: thousands of rows cost nothing.
    heights = [(2 if index else 1) if row.kind == "heading" else 1 + (index in notes)
               for index, row in enumerate(made.rows)]  # fmt: skip
    at = _selected(made, state.selection.row)
    first = sum(heights[:at])
    lead = heights[at - 1] if at and made.rows[at - 1].kind == "heading" else 0
    top = scrolled(state.drawn_pane.top, first - lead, first + heights[at] - 1, sum(heights), room)
    page.drawn = PaneDrawn(top, max(room - 2, 1))
    y = -top  # of a row, from the first line that is drawn
    for index, row in enumerate(made.rows):
        if y >= room:
            break
        if y + heights[index] > 0:
            lines = row_lines(
                row, columns, made.window, state.ranges, selected=index == at, notes=notes.get(index, 0)
            )
            if row.kind == "heading" and index:
                lines.insert(0, BLANK)
            for one in lines[max(-y, 0) : room - y]:
                if row.kind != "heading":
                    plot = (columns.curve_start, columns.spark)
                    page.spots.append(Spot(0, len(page.lines), width, 1, "select", row.tag, plot))
                page.lines.append(one)
        y += heights[index]
    page.lines += quiet
    _add_curves(state, page, made, made.rows[at], width, height + len(quiet) - len(page.lines))
    return page


def _selected(made: PaneView, tag: str) -> int:
    """The position of the row of a tag, or of the first metric if it has none here."""
    metrics = (index for index, row in enumerate(made.rows) if row.kind != "heading" and row.tag == tag)
    found = next(metrics, None)
    return made.rows.index(first_row(made.rows) or made.rows[0]) if found is None else found


def _add_curves(state: AppState, page: Page, made: PaneView, selected: Row, width: int, height: int) -> None:
    """Add the cards of few rows if there is room, else what is known of the selected one."""
    few = len(made.metrics) <= FEW_METRICS or height > MAX_CURVE_ROWS + SPARE_ROWS
    if few and len(made.metrics) > 1 and _wide(state, width) and height >= MIN_CURVE_ROWS:
        _add_cards(state, page, made, selected, width, height)
    else:
        page.lines += _selected_metric(state, selected, made.window, width, height)


def _add_cards(state: AppState, page: Page, made: PaneView, selected: Row, width: int, height: int) -> None:
    """Add a large card for each of a few rows, the selected one first if not all fit."""
    metrics = [
        row
        for row in made.metrics
        if row is selected or (row.main is not None and row.main.count > 1 and not is_constant(row))
    ]
    if is_constant(selected):  # its row shows everything
        metrics.remove(selected)
    if not metrics:
        page.lines += _selected_metric(state, selected, made.window, width, height)
        return
    explanation = _explanation(selected, width - 2, f"{selected.title}, ") if height >= TALL_ROWS else []
    height -= len(explanation)
    fitting = card_grid(len(metrics), width - 2, height - 1)[1]
    if 0 < fitting < len(metrics):
        metrics = sorted(metrics, key=lambda row: row is not selected)[:fitting]
    at = metrics.index(selected) if selected in metrics else -1
    lines, cards = cards_lines(metrics, made.window, width, height - 1, card_style(state), selected=at)
    top = len(page.lines) + 1
    page.lines += [line((" " + "─" * (width - 2), "faint")), *lines]
    page.spots += card_spots(cards, metrics, top)
    if explanation:
        page.lines += [BLANK] * (height - 1 - len(lines))
        page.lines += [line((f" {text}", "dim")) for text in explanation]


def _wide(state: AppState, width: int) -> bool:
    return width >= 50 and state.saved.density != "compact"


def _answer_lines(answer: Answer, made: PaneView, state: AppState, width: int, height: int) -> list[Line]:
    """The answer, without its bands if cards below the rows show the same distributions."""
    room = _answer_room(made, state, height)
    bare = answer_lines(answer, width, room, bands=False)
    free = height - (2 if height >= TALL_ROWS - 2 else 0) - len(made.rows) - len(finding_rows(made.rows))
    if free - len(bare) >= MIN_CURVE_ROWS and _wide(state, width):
        cards = len(made.metrics) <= FEW_METRICS
        return bare if cards or not answer.bands else answer_lines(answer, width, room)
    # No curve fits below the rows: the answer gets the free lines.
    return answer_lines(answer, width, max(room, free))


def _answer_room(made: PaneView, state: AppState, height: int) -> int:
    """Lines for the answer: those that the rows leave, at least a share of the page; few if compact."""
    if state.saved.density == "compact":
        return min(3, height // 3)
    share = 3 if height >= TALL_ROWS else 2
    return max(share * height // 5, height - len(made.rows) - MIN_CURVE_ROWS)


def _selected_metric(state: AppState, row: Row, window: StepWindow, width: int, height: int) -> list[Line]:
    """The card of the selected metric below a rule, in at most `height` lines; none without room."""
    if height < MIN_CURVE_ROWS or width < 50 or state.saved.density == "compact" or not row.parts:
        return []
    explanation = _explanation(row, width - 11)
    rows = height if height > MAX_CURVE_ROWS + SPARE_ROWS else min(height, MAX_CURVE_ROWS)
    tall = rows - 1 - len(explanation)
    lines = [line((" " + "─" * (width - 2), "faint"))]
    # The row of a constant shows everything.
    card = [] if is_constant(row) else card_lines(row, width - 3, tall, window, card_style(state))
    lines += [line((" ", "text"), *one.spans) if one.spans else BLANK for one in card]
    lines += [line((" " * 9 + text, "dim")) for text in explanation]
    return [BLANK] * (height - len(lines)) + lines


def _explanation(row: Row, width: int, prefix: str = "") -> list[str]:
    """The healthy values of a metric, else its meaning, in at most two lines; empty if it is not known."""
    metric = row.name.metric if row.name is not None else None
    text = "" if metric is None else f"healthy: {metric.healthy}" if metric.healthy else metric.meaning
    if not text:
        return []
    first, *rest = wrap(f"{prefix}{text}", width)
    return [first, cut_sentence(" ".join(rest), width)] if rest else [first]


def notes(state: AppState) -> list[Span]:
    """The notes of the footer on the selected metric and on the pane."""
    made, row = pane(state), selected(state)
    found: list[Span] = []
    if row is not None:
        found.append((fit(row.tag, 40), "dim"))
        if row.counted is not None and row.counted[1]:
            found.append((f"{row.counted[1]:,} NaN or infinite", "bad"))
    return found + [(note, "dim") for note in (made.notes if made is not None else ())]


def _filtered(state: AppState) -> tuple[str, int, int]:
    made = pane(state)
    return ("metric", 0, 0) if made is None else ("metric", len(made.metrics), made.of)


def _hints(state: AppState, _width: int) -> dict[str, str]:
    row = selected(state)
    return {"open": "open"} if row is not None and row.is_open is False else {}


PAGE = PanePage(metrics_page, _filtered, _hints, notes)

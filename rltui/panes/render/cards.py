"""Cards as lines of cells; and the overview: findings, and cards of the most important metrics."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rltui.common.display_text import cell_width, fit, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import BLANK, Line, Span, cut, fill, line, sides
from rltui.draw.numbers import format_bound, format_step, short_step
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.pane import PaneView
from rltui.panes.render.card_curve import CardCurve, CardStyle, card_curve
from rltui.panes.render.lines.pane_lines import short_title
from rltui.panes.rows.row import Row

CARD_WIDTH = 36  # cells of a card, from which the number of cards side by side follows
MIN_KEY_CELLS = 8  # of a key beside its change or the note on its sign
MIN_ROWS_FOR_CONSTANTS = 14  # rows of the overview from which a line lists constant metrics
MAX_CARD_ROWS = 48  # rows; taller cards show no more


class MetricCard(NamedTuple):
    """The position of a row's card, for clicks and for moving the selection."""

    x: int
    y: int
    width: int
    height: int
    row: int


def card_grid(count: int, width: int, height: int, *, full: bool = False) -> tuple[int, int, int]:
    """Columns, cards and rows per card for at most `count` cards in a box; zeros if not even one fits.

    Cards have at least 5 to 7 rows, depending on the height; `full` prefers more and lower cards.
    """
    columns = max(1, min((width + 3) // (CARD_WIDTH + 3), 5, count))
    if height < 4 or width < 24 or not count:
        return (0, 0, 0)
    lines = math.ceil(count / columns)
    least = 5 if full or height < 18 else 6 if height < 30 else 7
    while lines > 1 and height // lines < least:
        lines -= 1
    return (columns, min(count, lines * columns), min(height // lines, MAX_CARD_ROWS))


def _row_heights(lines: int, rows: int, height: int) -> list[int]:
    """The rows of each line of cards: the first lines get one of the remaining rows each."""
    spare = min(max(height - lines * rows, 0), lines) if rows < MAX_CARD_ROWS else 0
    return [rows + (at < spare) for at in range(lines)]


def card_lines(
    row: Row, width: int, height: int, window: StepWindow, style: CardStyle, *, selected: bool = False
) -> list[Line]:
    """One metric as a small chart: title and value, its key, the curve between its axes."""
    inner = height - 2
    with_key = inner >= 5
    drawn = card_curve(row, width, max(inner - with_key, 1), window, style)
    out = [_head(row, width, drawn, style.crosshair, back="select" if selected else "")]
    if with_key:
        out.append(_key_line(row, width))
    return [*out, *drawn.rows, drawn.steps][:height]


def _head(row: Row, width: int, drawn: CardCurve, crosshair: int | None, *, back: str) -> Line:
    """Title, notes on the axis, spread; the last value and change, or the value at a crosshair."""
    role = SEVERITY_ROLE[row.severity]
    glyph = f"{SEVERITY_GLYPH[row.severity]} " if row.severity in ("warning", "critical") else ""
    cells = 8 if row.against is None else 9  # the difference to a baseline has a mark
    value, value_role = row.value_text, role if glyph else "strong"
    change, change_role = row.change_text, row.change_role
    if crosshair is not None and (text := row.text_at(crosshair)) is not None:
        value, value_role = text, "mark"
        change, change_role = f"@{short_step(crosshair, cells - 1)}", "mark"
    room = width - cell_width(value) - cells - 2 - cell_width(glyph)
    ends = row.spread_text or drawn.band
    labelled = f"{'min–max' if width >= 56 else 'now'} {ends}"
    if "…" in ends and cell_width(row.title) + cell_width(labelled) + 2 <= room:
        ends = labelled
    axis = _axis_notes(drawn.notes, room - cell_width(row.title))
    name = short_title(row.title, max(room - cell_width(axis), 8))
    title: list[Span] = [(glyph, role), (name, role if glyph else "text"), (axis, "mark")]
    if ends and cell_width(row.title + axis) + cell_width(ends) + 2 <= room:
        title.append((f"  {ends}", "faint"))
    last: list[Span] = [(value, value_role), (" " + pad(change, cells, right=True), change_role)]
    return sides(title, last, width, back=back)


def _axis_notes(notes: Sequence[str], room: int) -> str:
    """The notes on the axis, only `log` if there is little room.

    The mark of values beyond the axis alone would read as that of a warning; the curve has it too.
    """
    words = " ".join(note for note in notes if " " not in note)
    texts = ("  ".join(notes), words)
    return next(
        (f"  {text}" for text in texts if text and cell_width(text) + 2 <= room), f" {words}".rstrip()
    )


def _key_line(row: Row, width: int) -> Line:
    """The key as written, with its direction if the sign is opposite; with a finding its change and onset."""
    change = _change(row)
    change = change if cell_width(change) <= width - MIN_KEY_CELLS else ""
    room = width - (cell_width(change) + 2 if change else 0)
    note = _direction(row, room - min(cell_width(row.tag), MIN_KEY_CELLS))
    told: list[Span] = [(note, "dim")] if note else []
    if not change:
        return line((fit(row.tag, room - cell_width(note)), "faint"), *told)
    return sides([(cut(row.tag, room - cell_width(note)), "faint"), *told],
                 [(change, SEVERITY_ROLE[row.severity])], width)  # fmt: skip


def _direction(row: Row, room: int) -> str:
    """That the key has the opposite sign, shorter if there is little room: more than the end of the key."""
    texts = (f" · {row.direction_note}", " · negated") if row.direction_note else ()
    return next((text for text in texts if cell_width(text) <= room), "")


def _change(row: Row) -> str:
    finding = row.marked
    if finding is None:
        return ""
    one = row.evidence
    if one is None or one.before is None:
        return f"since {format_step(finding.since_step)}"
    before, now = row.as_written(one.before), row.as_written(one.now)
    ends = [
        "?" if before is None else format_bound(before, row.unit),
        "NaN" if now is None else format_bound(now, row.unit),
    ]
    since = f"since {format_step(one.since_step)}"
    return since if ends[0] == ends[1] else f"{' → '.join(ends)} {since}"


def overview_lines(
    pane: PaneView, lead: Sequence[Line], width: int, height: int, style: CardStyle, *,
    selected: int = -1, full: bool = False,
) -> tuple[list[Line], list[MetricCard]]:  # fmt: skip
    """The overview below its header: lines on findings, then cards; and the positions of the cards."""
    if not pane.rows and not lead:
        return [line(("   " + pane.empty, "dim"))], []
    lines = [*lead, BLANK] if lead else []
    with_constants = bool(pane.constants) and height >= MIN_ROWS_FOR_CONSTANTS
    constants = [constants_line(pane.constants, width)] if with_constants else []
    height -= len(constants)
    drawn, cards = cards_lines(
        pane.rows, pane.window, width, height - len(lines), style, selected=selected, full=full
    )
    cards = [card._replace(y=card.y + len(lines)) for card in cards]
    lines += drawn
    return lines + [BLANK] * (height - len(lines)) * with_constants + constants, cards


def most_findings(height: int) -> int:
    """How many findings an overview of so many lines lists."""
    return 2 if height < 22 else 5 if height < 34 else 8


def cards_lines(
    rows: Sequence[Row], window: StepWindow, width: int, height: int, style: CardStyle, *,
    selected: int = -1, full: bool = False,
) -> tuple[list[Line], list[MetricCard]]:  # fmt: skip
    """As many cards as fit in a box, and their positions in it."""
    margin = 1
    columns, count, each = card_grid(len(rows), width - 2 * margin, height, full=full)
    if not columns:
        return [], []
    card_width = (width - 2 * margin - 3 * (columns - 1)) // columns
    lines: list[Line] = []
    cards: list[MetricCard] = []
    heights = _row_heights(math.ceil(count / columns), each, height)
    for start in range(0, count, columns):
        tall = heights[start // columns]
        blocks = []
        for index in range(start, min(start + columns, count)):
            x = margin + (index - start) * (card_width + 3)
            cards.append(MetricCard(x, len(lines), card_width, tall, index))
            blocks.append(
                card_lines(rows[index], card_width, tall, window, style, selected=index == selected)
            )
        for at in range(tall):
            spans: list[Span] = [(" " * margin, "text")]
            for position, block in enumerate(blocks):
                part = fill(block[at] if at < len(block) else BLANK, card_width)
                spans += [(text, f"{role}/{part.back}" if part.back else role) for text, role in part.spans]
                if position < len(blocks) - 1:
                    spans.append(("   ", "text"))
            lines.append(line(*spans))
    return lines, cards


def constants_line(rows: Sequence[Row], width: int) -> Line:
    """The metrics that never changed, and those that are not measured, in one line."""
    settings = [f"{row.title} {row.value_text}" for row in rows if not row.unreported]
    unmeasured = [row.title for row in rows if row.unreported]
    shown = [(f"always the same: {text}" if not at else f" · {text}") for at, text in enumerate(settings)]
    apart = "   " if settings else ""
    shown += [
        (f"{apart}not measured: {text}" if not at else f" · {text}") for at, text in enumerate(unmeasured)
    ]
    room, count = width - 4, len(shown)
    while count > 1 and cell_width(_first_of(shown, count)) > room:
        count -= 1
    return line((" ─ ", "faint"), (cut(_first_of(shown, count), room), "dim"))


def _first_of(parts: Sequence[str], count: int) -> str:
    """The first parts of a text, and how many more there are."""
    left = len(parts) - count
    return "".join(parts[:count]) + (f" · {left} more" if left else "")

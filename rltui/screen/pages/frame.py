"""The screen without overlays: header, tab bar, one pane, footer, put together for a size."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, Span, line, sides
from rltui.draw.numbers import format_age
from rltui.draw.symbols import HEALTH_GLYPH, STATE_GLYPH, STATE_ROLE
from rltui.panes.overview import Overview, key_rows, overview
from rltui.panes.pane import PaneView
from rltui.panes.render.frame_lines import NOTHING, finding_lines, header_lines, overview_lines, tab_bar
from rltui.panes.render.pane_lines import header_line, noted, plan, row_lines, short_title
from rltui.panes.single_step import stands_still
from rltui.screen.input.prompt import counted
from rltui.screen.pages.chart.overlaid_runs import names_line, others
from rltui.screen.pages.findings_page import findings_page
from rltui.screen.pages.page import SMALLEST, Page, Scroll, Spot, too_small
from rltui.screen.pages.pane_choice import settle, troubles
from rltui.screen.pages.selected_metric import detail_lines
from rltui.text import cell_width, fit, pad

if TYPE_CHECKING:
    from rltui.screen.state import AppState


def compose(desk: AppState, width: int, height: int) -> Page:
    """Everything but overlays."""
    if width < SMALLEST[0] or height < SMALLEST[1]:
        return too_small(width, height)
    settle(desk)
    view = desk.view
    if view is None:
        return _waiting(desk, width, height)
    lines = header_lines(desk.header(view), width, right=_place(desk, width), alone=height < 12)
    page = Page(lines, [Spot(0, 0, width, 1, "runs"), Spot(0, 1, width, 1, "pane:findings")][: len(lines)])
    if height >= 8:
        bar = tab_bar(desk.tabs(), desk.pane, width)
        tabs = [bar.line, bar.rule] if height >= 16 else [bar.line]
        spots = [Spot(0, 0, 1, 1, "previous-pane"), Spot(width - 1, 0, 1, 1, "next-pane")]
        spots += [Spot(first, 0, last - first, 1, f"pane:{pane}") for first, last, pane in bar.spots]
        names = names_line(desk, width) if height >= 12 else None
        if names is not None:
            spots.append(Spot(0, len(tabs), width, 1, "runs"))
            tabs.append(names)
        page = page.below(Page(tabs, spots))
    room = height - len(page.lines) - (1 if height >= 7 else 0)
    body = _body(desk, width, room)
    body.lines = (body.lines + [BLANK] * room)[:room]
    page = page.below(body)
    if height >= 7:
        page = page.below(footer(desk, width))
    return page


def _body(desk: AppState, width: int, height: int) -> Page:
    view = desk.view
    assert view is not None
    if desk.query and desk.pane in ("overview", "findings"):
        found = desk.board()
        return board_page(desk, found, width, height) if found is not None else Page()
    if desk.pane == "config":
        from rltui.screen.pages.hparams_page import config_page  # the first values need not wait for it

        return config_page(desk, width, height)
    if desk.pane == "overview":
        data = overview(
            view,
            desk.now,
            desk.at_step,
            count=16,
            share=desk.part,
            against=desk.differences(),
            then=desk.then(),
        )
        data = Overview(data.header, tuple(desk.unseen()), data.rows, data.window)
        return overview_page(desk, data, width, height)
    if desk.pane == "findings":
        return findings_page(desk, width, height)
    made = desk.board()
    return board_page(desk, made, width, height) if made is not None else Page()


def overview_page(desk: AppState, data: Overview, width: int, height: int) -> Page:
    """Findings, cards and, where there is room, the other runs; as plain rows on small screens."""
    runs = _glance(desk, width, 0 if height < 20 or len(desk.session.runs) < 2 else 3 if height < 36 else 5)
    room = height - len(runs.lines)
    tag = desk.chosen.get("overview", "")
    at = next((index for index, row in enumerate(data.rows) if row.tag == tag), 0 if data.rows else -1)
    if height < 11 or width < 34 or desk.memory.density == "compact":
        made = PaneView("overview", "Overview", data.rows, data.window, empty=NOTHING)
        told = (
            finding_lines(data.findings, width, 1 if height < 11 else 3) if data.rows or data.findings else []
        )
        top = _with_troubles(desk, data, Page(told), width)
        return top.below(board_page(desk, made, width, height - len(top.lines), column_words=False))
    lines, cards = overview_lines(
        data,
        width,
        room,
        ranges=desk.ranges,
        glyphs=desk.glyphs,
        selected=at,
        full=desk.memory.density == "full",
        others=others(desk),
    )
    desk.card_columns = max(sum(card.y == cards[0].y for card in cards), 1) if cards else 1
    found = min(len(data.findings), len(lines))
    spots = [Spot(0, index, width, 1, "go-finding", str(index)) for index in range(found)]
    spots += [Spot(c.x, c.y, c.width, c.height, "select", data.rows[c.row].tag) for c in cards]
    page = _with_troubles(desk, data, Page(lines, spots), width)
    page.lines = (page.lines + [BLANK] * room)[:room]
    return page.below(runs)


def _with_troubles(desk: AppState, data: Overview, page: Page, width: int) -> Page:
    """The overview, whose first line tells of warnings about the data where no finding is told."""
    odd = len(troubles(desk))
    if odd and not data.findings and page.lines:
        words = f"{odd} warning{'s' * (odd > 1)} about the data: "
        page.lines[0] = line((" ▲ ", "warn"), (words, "warn"), (desk.keys.hint_of("pane:findings"), "accent"))
        page.spots.append(Spot(0, 0, width, 1, "pane:findings"))
    return page


def _glance(desk: AppState, width: int, most: int) -> Page:
    """The other runs in a line each."""
    view = desk.view
    others = [other for other in desk.session.ordered() if other is not view]
    if most < 1 or not others or view is None:
        return Page()
    shown = others if len(others) < most else others[: most - 1]
    titles = [desk.brief(other.name) for other in shown]
    names = min(max(cell_width(title) for title in titles), max(width // 3, 12))
    frames = min(max(cell_width(other.framework) for other in shown), 17)
    used = names + frames + 48
    keys = [
        key_rows(one, 1, at_step=desk.at_step, findings=()) if used + 30 <= width else [] for one in shown
    ]
    words = max((cell_width(key[0].title) for key in keys if key), default=0)
    words = min(words, width - used - 13)
    page = Page()
    for index, other in enumerate(shown):
        alive = other.liveness(desk.now)
        health = desk.health(other)
        step = desk.step_text(other, 10)
        spans: list[Span] = [
            (f" {STATE_GLYPH.get(alive.state, '?')} ", STATE_ROLE.get(alive.state, "dim")),
            (pad(titles[index], names), "text"),
            (
                f"  {pad(other.framework.replace('unknown', ''), frames)}"
                f"  step {pad(step, 10, right=True)}  ",
                "dim",
            ),
            (pad(format_age(alive.age), 8, right=True) + "  ", "dim"),
            (
                "" if health == "ok" else f"{_glyph(health)} {health}",
                "bad" if health == "critical" else "warn",
            ),
        ]
        key = keys[index]
        if key:
            word = pad(spans[-1][0], 12)
            spans[-1] = (word, spans[-1][1])
            spans += [
                (pad(short_title(key[0].title, words), words), "dim"),
                (pad(key[0].value_text, 11, right=True), "text"),
            ]
        page.lines.append(line(*spans))
        page.spots.append(Spot(0, index, width, 1, "run", other.name))
    if len(shown) < len(others):
        page.lines.append(line((f"   and {len(others) - len(shown)} more runs: ", "dim"), ("r", "accent")))
        page.spots.append(Spot(0, len(page.lines) - 1, width, 1, "runs"))
    return page


def _glyph(health: str) -> str:
    return HEALTH_GLYPH.get(health, "?")


def board_page(desk: AppState, made: PaneView, width: int, height: int, *, column_words: bool = True) -> Page:
    """A board with its selected row in sight. Only rows in sight are drawn."""
    if not made.metrics:
        return Page([BLANK, line(("   " + made.empty, "dim"))][:height])
    columns = plan(width, made, desk.glyphs)
    page = Page()
    if column_words and height >= 6:
        page.lines.append(header_line(columns, made.window))
    room = height - len(page.lines)
    desk.page_rows = max(room - 2, 1)
    notes = noted(made.rows) if desk.memory.density != "compact" else {}
    # Heights first, lines only for what is in sight: thousands of rows cost nothing.
    heights = [(2 if index else 1) if row.kind == "heading" else 1 + (index in notes)
               for index, row in enumerate(made.rows)]  # fmt: skip
    tag = desk.chosen.get(desk.pane, "")
    at = next((index for index, row in enumerate(made.rows) if row.kind != "heading" and row.tag == tag), -1)
    if at < 0:
        at = next(index for index, row in enumerate(made.rows) if row.kind != "heading")
    first = sum(heights[:at])
    lead = heights[at - 1] if at and made.rows[at - 1].kind == "heading" else 0
    scroll = desk.scrolls.setdefault(desk.pane, Scroll())
    top = scroll.to(first - lead, first + heights[at] - 1, sum(heights), room)
    y = 0
    body: list[Line] = []
    for index, row in enumerate(made.rows):
        if y + heights[index] > top and y < top + room:
            lines = row_lines(
                row, columns, made.window, desk.ranges, selected=index == at, notes=notes.get(index, 0)
            )
            if row.kind == "heading" and index:
                lines.insert(0, BLANK)
            for offset, one in enumerate(lines):
                if top <= y + offset < top + room:
                    if row.kind != "heading":
                        page.spots.append(Spot(0, len(page.lines) + len(body), width, 1, "select", row.tag))
                    body.append(one)
        y += heights[index]
        if y >= top + room:
            break
    page.lines += body
    page.lines += detail_lines(desk, made.rows[at], made.window, width, room - len(body))
    return page


def _place(desk: AppState, width: int) -> list[Span]:
    """What is in sight of how much: the metrics that a filter leaves, the run among the others."""
    spans: list[Span] = []
    if desk.query:
        what, kept, total = counted(desk)
        words = f"{kept} of {total} {what}" if total else f"{kept} {what}"
        spans.append((f"/{fit(desk.query, max(width // 5, 8))} ", "mark"))
        spans.append((words if width >= 60 else words.removesuffix(f" {what}"), "dim"))
    total = len(desk.session.runs)
    view = desk.view
    if total > 1 and view is not None and (width >= 60 or not spans):
        ordered = desk.session.ordered()
        spans.append((f"{'   ' if spans else ''}run {ordered.index(view) + 1} of {total}", "dim"))
    return spans


def footer(desk: AppState, width: int) -> Page:
    """What is happening at the left, the keys worth knowing at the right."""
    left: list[Span] = [(" ", "dim")]
    left += [(desk.message, "strong")] if desk.message else _status(desk)
    # What is said at the left changes at every step; in blocks of cells the hints hold still.
    used = sum(cell_width(text) for text, _ in left)
    most = max(width - HINTS_LEFT, width // 2) if desk.message else width // 2 - 8
    reach = min(math.ceil((used + 1) / HINT_BLOCK) * HINT_BLOCK, most) if used > 1 else 9
    right: list[Span] = []
    spots: list[tuple[int, str]] = []
    for action, hint in _hints(desk, width - reach):
        words: list[Span] = [(desk.keys.hint_of(action), "accent"), (f" {hint}  ", "dim")]
        right += words
        spots.append((sum(cell_width(text) for text, _ in words), action))
    x = width - sum(cells for cells, _ in spots)
    page = Page([sides(left, right, width, back="bar")])
    for cells, action in spots:
        page.spots.append(Spot(x, 0, cells, 1, action))
        x += cells
    return page


HINT_BLOCK = 24  # cells
HINTS_LEFT = 18  # cells that a message leaves: for help and the way out

# Which hints stay when there is little room.
_HINT_ORDER = ("help", "explain", "open", "filter", "runs", "pane:findings", "snapshot", "quit")


def _hints(desk: AppState, room: int) -> list[tuple[str, str]]:
    """Actions and words for the footer, in the order of the table, the most useful ones that fit."""
    binds = {bind.action: bind.hint for bind in desk.keys.binds if bind.hint and bind.keys}
    if desk.pane == "config":
        from rltui.screen.pages.hparams_page import hints

        binds = hints(desk, binds)
    kept = set()
    for action in sorted(binds, key=lambda one: _HINT_ORDER.index(one) if one in _HINT_ORDER else 99):
        cells = cell_width(desk.keys.hint_of(action)) + cell_width(binds[action]) + 3
        if cells > room:
            continue
        room -= cells
        kept.add(action)
    return [(action, hint) for action, hint in binds.items() if action in kept]


def _status(desk: AppState) -> list[Span]:
    """Loading, pause, honesty: the most important first."""
    pieces: list[Span] = []
    if desk.loading is not None:
        pieces.append((f"reading {desk.loading:.0%}", "info"))
    if desk.at_step is not None:  # the header says which moment it is; here stands the way back
        pieces.append((f"{desk.keys.hint_of('pause')}: live again", "mark"))
    if desk.view is not None and stands_still(desk.view):
        pieces.append(("one step only: in order of arrival", "mark"))
    if desk.share:
        pieces.append((f"last 1/{round(1 / desk.part)} of the run", "dim"))
    if desk.baseline and desk.loading is None:
        base = desk.base
        if base is None:
            pieces.append((f"no run here is the baseline {fit(desk.baseline, 24)}", "warn"))
    if desk.together:
        count = len(desk.together)
        pieces.append((f"{count} {'metric' if count == 1 else 'metrics'} marked for charts", "mark"))
    made = desk.board() if desk.pane not in ("overview", "findings") or desk.query else None
    row = desk.selected() if made is not None else None
    if row is not None:
        pieces.append((fit(row.tag, 40), "dim"))
        if row.counted is not None and row.counted[1]:
            pieces.append((f"{row.counted[1]:,} NaN or infinite", "bad"))
    if made is not None:
        pieces += [(note, "dim") for note in made.notes]
    if desk.pane == "config":
        from rltui.screen.pages.hparams_page import status

        pieces += [(note, "dim") for note in status(desk)]
    spans: list[Span] = []
    for index, piece in enumerate(pieces):
        spans += [(" · ", "faint")] if index else []
        spans.append(piece)
    return spans


def _waiting(desk: AppState, width: int, height: int) -> Page:
    """No run yet: what is waited for, and the keys that work."""
    where = ", ".join(desk.logdirs) or "."
    top = height // 2 - 2
    lines = [BLANK] * max(top, 0)
    word = "Reading" if desk.loading is not None else "Waiting for logs below"
    for text, role in (
        (f"{word} {where}", "text"),
        ("Event files, JSON lines and CSV are found as they appear.", "dim"),
    ):
        text = fit(text, width - 2)
        lines.append(line((" " * max((width - cell_width(text)) // 2, 0) + text, role)))
    page = Page((lines + [BLANK] * height)[: height - 1])
    return page.below(footer(desk, width))

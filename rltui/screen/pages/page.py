"""The parts of every page of the screen: lines, and spots that can be clicked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from rltui.common.display_text import cell_width, fit
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import BLANK, Line, Span, crop, fill, line, sides, wrap
from rltui.panes.render.card_curve import AXIS
from rltui.panes.render.cards import MetricCard
from rltui.panes.rows.row import Row
from rltui.screen.input.key_table import Keys
from rltui.screen.state import AppState, Drawn

MIN_SIZE = (20, 5)  # columns and lines; a smaller screen shows only that it is too small
MIN_FOOTER_HEIGHT = 7  # lines of a screen with a footer
CELLS_BESIDE_MESSAGE = 21  # of the last line, for help and the way back
MIN_CELLS_BESIDE_BOX = 12  # on either side of a box; fewer are left blank, they would be fragments of words


class Spot(NamedTuple):
    """A box of cells with the action of a click on it, and its argument."""

    x: int
    y: int
    width: int
    height: int
    action: str
    argument: str = ""
    plot: tuple[int, int] = (0, 0)  # first cell and cells of a curve in it

    def holds(self, x: int, y: int) -> bool:
        """Whether it contains a cell."""
        return self.x <= x < self.x + self.width and self.y <= y < self.y + self.height


@dataclass(slots=True)
class Page:
    """Lines from the top, and spots on them; later spots take precedence.

    drawn: what keys and the next frame need to know of it.
    """

    lines: list[Line] = field(default_factory=list)
    spots: list[Spot] = field(default_factory=list)
    drawn: Drawn | None = None

    def spot_at(self, x: int, y: int) -> Spot | None:
        """The topmost spot at a cell."""
        return next((spot for spot in reversed(self.spots) if spot.holds(x, y)), None)

    def below(self, other: Page) -> Page:
        """This page with another one below it."""
        down = len(self.lines)
        moved = [spot._replace(y=spot.y + down) for spot in other.spots]
        return Page(self.lines + other.lines, self.spots + moved, other.drawn or self.drawn)


class PanePage(NamedTuple):
    """How a pane is drawn, and what else of the screen depends on it.

    filtered: a noun for what the filter searches, how many match, of how many (0: unknown). hints: other
    words for hints of the footer, empty to leave one out. notes: status of the pane for the footer. text:
    what a snapshot has in place of metrics. hints and text are for a width in cells.
    """

    draw: Callable[[AppState, int, int], Page]
    filtered: Callable[[AppState], tuple[str, int, int]] = lambda _: ("metric", 0, 0)
    hints: Callable[[AppState, int], Mapping[str, str]] = lambda _, _width: {}
    notes: Callable[[AppState], list[Span]] = lambda _: []
    text: Callable[[AppState, int], list[Line]] | None = None


def card_spots(cards: Sequence[MetricCard], rows: Sequence[Row], down: int = 0) -> list[Spot]:
    """Spots that select the rows of cards, moved down by so many lines."""
    spots = []
    for one in cards:
        plot = (AXIS + 1, one.width - AXIS - 1)
        spots.append(Spot(one.x, one.y + down, one.width, one.height, "select", rows[one.row].tag, plot))
    return spots


class Hint(NamedTuple):
    """What some keys do here, as drawn; a click on it does the action."""

    keys: str
    words: str
    action: str

    @property
    def cells(self) -> int:
        """The width with the gap behind it."""
        return cell_width(self.keys) + cell_width(self.words) + 3

    @property
    def spans(self) -> list[Span]:
        """The hint without the gap."""
        return [(self.keys, "accent"), (f" {self.words}", "dim")]


def hints_for(keys: Keys, words: Mapping[str, str], beside: Mapping[str, str] = {}) -> list[Hint]:
    """Hints for actions, by their words, with the user's keys; none for an action without words or keys.

    beside: for an action another one, whose key is told with its own.
    """
    hints = []
    for action, text in words.items():
        names = [keys.hint_of(one) for one in (action, beside.get(action, "")) if one]
        if text and names[0]:
            hints.append(Hint(" ".join(filter(None, names)), text, action))
    return hints


def fitting(hints: Sequence[Hint], room: int, kept: Sequence[str] = ()) -> list[Hint]:
    """The hints that fit into so many cells, in their order; those of actions in `kept` stay longest."""

    def rank(hint: Hint) -> int:
        return kept.index(hint.action) if hint.action in kept else len(kept)

    found = set()
    for hint in sorted(hints, key=rank):
        if hint.cells <= room:
            room -= hint.cells
            found.add(hint)
    return [hint for hint in hints if hint in found]


def hint_spots(hints: Iterable[Hint], x: int, y: int) -> list[Spot]:
    """Spots of hints that stand side by side, the first one at a cell."""
    spots = []
    for hint in hints:
        spots.append(Spot(x, y, hint.cells - 2, 1, hint.action))
        x += hint.cells
    return spots


def hint_bar(hints: Sequence[Hint], width: int, left: Sequence[Span] = ()) -> Page:
    """A line of hints, left-aligned, or right-aligned with other text on the left."""
    spans = [span for hint in hints for span in (*hint.spans, ("  ", "dim"))]
    x = width - sum(hint.cells for hint in hints) if left else 1
    bar = sides(left or [(" ", "dim"), *spans], spans if left else (), width, back="bar")
    return Page([bar], hint_spots(hints, x, 0))


def short_message(state: AppState, width: int) -> str:
    """The message, if the last line has room for it beside the most important keys; see `with_message`."""
    text = state.message
    return text if cell_width(text) <= width - CELLS_BESIDE_MESSAGE else ""


def with_message(state: AppState, page: Page, width: int, height: int) -> Page:
    """A page with a message that is too long for the last line, over the lines above it."""
    if not state.message or (height >= MIN_FOOTER_HEIGHT and short_message(state, width)):
        return page
    parts = wrap(state.message, max(width - 2, 8))[: max(height // 3, 1)]
    last = height - 1 if height >= MIN_FOOTER_HEIGHT else height
    lines = (page.lines + [BLANK] * height)[:height]
    lines[last - len(parts) : last] = [fill(line((f" {one}", "strong"), back="bar"), width) for one in parts]
    return Page(lines, page.spots, page.drawn)


def too_small(width: int, height: int) -> Page:
    """The page of a terminal that is too small."""
    words = (f"needs {MIN_SIZE[0]}x{MIN_SIZE[1]}", f"is {width}x{height}")
    return Page([line((fit(one, width), "dim")) for one in words][:height])


def scrolled(top: int, first: int, last: int, total: int, height: int) -> int:
    """The first visible line: `top` moved just far enough to show `first` to `last` of `total` lines."""
    top = min(top, max(total - height, 0), first)
    if last >= top + height:
        top = last - height + 1
    return max(top, 0)


def box(
    under: Page, lines: Sequence[Line], width: int, height: int, title: str,
    note: Sequence[Span] = (), hints: Sequence[Hint] = (),
) -> Page:  # fmt: skip
    """Lines in a frame over the middle of a page, which remains visible around it where it can be read.

    Lines that do not fit are cut off: callers scroll. note, hints: at the lower edge.
    """
    inner = min(max((cell_width(title) + 4, *(one.width for one in lines))), width - 4)
    inner = max(inner, 10)
    shown = list(lines)[: max(height - 4, 1)]
    x, y = (width - inner - 4) // 2, max((height - len(shown) - 2) // 2, 0)
    top = f"╭─ {fit(title, inner - 2)} "
    frame = [line((top, "dim"), ("─" * (inner + 3 - cell_width(top)) + "╮", "dim"), back="panel")]
    for one in shown:
        body = fill(one, inner)
        back = one.back
        spans = [(text, f"{role}/{back}" if back else role) for text, role in body.spans]
        frame.append(line(("│ ", "dim"), *spans, (" │", "dim"), back="panel"))
    hints = fitting(hints, inner - line(*note).width, ("back",))  # the last one has no gap behind it
    gaps = [span for hint in hints for span in (("  ", "dim"), *hint.spans)][1:]
    words = crop(line(*note, *gaps), inner - 2)
    rest = inner + 1 - words.width - (2 if words.spans else 0)
    closing = [(" ", "dim"), *words.spans, (" ", "dim")] if words.spans else []
    frame.append(line(("╰" + "─" * max(rest, 0), "dim"), *closing, ("─╯", "dim"), back="panel"))
    out = list(under.lines)
    out += [BLANK] * (height - len(out))
    for at, one in enumerate(frame):
        if y + at < height:
            out[y + at] = over(out[y + at] if x >= MIN_CELLS_BESIDE_BOX else BLANK, one, x, width)
    spots = [Spot(0, 0, width, height, "back"), Spot(x, y, inner + 4, len(frame), "nothing")]
    first = x + max(rest, 0) + 2 + line(*note).width
    return Page(out[:height], [*spots, *hint_spots(hints, first, y + len(frame) - 1)])


def over(under: Line, top: Line, x: int, width: int) -> Line:
    """A line drawn over another one from cell `x` on."""
    full = fill(under, width)
    left, right = _cells(full, 0, x), _cells(full, x + top.width, width)
    return line(*left, *((text, _back(role, top.back)) for text, role in top.spans), *right)


def _cells(source: Line, first: int, last: int) -> list[Span]:
    """The cells of a line from `first` up to `last`; half of a wide character becomes a blank."""
    spans: list[Span] = []
    at = 0
    for text, role in source.spans:
        cells = cell_width(text)
        low, high = max(first - at, 0), min(last - at, cells)
        if low < high:
            whole = (low, high) == (0, cells)
            piece = text if whole else text[low:high] if text.isascii() else _piece(text, low, high)
            spans.append((piece, _back(role, source.back)))
        at += cells
    return spans


def _piece(text: str, first: int, last: int) -> str:
    """The same for a text with characters of two cells, or none."""
    piece, at = "", 0
    for char in text:
        after = at + cell_width(char)
        if first <= at and after <= last:
            piece += char
        elif after > first and at < last:
            piece += " " * (min(after, last) - max(at, first))
        at = after
    return piece


def _back(role: str, back: str) -> str:
    return f"{role}/{back}" if back and "/" not in role else role

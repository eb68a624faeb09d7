"""Only cells that changed go to the terminal: what Textual wants to send, less what is there already.

Textual sends a changed line from the left edge of its widget, each run with all its colours. Here the
cells on the glass are remembered, and a frame becomes moves, changes of colour and the few characters
that differ. It leans on private parts of Textual; where these are not what was tested, or when anything
goes wrong, Textual's own way of sending is used. `RLTUI_SCREEN=stock` asks for that, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

import textual
from rich.cells import cell_len
from textual import events
from textual._compositor import ChopsUpdate, CompositorUpdate, LayoutUpdate

if TYPE_CHECKING:
    from rich.console import Console
    from rich.style import Style
    from textual.geometry import Size
    from textual.strip import Strip

TESTED = "8."  # releases of Textual whose private drawing interface is known
SYNC_START, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
_BRIDGE = 6  # fewer equal cells than this between changed ones are sent again if that is shorter than a move
_RUNS = 4096  # runs of text whose cells are remembered
_MOVE = 4  # bytes of a move within a line

# Attributes that show on a blank: underline, reverse, strike, double underline, frame, encircle, overline.
_LOUD = frozenset(("4", "7", "9", "21", "51", "52", "53"))
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}

Look = tuple[frozenset[str], str, str]  # attributes, foreground, background as SGR parameters; empty: default
Cell = tuple[str, Look | str]  # a character and its look; for a cell of a piece sent whole: its text
_PLAIN: Look = (frozenset(), "", "")


def usable() -> bool:
    """Whether this Textual is one whose drawing was tested, and nobody asked for the stock way."""
    return (
        os.environ.get("RLTUI_SCREEN") != "stock"
        and textual.__version__.startswith(TESTED)
        and all(hasattr(kind, "render_segments") for kind in (LayoutUpdate, ChopsUpdate))
    )


class Frame(CompositorUpdate):
    """An update whose bytes are known already."""

    def __init__(self, text: str) -> None:
        self.text = text

    def render_segments(self, console: Console) -> str:
        """The bytes."""
        return self.text


class Wire:
    """What is on the glass, cell by cell, and the shortest way to what should be."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell | None]] = {}
        self._size: tuple[int, int] = (0, 0)
        self._looks: dict[Style | None, Look] = {None: _PLAIN}
        self._turns: dict[tuple[Look, Look], str] = {}
        self._runs: dict[tuple[str, Style | None], list[Cell]] = {}  # most of a changed line was there before
        self.broken = False  # something was not as tested: everything is sent as Textual would

    def forget(self) -> None:
        """Nothing is known about the glass: a resize, a stop, another program has drawn."""
        self._rows.clear()

    def spare(self, update: CompositorUpdate, console: Console, size: Size) -> CompositorUpdate | None:
        """The same update in fewer bytes; None when the glass shows it already."""
        if self.broken or not isinstance(update, LayoutUpdate | ChopsUpdate):
            self.forget()
            return update
        if self._size != (size.width, size.height):
            self._size = (size.width, size.height)
            self.forget()
        if isinstance(update, LayoutUpdate):  # its lines may be iterators: both ways must see them
            update.strips = [list(line) for line in update.strips]
        try:
            text = self._frame(pieces_of(update), console)
        except Exception:  # noqa: BLE001 (another program's private parts: whatever fails, its own way is right)
            self.broken = True
            self.forget()
            return update
        return Frame(text) if text else None

    # ---- one frame

    def _frame(self, pieces: Iterable[tuple[int, int, Strip]], console: Console) -> str:
        pen = _Pen(self._turns)
        width = self._size[0]
        for y, x, strip in pieces:
            row = self._rows.get(y)
            if row is None or len(row) != width:
                row = self._rows[y] = [None] * width
            cells, whole = self._cells(strip, console)
            cells = cells[: max(width - x, 0)]
            end = x + len(cells)
            if row[x:end] == cells:
                continue
            if whole is not None:
                pen.verbatim(x, y, whole)
            else:
                pen.line(x, y, row, cells, width)
            row[x:end] = cells
        return pen.finish()

    def _cells(self, strip: Strip, console: Console) -> tuple[list[Cell], str | None]:
        """The cells of a strip; and its text to send as it is, when not all of its cells are one character.

        Terminals do not agree on the width of emoji and combining marks: moving about within such a line
        could put text into the wrong cell.
        """
        cells: list[Cell] = []
        for text, style, control in strip:
            run = self._runs.get((text, style))
            if run is None:
                if control or (not text.isascii() and cell_len(text) != len(text)) or _linked(style):
                    whole = strip.render(console)
                    return [(f"{index}", whole) for index in range(strip.cell_length)], whole
                if len(self._runs) > _RUNS:
                    self._runs.clear()
                run = self._runs[text, style] = self._run(text, self._look(style, console))
            cells += run
        return cells, None

    def _run(self, text: str, look: Look) -> list[Cell]:
        """The cells of text in one look."""
        if " " not in text:
            return [(char, look) for char in text]
        blank: Cell = (" ", look if look[0] & _LOUD else (frozenset(), "", look[2]))
        return [blank if char == " " else (char, look) for char in text]

    def _look(self, style: Style | None, console: Console) -> Look:
        look = self._looks.get(style)
        if look is None:
            assert style is not None
            if len(self._looks) > 4096:
                self._looks.clear()
                self._looks[None] = _PLAIN
            from textual.strip import Strip

            # Rendered by Textual itself, so that colours are reduced for poorer terminals in the same way.
            sample = Strip([_segment("x", style)]).render(console)
            look = self._looks[style] = parse(sample[2 : sample.index("m")] if sample[0] == "\x1b" else "")
        return look


class _Pen:
    """Writes cells, knowing where it is and in which colours."""

    def __init__(self, turns: dict[tuple[Look, Look], str]) -> None:
        self._out: list[str] = []
        self._x = self._y = -1  # unknown
        self._look = _PLAIN
        self._turns = turns

    def line(self, x: int, y: int, row: list[Cell | None], cells: list[Cell], width: int) -> None:
        """Write those of the cells at `x` that are not in the row."""
        done = -1  # cells that need no more thought
        for at, (old, new) in enumerate(zip(row[x:] if x else row, cells, strict=False)):
            if old is new or old == new:
                continue
            # A short gap of equal cells in the same colours is cheaper than a move over it.
            if 0 < at - done < _BRIDGE and done > 0 and self._cheap(cells[done:at]):
                for cell in cells[done:at]:
                    self._put(cell)
            elif at != done:
                self._go(x + at, y)
            self._put(new)
            done = at + 1
            self._x = x + done
        if self._x >= width:
            self._x = -1  # at the margin terminals differ in where they stand

    def verbatim(self, x: int, y: int, text: str) -> None:
        """Write text that brings its own colours."""
        self._turn(_PLAIN)
        self._go(x, y)
        self._out.append(text)
        self._x = self._y = -1

    def finish(self) -> str:
        """What was written, colours off at the end."""
        if self._out and self._look != _PLAIN:
            self._out.append("\x1b[0m")
        return "".join(self._out)

    def _cheap(self, cells: list[Cell]) -> bool:
        cost = 0
        for char, look in cells:
            cost += len(char.encode())
            if (
                cost > _MOVE
                or isinstance(look, str)
                or (look != self._look and (char != " " or _under(self._look, look) != self._look))
            ):
                return False
        return True

    def _go(self, x: int, y: int) -> None:
        if y == self._y and self._x >= 0 and x >= self._x:
            step = x - self._x
            if step:
                self._out.append(f"\x1b[{step}C" if step > 1 else "\x1b[C")
        else:
            self._out.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")
        self._x, self._y = x, y

    def _put(self, cell: Cell) -> None:
        char, look = cell
        assert not isinstance(look, str)
        if char == " ":
            look = _under(self._look, look)
        if look != self._look:
            self._turn(look)
        self._out.append(char)

    def _turn(self, look: Look) -> None:
        if look != self._look:
            key = (self._look, look)
            code = self._turns.get(key)
            if code is None:
                code = self._turns[key] = turn(*key)
            self._out.append(code)
            self._look = look


def _under(pen: Look, blank: Look) -> Look:
    """The look to write a blank with: only its background shows, so the pen keeps what it can."""
    if blank[0] & _LOUD:
        return blank
    return (pen[0] - _LOUD, pen[1], blank[2]) if pen[0] & _LOUD else (pen[0], pen[1], blank[2])


def parse(codes: str) -> Look:
    """SGR parameters as attributes, foreground, background."""
    attributes: list[str] = []
    fore = back = ""
    words = codes.split(";") if codes else []
    at = 0
    while at < len(words):
        word = words[at]
        if word in ("38", "48"):
            size = 5 if words[at + 1 : at + 2] == ["2"] else 3
            color = ";".join(words[at : at + size])
            fore, back = (color, back) if word == "38" else (fore, color)
            at += size
            continue
        number = int(word)
        if 30 <= number <= 39 or 90 <= number <= 97:
            fore = "" if number == 39 else word
        elif 40 <= number <= 49 or 100 <= number <= 107:
            back = "" if number == 49 else word
        else:
            attributes.append(word)
        at += 1
    return (frozenset(attributes), fore, back)


def turn(before: Look, after: Look) -> str:
    """The shortest sequence that changes one look into another."""
    full = ["0", *sorted(after[0]), *filter(None, after[1:])]
    if after == _PLAIN:
        return "\x1b[m"
    gone = before[0] - after[0]
    if any(word not in _OFF for word in gone):
        return f"\x1b[{';'.join(full)}m"
    off = sorted({_OFF[word] for word in gone})
    on = after[0] - before[0]
    if "22" in off:  # it ends both bold and dim
        on |= after[0] & {"1", "2"}
    words = [*off, *sorted(on)]
    if before[1] != after[1]:
        words.append(after[1] or "39")
    if before[2] != after[2]:
        words.append(after[2] or "49")
    return f"\x1b[{min(';'.join(words), ';'.join(full), key=len)}m"


def pieces_of(update: LayoutUpdate | ChopsUpdate) -> Iterator[tuple[int, int, Strip]]:
    """(row, column, strip) of what an update would send, in its order."""
    if isinstance(update, LayoutUpdate):
        for y, line in enumerate(update.strips, update.region.y):
            x = update.region.x
            for strip in line:
                yield y, x, strip
                x += strip.cell_length
        return
    for y, first, last in update.spans:
        for end, (x, chop) in zip(update.chop_ends[y], update.chops[y].items(), strict=False):
            if chop is None or x > last or end <= first:
                continue
            inside = last > x >= first and end <= last
            yield y, x, chop if inside else chop.crop(0, min(end, last) - x)


def _linked(style: Style | None) -> bool:
    return style is not None and style.link is not None


def _segment(text: str, style: Style) -> Any:
    from rich.segment import Segment

    return Segment(text, style)


class CellDiff:
    """Mixed into an App before it: its frames go through a `Wire`."""

    wire: Wire | None = None
    _framed = False  # the update under way is a frame of the wire

    def use_wire(self) -> None:
        """Send only changed cells from now on, where this Textual is known."""
        self.wire = Wire() if usable() else None

    def draw(self, lines: list[tuple[int, Strip]]) -> bool:
        """Send whole lines of the screen without composing it; False where that is Textual's affair."""
        app: Any = self
        if self.wire is None or self.wire.broken or app._batch_count or len(app.screen_stack) != 1:
            return False
        width, height = app.size
        chops: list[dict[int, Strip | None]] = [{} for _ in range(height)]
        for y, strip in lines:
            chops[y][0] = strip
        ends = [[width]] * height
        self._display(app.screen, ChopsUpdate(chops, [(y, 0, width) for y, _ in lines], ends))
        return True

    def _display(self, screen: Any, renderable: Any) -> None:
        app: Any = self
        # The conditions under which Textual sends at all: what is remembered must have been sent.
        if (
            self.wire is not None
            and isinstance(renderable, CompositorUpdate)
            and app._running
            and not app._closed
            and not app._batch_count
            and not app.is_headless
            and app._driver is not None
            and not app._driver.is_inline
        ):
            renderable = self.wire.spare(renderable, app.console, app.size)
            if isinstance(renderable, Frame) and app._sync_available:
                renderable.text = f"{SYNC_START}{renderable.text}{SYNC_END}"
        self._framed = isinstance(renderable, Frame)
        super()._display(screen, renderable)  # type: ignore[misc]

    # One write for a frame, not three: each wakes the thread that sends.

    def _begin_update(self) -> None:
        if not self._framed:
            super()._begin_update()  # type: ignore[misc]

    def _end_update(self) -> None:
        if not self._framed:
            super()._end_update()  # type: ignore[misc]

    async def on_event(self, event: events.Event) -> None:
        """A resize leaves the glass in a state that only the terminal knows."""
        if isinstance(event, events.Resize) and self.wire is not None:
            self.wire.forget()
        await super().on_event(event)  # type: ignore[misc]

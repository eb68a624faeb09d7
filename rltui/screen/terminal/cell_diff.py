"""Sends only changed cells to the terminal.

Textual sends a changed line as a whole, from the left edge of its widget: its `ChopsUpdate` does not crop.
Here the cells on the terminal are remembered, and a frame becomes cursor moves, changes of colour and the
characters that differ: 13 times fewer bytes per update. Only `CellDiffApp` depends on how Textual sends; with
an untested release, after an error, or with `RLTUI_SCREEN=stock`, Textual sends the lines.
tests/screen/test_cell_diff.py fails when a release of Textual crops.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

import textual
from rich.console import Console, RenderableType
from rich.segment import Segment
from rich.style import Style
from textual import events
from textual._compositor import CompositorUpdate
from textual.app import App
from textual.screen import Screen
from textual.strip import Strip

from rltui.common.display_text import cell_width

TESTED_VERSION = "8."  # of Textual, whose private drawing interface is known
SYNC_START, SYNC_END = "\x1b[?2026h", "\x1b[?2026l"
_MIN_GAP = 6  # cells: shorter gaps are sent again if that takes fewer bytes than a move
_MAX_RUNS = 4096  # of text whose cells are cached
_MOVE_BYTES = 4  # bytes of a move within a line

# Attributes that show on a blank: underline, reverse, strike, double underline, frame, encircle, overline.
_SHOWS_ON_BLANK = frozenset(("4", "7", "9", "21", "51", "52", "53"))
_OFF = {"1": "22", "2": "22", "3": "23", "4": "24", "7": "27", "9": "29"}

Look = tuple[frozenset[str], str, str]  # attributes, foreground, background as SGR parameters; empty: default
Cell = tuple[str, Look]  # a character, or the bytes of a line that is sent whole, and its look
PLAIN: Look = (frozenset(), "", "")


def usable() -> bool:
    """Whether this release of Textual was tested, and `RLTUI_SCREEN` does not disable the diff."""
    return os.environ.get("RLTUI_SCREEN") != "stock" and _is_tested(Path(textual.__file__).parent)


def _is_tested(package: Path) -> bool:
    """Whether a tested release is installed in a folder, by the folder of its metadata beside that.

    `textual.__version__` reads them with a package that imports email and archives: 12 ms of every start.
    """
    beside = any(package.parent.glob(f"textual-{TESTED_VERSION}*.dist-info"))
    return beside or textual.__version__.startswith(TESTED_VERSION)


class CellDiff:
    """The cells on the terminal, and the shortest output that changes them."""

    def __init__(self) -> None:
        self._rows: dict[int, list[Cell]] = {}
        self._looks: dict[Style | None, Look] = {None: PLAIN}
        self._runs: dict[tuple[str, Style | None], list[Cell]] = {}  # most of a changed line is unchanged

    def forget(self) -> None:
        """Forget the cells on the terminal, after a resize or a stop."""
        self._rows.clear()

    def frame(self, lines: Iterable[tuple[int, Iterable[Segment]]], console: Console) -> str:
        """The bytes that put lines, by row and as wide as the screen, on the terminal; empty if they are."""
        pen = _Pen()
        for y, segments in lines:
            cells, whole = self._cells(segments, console)
            row = self._rows.get(y, [])
            if row == cells:
                continue
            if whole:
                pen.write_whole(y, whole)
            else:
                pen.write_line(y, row, cells)
            self._rows[y] = cells
        return pen.finish()

    def _cells(self, segments: Iterable[Segment], console: Console) -> tuple[list[Cell], str]:
        """The cells of a line; and its bytes to send as they are, when some character is not one cell.

        Terminals do not agree on the width of emoji and combining marks: moving about within such a line
        could put text into the wrong cell.
        """
        cells: list[Cell] = []
        for text, style, _ in segments:
            run = self._runs.get((text, style))
            if run is None:
                if cell_width(text) != len(text):
                    strip = Strip(segments)
                    whole = strip.render(console)
                    return [(whole, PLAIN)] * strip.cell_length, whole
                if len(self._runs) > _MAX_RUNS:
                    self._runs.clear()
                look = self._look(style, console)
                blank: Cell = (" ", look if look[0] & _SHOWS_ON_BLANK else (frozenset(), "", look[2]))
                run = [blank if char == " " else (char, look) for char in text]
                self._runs[text, style] = run
            cells += run
        return cells, ""

    def _look(self, style: Style | None, console: Console) -> Look:
        """Rendered by Textual itself, so that colours are reduced for poorer terminals in the same way."""
        if style is None or style in self._looks:
            return self._looks[style]

        def codes(part: Style, default: str = "") -> str:
            sample = Strip([Segment("x", part)]).render(console)
            found = sample[2 : sample.index("m")] if sample.startswith("\x1b") else ""
            return "" if found == default else found

        attributes = frozenset(filter(None, codes(style.without_color).split(";")))
        fore, back = codes(Style(color=style.color), "39"), codes(Style(bgcolor=style.bgcolor), "49")
        self._looks[style] = (attributes, fore, back)
        return self._looks[style]


class _Pen:
    """Collects the cells of a frame that change, and writes all cells of one look before those of the next.

    A change of colours takes 20 bytes, a move 8: at 140x45 an update of the policy pane takes 828 instead of
    1,513 bytes, and a frame with other curves 8.8 instead of 14 kB.
    """

    def __init__(self) -> None:
        self._texts: dict[Look, list[tuple[int, int, str]]] = {}  # row, column and text
        self._whole: list[str] = []  # lines that bring their own colours

    def write_line(self, y: int, row: list[Cell], cells: list[Cell]) -> None:
        """Write those cells of a line that are not in the row already."""
        if len(row) != len(cells):
            row = [("", PLAIN)] * len(cells)
        start = done = 0  # of the text
        text, look, same = "", PLAIN, PLAIN  # same: another object that fits the look, of blanks
        for at, end in _changed(row, cells):
            # A short gap of equal cells in the same colours is cheaper than a move over it.
            if text and at - done < _MIN_GAP and _shorter_than_move(cells[done:at], cells[at], look):
                at = done
            elif at != done:
                self._add(y, start, text, look)
                start, text = at, ""
            for char, wanted in cells[at:end]:
                if wanted is not look and wanted is not same:
                    if not _fits(char, wanted, look):
                        if text.strip(" ") or not _fits(" ", look, wanted):
                            self._add(y, start, text, look)
                            start, text = start + len(text), ""
                        look = wanted
                    same = wanted
                text += char
            done = end
        self._add(y, start, text, look)

    def write_whole(self, y: int, text: str) -> None:
        """Write a line that brings its own colours."""
        self._whole.append(f"\x1b[{y + 1}H{text}")

    def _add(self, y: int, x: int, text: str, look: Look) -> None:
        if text:
            self._texts.setdefault(look, []).append((y, x, text))

    def finish(self) -> str:
        """What was written, colours off at the end."""
        out, look = self._whole, PLAIN
        for wanted in sorted(self._texts, key=lambda one: (one[2], one[1], sorted(one[0]))):
            if wanted != look:
                out.append(turn(look, wanted))
            look, row, column = wanted, -1, 0  # where the cursor is; unknown at first
            for y, x, text in self._texts[wanted]:
                if y != row or x < column:
                    out.append(f"\x1b[{y + 1};{x + 1}H" if x else f"\x1b[{y + 1}H")
                elif x > column:
                    out.append(f"\x1b[{x - column}C" if x > column + 1 else "\x1b[C")
                out.append(text)
                row, column = y, x + len(text)
        if look != PLAIN:
            out.append("\x1b[0m")
        return "".join(out)


def _shorter_than_move(gap: list[Cell], beyond: Cell, look: Look) -> bool:
    """Whether a gap can be written in fewer bytes than a move takes, and the cell beyond in the same look."""
    return sum(len(char.encode()) for char, _ in gap) <= _MOVE_BYTES and all(
        wanted == look or _fits(char, wanted, look) for char, wanted in (*gap, beyond)
    )


def _fits(char: str, wanted: Look, look: Look) -> bool:
    """Whether a cell may be written in a look: of a quiet blank only the background shows."""
    if wanted == look:
        return True
    return char == " " and wanted[2] == look[2] and not (wanted[0] or look[0] & _SHOWS_ON_BLANK)


def _changed(row: list[Cell], cells: list[Cell]) -> list[tuple[int, int]]:
    """The ranges of cells that differ from those of a row of the same length: first, last + 1."""
    found: list[tuple[int, int]] = []
    start = end = -1
    for at, (old, new) in enumerate(zip(row, cells, strict=True)):
        if old is new or old == new:
            continue
        if at != end:
            if start >= 0:
                found.append((start, end))
            start = at
        end = at + 1
    if start >= 0:
        found.append((start, end))
    return found


@lru_cache(maxsize=1024)
def turn(before: Look, after: Look) -> str:
    """The shortest sequence that changes one look into another."""
    if after == PLAIN:
        return "\x1b[m"
    full = ["0", *sorted(after[0]), *filter(None, after[1:])]
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


class LinesUpdate(CompositorUpdate):
    """Whole lines of the screen by row, past the compositor."""

    def __init__(self, lines: Sequence[tuple[int, Sequence[Segment] | Strip]]) -> None:
        self.lines = lines

    def render_segments(self, console: Console) -> str:
        """The lines as Textual would send them."""
        return "".join(f"\x1b[{y + 1}H{Strip(segments).render(console)}" for y, segments in self.lines)


class CellDiffApp(App[int], inherit_bindings=False):
    """An app with one screen, all of whose lines `screen_lines` knows, that sends only changed cells."""

    cell_diff: CellDiff | None = None

    def use_cell_diff(self) -> None:
        """Send only changed cells from now on, where this Textual is known."""
        self.cell_diff = CellDiff() if usable() else None

    def screen_lines(self) -> list[Strip]:
        """Every line of the screen, as wide as it; none while there is nothing to show."""
        return []

    def draw(self, lines: Sequence[tuple[int, Sequence[Segment]]]) -> bool:
        """Send lines of the screen without composing it; False where that is Textual's affair."""
        if self.cell_diff is None or self._batch_count or len(self.screen_stack) != 1:
            return False
        self._display(self.screen, LinesUpdate(lines))
        return True

    def _display(self, screen: Screen[object], renderable: RenderableType | CompositorUpdate | None) -> None:
        text = self._changes(renderable)
        if text is None:
            super()._display(screen, renderable)  # type: ignore[arg-type]  # it takes both
        elif text and self._driver is not None:
            # One write, with its marks: each write wakes the thread that sends.
            self._driver.write(f"{SYNC_START}{text}{SYNC_END}" if self._sync_available else text)
            self.post_display_hook()

    def _changes(self, update: object) -> str | None:
        """The bytes of what an update changes; None where Textual shall send it."""
        if self.cell_diff is None or not isinstance(update, CompositorUpdate):
            return None
        # The conditions under which Textual sends at all: what is remembered must have been sent.
        driver = self._driver
        if not self._running or self._closed or self._batch_count or self.is_headless:
            return None
        if driver is None or driver.is_inline:
            return None
        # What Textual composes is the screen that is known here: nothing lies over or beside its lines.
        lines: Sequence[tuple[int, Sequence[Segment] | Strip]] = (
            update.lines if isinstance(update, LinesUpdate) else list(enumerate(self.screen_lines()))
        )
        if not lines or len(self.screen_stack) != 1:
            self.cell_diff.forget()
            return None
        try:
            return self.cell_diff.frame(lines, self.console)
        except Exception:  # noqa: BLE001 (private parts of Textual: whatever fails, its own way is right)
            self.cell_diff = None
            return None

    async def on_event(self, event: events.Event) -> None:
        """Forget the cells on the terminal after a resize."""
        if isinstance(event, events.Resize) and self.cell_diff is not None:
            self.cell_diff.forget()
        await super().on_event(event)

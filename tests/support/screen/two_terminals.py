"""Two terminals side by side: one is sent what Textual sends, the other what the cell diff makes of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyte
from rich.console import Console
from textual._compositor import CompositorUpdate
from textual.geometry import Size
from textual.strip import Strip

from rltui.screen.terminal.cell_diff import CellDiff, LinesUpdate

Cell = tuple[Any, ...]


def seen(char: pyte.screens.Char) -> Cell:
    """What a person sees of a cell: the colour of letters does not show on a blank."""
    loud = char.underscore or char.strikethrough or char.reverse
    if char.data == " " and not loud:
        return (" ", char.bg)
    return tuple(char)


class TwoTerminals:
    """Feed it every frame of an app; `differ` lists the cells that are not the same on both."""

    def __init__(self, cell_diff: CellDiff, width: int, height: int) -> None:
        self.cell_diff = cell_diff
        self.stock_bytes = self.diff_bytes = self.frames = 0
        self.resize(width, height)

    def resize(self, width: int, height: int) -> None:
        """New terminals; what was on them is gone, as nobody can know what a terminal makes of it."""
        self.size = Size(width, height)
        self.stock, self.spared = pyte.Screen(width, height), pyte.Screen(width, height)
        self._streams = (pyte.Stream(self.stock), pyte.Stream(self.spared))
        for stream in self._streams:
            stream.feed("\x1b[?7l")  # no wrapping, as the driver asks for

    def show(self, update: CompositorUpdate, console: Console, whole: Sequence[Strip] = ()) -> str:
        """A frame for both; returns what the diff sent. `whole`: all lines, for what Textual composed."""
        lines = update.lines if isinstance(update, LinesUpdate) else list(enumerate(whole))
        text = self.cell_diff.frame(lines, console)
        stock = update.render_segments(console)
        self._streams[0].feed(stock + "\x1b[1;1H")
        self._streams[1].feed(text + "\x1b[1;1H")
        self.stock_bytes += len(stock.encode())
        self.diff_bytes += len(text.encode())
        self.frames += 1
        return text

    def differ(self, other: pyte.Screen | None = None) -> list[tuple[int, int, Cell, Cell]]:
        """(row, column, stock, spared) of every cell that a person sees otherwise."""
        stock = self.stock if other is None else other
        return [
            (y, x, seen(stock.buffer[y][x]), seen(self.spared.buffer[y][x]))
            for y in range(self.size.height)
            if stock.buffer[y] != self.spared.buffer[y]
            for x in range(self.size.width)
            if seen(stock.buffer[y][x]) != seen(self.spared.buffer[y][x])
        ]

    def differ_from(self, whole: CompositorUpdate, console: Console) -> list[tuple[int, int, Cell, Cell]]:
        """The same beside a new terminal that is sent the whole screen once."""
        fresh = pyte.Screen(self.size.width, self.size.height)
        pyte.Stream(fresh).feed("\x1b[?7l" + whole.render_segments(console))
        return self.differ(fresh)

"""Programs to compare with: `python -m tests.support.screen.peers hello`, or `widgets HZ`.

`widgets` shows twelve series with Textual's own Sparkline and their values in its DataTable, fed from memory.
"""

from __future__ import annotations

import math
import random
import sys
from typing import Any

from textual.app import App, ComposeResult
from textual.events import Key
from textual.widgets import Static

SERIES = 12
POINTS = 120


class Hello(App[None]):
    """The least that an application can be."""

    def compose(self) -> ComposeResult:
        """One line."""
        yield Static("hello, world")

    def on_key(self, event: Key) -> None:
        """The least that a key can do: another word in the line."""
        self.query_one(Static).update(f"hello, {event.key}")


def widgets(hz: float) -> App[None]:
    """The obvious way to build a monitor; the widgets are imported where hello does not pay for them."""
    from textual.containers import Grid
    from textual.widgets import DataTable, Footer, Sparkline, TabbedContent, TabPane

    class Widgets(App[None]):
        CSS = "Grid { grid-size: 3; height: 30; } Sparkline { height: 6; } DataTable { height: 10; }"

        def __init__(self) -> None:
            super().__init__()
            self._draw = random.Random(7)
            self._series = [[self._value(i, at) for at in range(POINTS)] for i in range(SERIES)]
            self._at = POINTS

        def _value(self, index: int, at: int) -> float:
            return 1 + 0.2 * math.sin(at / 90 + index) + self._draw.gauss(0, 0.04)

        def compose(self) -> ComposeResult:
            with TabbedContent():
                with TabPane("overview"):
                    with Grid():
                        for values in self._series:
                            yield Sparkline(list(values))
                    yield DataTable()
                with TabPane("reward"):
                    yield Static("reward")
            yield Footer()

        def on_mount(self) -> None:
            table: DataTable[Any] = self.query_one(DataTable)
            table.add_columns("metric", "last", "change")
            for index in range(SERIES):
                table.add_row(f"metric {index}", "", "", key=str(index))
            self._columns = list(table.columns)
            if hz:
                self.set_interval(1 / hz, self._tick)

        def _tick(self) -> None:
            table: DataTable[Any] = self.query_one(DataTable)
            for index, spark in enumerate(self.query(Sparkline)):
                values = self._series[index]
                values.append(self._value(index, self._at))
                del values[0]
                spark.data = list(values)
                table.update_cell(str(index), self._columns[1], f"{values[-1]:.4f}")
                table.update_cell(str(index), self._columns[2], f"{values[-1] - values[-2]:+.4f}")
            self._at += 1

    return Widgets()


if __name__ == "__main__":
    (Hello() if sys.argv[1] == "hello" else widgets(float(sys.argv[2]))).run()

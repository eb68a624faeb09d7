"""Only changed cells are sent, and the screen is the same as if everything had been."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.segment import Segment
from rich.style import Style
from textual._compositor import CompositorUpdate
from textual.app import App, ComposeResult
from textual.geometry import Region
from textual.pilot import Pilot
from textual.strip import Strip
from textual.widget import Widget

from rltui.logs.follow.follower import Follower
from rltui.screen.app import Monitor
from rltui.screen.start import build
from rltui.screen.terminal import cell_diff
from rltui.screen.terminal.cell_diff import PLAIN, CellDiff, LinesUpdate, Look, turn, usable
from rltui.session.session import Session
from tests.support.screen.growing_run import Paced
from tests.support.screen.two_terminals import TwoTerminals

WIDTH, HEIGHT = 24, 4
CONSOLE = Console(file=io.StringIO(), force_terminal=True, color_system="truecolor")


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.at = 1_763_600_000.0

    def __call__(self) -> float:
        return self.at


class Watched:
    """A monitor of a growing run, without threads, whose frames go to two terminals."""

    def __init__(self, folder: Path, name: str = "grpo-7b", size: tuple[int, int] = (140, 45)) -> None:
        self.clock = Clock()
        self.run = Paced(folder, name=name, clock=self.clock)
        self.session = Session()
        self._follower = Follower([folder], clock=self.clock)
        self.read()
        self.app: Monitor = build(self.session, [str(folder)], clock=self.clock)
        self.terminals = TwoTerminals(CellDiff(), *size)
        self.composings = 0  # frames that Textual put together
        self.app._display = self._display

    def _display(self, screen: Any, renderable: Any) -> None:
        if renderable is not None:
            self.composings += sys._getframe(1).f_code.co_name == "_compositor_refresh"
            size = self.app.size
            if (size.width, size.height) != (self.terminals.size.width, self.terminals.size.height):
                self.terminals.resize(size.width, size.height)
            self.terminals.show(renderable, self.app.console, self.app.screen_lines())
            assert self.terminals.differ() == []
        self.app.post_display_hook()

    def composed(self) -> list[Any]:
        """The cells that are not what Textual would show if it composed the whole screen now."""
        whole: Any = self.app.screen._compositor.render_update(full=True)
        return self.terminals.differ_from(whole, self.app.console)

    def read(self) -> None:
        """Take in what has been written."""
        self.session.apply(self._follower.poll())
        while not self._follower.caught_up:
            self.session.apply(self._follower.poll())
        self.session.evaluate(force=True)

    def step(self) -> None:
        """One more step is written, read and drawn."""
        self.clock.at += 2.0
        self.run.step()
        self.read()
        self.app.paint()

    async def sent(self, pilot: Pilot[int]) -> list[int]:
        """Bytes of each of twelve more steps."""
        found = []
        for _ in range(12):
            before = self.terminals.diff_bytes
            self.step()
            await pilot.pause()
            found.append(self.terminals.diff_bytes - before)
        return found


def usual(folder: Path) -> Watched:
    """With 400 steps of 60 metrics."""
    return Watched(folder)


async def test_every_frame_leaves_the_same_screen(tmp_path: Path) -> None:
    """Panes, updates, pages over pages, themes, filters and resizes look as if Textual had sent them."""
    watched = usual(tmp_path)
    app = watched.app
    async with app.run_test(size=(140, 45)) as pilot:
        app.paint()
        await pilot.pause()
        for keys in (
            "2 3 4 5 1", "j j enter z l escape", "H escape", "r escape", "colon k l escape", "t t",
            "slash k l enter escape", "9 pagedown pagedown", "f", "p", "left_square_bracket p", "a 3 a 1",
        ):  # fmt: skip
            for key in keys.split():
                await pilot.press(key)
                await pilot.pause()
            watched.step()
            await pilot.pause()
            assert watched.composed() == [], keys
        for size in ((80, 24), (40, 12), (20, 5), (100, 30)):
            await pilot.resize_terminal(*size)
            await pilot.pause()
            watched.step()
            await pilot.pause()
            assert watched.composed() == [], size
    assert watched.terminals.frames > 40
    assert watched.terminals.diff_bytes < watched.terminals.stock_bytes / 2


@pytest.mark.parametrize(
    ("name", "value"), [("NO_COLOR", "1"), ("RLTUI_SCREEN", "stock"), ("RLTUI_SCREEN", "")]
)
async def test_where_only_lines_change_nothing_is_composed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    """Changed lines go past the compositor and look as if they had not; without the diff it composes."""
    monkeypatch.setenv(name, value)
    watched = usual(tmp_path)
    async with watched.app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        before = watched.composings
        for key in "231":
            await pilot.press(key)
            watched.step()
            await pilot.pause()
        assert (watched.composings > before) == (value == "stock")
        assert watched.composed() == []


async def test_characters_of_disputed_width_do_not_move_their_neighbours(tmp_path: Path) -> None:
    """A line with emoji or wide letters is sent whole whenever it changes."""
    watched = Watched(tmp_path, name="実験-👍🏽-e\u0301")
    async with watched.app.run_test(size=(140, 45)) as pilot:
        for key in ("1", "r", "escape", "3"):
            await pilot.press(key)
            watched.step()
            await pilot.pause()
        assert "実験" in watched.terminals.spared.display[0].replace(" ", "")


@pytest.mark.parametrize("key", ["1", "3"])
async def test_an_update_of_sixty_metrics_takes_less_than_two_packets(tmp_path: Path, key: str) -> None:
    """At 140x45 a new step of 60 metrics sends at most 1.5 KB, median of twelve, overview and metric pane."""
    watched = usual(tmp_path)
    async with watched.app.run_test(size=(140, 45)) as pilot:
        await pilot.press(key)
        await pilot.pause()
        sent = await watched.sent(pilot)
        assert sorted(sent)[6] <= 1500, sent
        assert min(sent) > 0


async def test_nothing_is_sent_while_nothing_changes(tmp_path: Path) -> None:
    """A tick of the clock without news makes no frame at all."""
    watched = usual(tmp_path)
    async with watched.app.run_test(size=(140, 45)) as pilot:
        watched.step()
        await pilot.pause()
        frames = watched.terminals.frames
        for _ in range(10):
            watched.clock.at += 1.0
            watched.app._second()
            watched.app.paint()
            await pilot.pause()
        assert watched.terminals.frames == frames


async def test_a_forgotten_screen_is_painted_whole(tmp_path: Path) -> None:
    """After a stop, or when another program has drawn, a repaint sends every cell."""
    watched = usual(tmp_path)
    async with watched.app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        watched.terminals.cell_diff.forget()
        watched.terminals.resize(140, 45)
        before = watched.terminals.diff_bytes
        watched.app.line_widget.repaint()
        await pilot.pause()
        assert watched.terminals.diff_bytes - before > 140 * 45
        assert watched.terminals.differ() == []


# ---- the diff itself

colors = st.sampled_from([None, "red", "bright_blue", "color(130)", "#10131a", "#e6b566", "default"])
flags = st.sampled_from([None, True])
styles = st.one_of(
    st.none(),
    st.builds(
        Style,
        color=colors,
        bgcolor=colors,
        bold=flags,
        dim=flags,
        italic=flags,
        underline=flags,
        reverse=flags,
        strike=flags,
    ),
)
texts = st.text(st.sampled_from(" " * 6 + "ab·⣿▁漢"), min_size=1, max_size=9)
rows = st.lists(st.tuples(texts, styles), max_size=9)


def layout(y: int, row: list[tuple[str, Style | None]]) -> LinesUpdate:
    """A line of the screen, exactly as wide as it."""
    strip = Strip([Segment(text, style) for text, style in row]).adjust_cell_length(WIDTH)
    return LinesUpdate([(y, strip)])


@given(st.lists(st.tuples(st.integers(0, HEIGHT - 1), rows), max_size=12))
def test_any_lines_in_any_order_leave_the_same_screen(updates: list[tuple[int, Any]]) -> None:
    """Whatever is drawn over whatever, every cell and colour is right."""
    terminals = TwoTerminals(CellDiff(), WIDTH, HEIGHT)
    for y, row in updates:
        terminals.show(layout(y, row), CONSOLE)
        assert terminals.differ() == []


@pytest.mark.parametrize("system", ["standard", "256", "truecolor"])
def test_colours_are_reduced_as_textual_does(system: Any) -> None:
    """On terminals with fewer colours the diff sends the same ones as the stock way."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system=system)
    terminals = TwoTerminals(CellDiff(), WIDTH, HEIGHT)
    style = Style(color="#74c7e0", bgcolor="#161b26", bold=True)
    terminals.show(layout(0, [("abc", style), ("de", None), ("f", Style(color="#e06c75"))]), console)
    terminals.show(layout(0, [("abd", style), ("de", style), ("f", None)]), console)
    assert terminals.differ() == []


def test_one_changed_cell_is_a_move_and_a_character() -> None:
    """What did not change is not sent, neither are colours that hold."""
    terminals = TwoTerminals(CellDiff(), WIDTH, HEIGHT)
    style = Style(color="#74c7e0", bgcolor="#161b26")
    terminals.show(layout(1, [("0123456789", style)]), CONSOLE)
    sent = terminals.show(layout(1, [("0123x56789", style)]), CONSOLE)
    assert sent == "\x1b[38;2;116;199;224;48;2;22;27;38m\x1b[2;5Hx\x1b[0m"
    assert terminals.show(layout(1, [("0123x56789", style)]), CONSOLE) == ""


def test_each_colour_is_set_once_a_frame() -> None:
    """Cells of one colour are sent together, wherever they are; blanks go with the text beside them."""
    terminals = TwoTerminals(CellDiff(), WIDTH, HEIGHT)
    red, blue = Style(color="red"), Style(color="blue")
    lines = [Strip([Segment("ab", red), Segment(" cd", blue), Segment("  ef", red)]) for _ in range(HEIGHT)]
    sent = terminals.show(LinesUpdate(list(enumerate(lines))), CONSOLE)
    assert terminals.differ() == []
    assert sent.count("m") == 3  # red, blue, off


def test_a_move_is_not_made_where_writing_is_shorter() -> None:
    """Short gaps of equal cells are written over; longer ones are moved over."""
    terminals = TwoTerminals(CellDiff(), WIDTH, HEIGHT)
    terminals.show(layout(0, [("a..b.......c", None)]), CONSOLE)
    assert terminals.show(layout(0, [("A..B.......C", None)]), CONSOLE) == "\x1b[1HA..B\x1b[7CC"


def look(attributes: str = "", fore: str = "", back: str = "") -> Look:
    """A look of some attributes and colours."""
    return (frozenset(attributes.split()), fore, back)


@pytest.mark.parametrize(
    ("before", "after", "sent"),
    [
        (look("1", "38;2;1;2;3", "48;5;7"), look("", "38;2;1;2;3", "48;5;7"), "\x1b[22m"),
        (look("", "31", "44"), look("", "32", "44"), "\x1b[32m"),
        (look("", "31", "44"), look("", "31"), "\x1b[49m"),
        (look("1", "31"), look("2", "31"), "\x1b[22;2m"),
        (look("1 2", "38;2;1;2;3"), look("1", "38;2;1;2;3"), "\x1b[22;1m"),
        (look("1", "31"), PLAIN, "\x1b[m"),
        (look("6", "31"), look("", "31"), "\x1b[0;31m"),
    ],
)
def test_a_change_of_colours_sends_what_changes(before: Look, after: Look, sent: str) -> None:
    """Only the attribute or colour that is new goes out."""
    assert turn(before, after) == sent


# ---- the guard


def test_an_unknown_textual_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The diff works only with releases whose drawing was tested, and never when the user says no."""
    assert usable()
    monkeypatch.setenv("RLTUI_SCREEN", "stock")
    assert not usable()
    monkeypatch.delenv("RLTUI_SCREEN")
    monkeypatch.setattr(cell_diff, "TESTED_VERSION", "9.")
    assert not usable()


def test_a_release_without_metadata_beside_it_is_asked_for_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where it is imported from a checkout or an archive."""
    monkeypatch.setattr(cell_diff.textual, "__file__", str(tmp_path / "textual" / "__init__.py"))
    assert usable()
    monkeypatch.setattr(cell_diff.textual, "__version__", "9.0.0")
    assert not usable()


async def test_when_the_diff_fails_textual_sends_as_it_always_did(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An error in private matters costs bytes, not the screen."""
    watched = usual(tmp_path)
    app = watched.app

    def fail(*_: Any) -> str:
        raise AttributeError("moved in 8.9")

    async with app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        assert app.cell_diff is not None
        monkeypatch.setattr(app.cell_diff, "frame", fail)
        monkeypatch.setattr(type(app), "is_headless", False)
        assert app._changes(LinesUpdate([(0, Strip.blank(140))])) is None
        assert app.cell_diff is None
        assert not app.draw([(0, Strip.blank(140))])


async def test_textual_still_sends_lines_from_their_left_edge() -> None:
    """One changed cell costs half a line without the diff; a Textual that crops makes the diff needless."""

    class Line(Widget):
        text = "x" * 100

        def render_line(self, y: int) -> Strip:
            return Strip([Segment(self.text)])

    sent: list[str] = []

    class OneLine(App[None]):
        def compose(self) -> ComposeResult:
            yield Line()

        def _display(self, screen: Any, renderable: Any) -> None:
            if isinstance(renderable, CompositorUpdate):
                sent.append(renderable.render_segments(self.console))
            super()._display(screen, renderable)

    app = OneLine()
    async with app.run_test(size=(100, 4)) as pilot:
        line = app.query_one(Line)
        await pilot.pause()
        sent.clear()
        line.text = "x" * 50 + "y" + "x" * 49
        line.refresh(Region(50, 0, 1, 1))
        await pilot.pause()
    (text,) = sent
    assert text.startswith("\x1b[1;1Hx") and len(text) > 50, "Textual crops to what changed: drop cell_diff"

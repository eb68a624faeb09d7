"""Every key of the table: it reaches the screen from a terminal, and does what help says."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from textual._xterm_parser import XTermParser
from textual.events import Click, Key, MouseMove

from rltui.logs.batch import Batch
from rltui.logs.run_names import shown_name
from rltui.metrics.definitions import definitions
from rltui.panes.pane_tabs import PANES, PaneTab
from rltui.screen.input.dispatch import _key_context
from rltui.screen.input.key_table import Bind, bindings, key_name, shown
from rltui.screen.pages.lists import problems_page
from rltui.screen.pages.overlays import list_content
from rltui.screen.shown_run import tabs as shown_tabs
from rltui.screen.shown_run import unacknowledged as counting_findings
from rltui.screen.state import ChartOverlay, ListOverlay
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.screens import Screen, monitor, opened, screen_of, warned

# Keys of the samples pane have their own cases beside its tests.
TABLE = [bind for bind in bindings() if bind.where not in ("samples", "console")]
KEYS = [(bind, key) for bind in TABLE for key in bind.keys]
# What a terminal sends for keys that are no characters.
SENT = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F", "tab": "\t", "shift+tab": "\x1b[Z",
    "enter": "\r", "backspace": "\x7f", "f1": "\x1bOP",
}  # fmt: skip


@pytest.mark.parametrize("key", sorted({key for bind in bindings() for key in bind.keys} - {"escape"}))
def test_every_key_arrives_from_a_terminal(key: str) -> None:
    """What a terminal sends for a key is the key that the table of bindings means."""
    sent = SENT.get(key) or (chr(ord(key[-1]) - 96) if key.startswith("ctrl+") else key)
    events = [event for event in XTermParser().feed(sent) if isinstance(event, Key)]
    assert [key_name(event) for event in events] == [key]


@cache
def _runs() -> tuple[MadeRun, MadeRun]:
    """Two runs that nothing is added to."""
    one, two = warned(), believable(50, seed=5, name="other/run", modified=NOW - 104)
    one.found = [*one.found, finding("actor/ppo_kl", id="kl-high", title="KL > 0.1", since_step=230)]
    return one, two


@cache
def _lone_run() -> MadeRun:
    """A run that nothing is added to."""
    return believable()


def fresh(before: str = "") -> Screen:
    """A screen over two runs, after some keys."""
    screen = opened(*_runs())
    screen.frame(100, 30)
    for key in before.split():
        screen.press(key)
        screen.frame(100, 30)
    return screen


def text(screen: Screen) -> str:
    """What a screen shows."""
    return "\n".join(line.text.rstrip() for line in screen.frame(100, 40).lines)


def tag(screen: Screen) -> str:
    """The selected metric."""
    row = screen.selected()
    return row.tag if row is not None else ""


def chart(screen: Screen) -> ChartOverlay:
    """The chart that is open."""
    page = screen.overlays[-1]
    assert isinstance(page, ChartOverlay)
    return page


def tabs(screen: Screen) -> list[PaneTab]:
    """The tabs of the run shown."""
    return shown_tabs(screen.state)


def unacknowledged(screen: Screen) -> int:
    """How many findings count."""
    return len(counting_findings(screen.state))


def zoomed(screen: Screen) -> float:
    """How many steps a chart shows."""
    low, high = chart(screen).zoom or (1.0, 300.0)
    return high - low


# For each action: the keys before it, and what must be so afterwards.
Check = Callable[[Screen], bool]
CASES: dict[str, tuple[str, Check]] = {
    "up": ("3 down", lambda d: tag(d) == "actor/ppo_kl"),
    "down": ("3", lambda d: tag(d) == "actor/pg_clipfrac"),
    "left": ("3", lambda d: d.pane == "reward"),
    "right": ("3", lambda d: d.pane == "lengths"),
    "page-up": ("9 end", lambda d: tag(d) != "mine/loss/aux"),
    "page-down": ("9", lambda d: tag(d) != d.rows()[0].tag),
    "half-up": ("9 end", lambda d: tag(d) != "mine/loss/aux"),
    "half-down": ("9", lambda d: tag(d) != d.rows()[0].tag),
    "home": ("3 end", lambda d: tag(d) == "actor/ppo_kl"),
    "end": ("3", lambda d: tag(d) == d.rows()[-1].tag != "actor/ppo_kl"),
    "next-pane": ("3", lambda d: d.pane == "lengths"),
    "previous-pane": ("3", lambda d: d.pane == "reward"),
    "open": ("3", lambda d: chart(d).row.tag == "actor/ppo_kl"),
    "explain": ("3", lambda d: "verl → policy.approx_kl" in text(d)),
    "problems": ("3", lambda d: "Reward crashes" in text(d) and "Problems and terms" in text(d)),
    "filter": ("3", lambda d: "words, glob with *" in text(d)),
    "next-finding": ("2", lambda d: d.pane == "policy" and tag(d) == "actor/pg_clipfrac"),
    "next-evidence": ("f", lambda d: d.state.selection.row == "1"),
    "previous-evidence": ("f down", lambda d: d.state.selection.row == "0"),
    "unfold": ("f", lambda d: "explains no other" in d.message),
    "previous-finding": ("2", lambda d: d.pane == "policy" and tag(d) == "actor/ppo_kl"),
    "acknowledge": ("f", lambda d: unacknowledged(d) == 1 and "acknowledged" in d.message),
    "snooze": ("f", lambda d: unacknowledged(d) == 1 and "snoozed" in d.message),
    "back": ("3 enter", lambda d: not d.overlays and d.pane == "policy"),
    "pin": ("3 end", lambda d: d.rows()[0].tag in d.state.saved.pins),
    "together": ("3", lambda d: d.state.selection.added_tags == ["actor/ppo_kl"]),
    "outliers": ("3", lambda d: d.state.saved.outliers and d.state.ranges.outliers),
    "density": ("3", lambda d: d.state.saved.density == "compact"),
    "smoother": ("3", lambda d: d.state.saved.smoothing == 5),
    "rougher": ("3", lambda d: d.state.saved.smoothing == 3),
    "hide": ("3", lambda d: d.pane == "overview" and "policy" not in [one.id for one in tabs(d)]),
    "pause": ("", lambda d: d.state.time.at_step == 300 and "paused   step 300" in text(d)),
    "earlier": ("", lambda d: d.state.time.at_step == 285),
    "later": ("[ [", lambda d: d.state.time.at_step == 285),
    "crosshair-back": ("", lambda d: d.state.time.crosshair == 300 and "@300" in text(d)),
    "crosshair-on": ("", lambda d: d.state.time.crosshair == 1 and "@1" in text(d)),
    "window": ("", lambda d: "last 1/4 of the run" in text(d)),
    "runs": ("", lambda d: text(d).startswith(" Runs ") and "by age" in text(d)),
    "next-run": ("", lambda d: d.view is not None and d.view.name == "other/run"),
    "previous-run": ("", lambda d: d.view is not None and d.view.name == "other/run"),
    "mark": ("r down", lambda d: d.state.selection.marked_runs == ["other/run"]),
    "sort": ("r", lambda d: "by best ↓" in text(d)),
    "sort-back": ("r", lambda d: "by framework ↑" in text(d)),
    "reverse": ("r", lambda d: "by age ↓" in text(d)),
    "group": ("r", lambda d: "group runs by" in text(d)),
    "columns": ("r", lambda d: "column:" in text(d)),
    "differences": ("c", lambda d: "nothing to compare with" in d.message),
    "copy": ("3", lambda d: ("copy", "actor/ppo_kl") in d.state.requests),
    "axis": ("3 enter", lambda d: d.state.saved.axis == "relative"),
    "log": ("3 enter", lambda d: chart(d).log),
    "spread": ("3 enter", lambda d: "no spread was logged" in d.message),
    "overlap": ("3 enter", lambda d: "earlier attempts" in d.message),
    "zoom-in": ("3 enter", lambda d: zoomed(d) < 160),
    "zoom-out": ("3 enter z z", lambda d: 140 < zoomed(d) < 160),
    "reset": ("3 enter z", lambda d: chart(d).zoom is None),
    "palette": ("", lambda d: "pause: freeze what is shown" in text(d)),
    "theme": ("", lambda d: d.state.theme.id != "night" and ("theme", d.state.theme.id) in d.state.requests),
    "redraw": ("", lambda d: ("redraw", "") in d.state.requests),
    "help": ("", lambda d: "previous metric" in text(d)),
    "quit": ("", lambda d: d.state.exit_code == 0),
    "interrupt": ("", lambda d: d.state.exit_code == 130),
}


def test_every_binding_has_a_case() -> None:
    """A binding that is added needs a line here that says what it does."""
    missing = (
        {bind.action for bind in TABLE if not bind.action.startswith("pane:")} - set(CASES) - {"snapshot"}
    )
    assert not missing
    assert set(CASES) <= {bind.action for bind in bindings()}


@pytest.mark.parametrize(("bind", "key"), KEYS, ids=[f"{b.action}-{shown(k)}" for b, k in KEYS])
def test_every_key_does_what_it_says(
    bind: Bind, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key of each action has the promised effect."""
    monkeypatch.chdir(tmp_path)
    if bind.action.startswith("pane:"):
        screen = fresh()
        screen.press(key)
        assert screen.pane == bind.action[5:]
        assert text(screen)
        return
    if bind.action == "snapshot":
        screen = fresh("3")
        screen.press(key)
        assert [path.suffix for path in tmp_path.iterdir()] == [".txt"]
        return
    before, check = CASES[bind.action]
    screen = fresh(before)
    screen.press(key)
    assert check(screen)


# ---- overlays own their keys


@pytest.mark.parametrize("before", ["H", "r", "3 enter", "3 e", "3 enter H", ": escape r H"])
def test_the_key_that_quits_closes_what_is_on_top(before: str) -> None:
    """Over the panes `q` closes one overlay; only without any the program is left."""
    screen = fresh(before)
    count = len(screen.overlays)
    screen.press("q")
    assert len(screen.overlays) == count - 1 and screen.state.exit_code is None
    for _ in range(count):
        screen.press("q")
    assert screen.state.exit_code == 0


def test_search_in_a_chart_finds_another_metric() -> None:
    """`/` over a chart leads to the chart of another metric, and n to that of the next finding."""
    screen = fresh("3 enter /")
    for key in "entropy":
        screen.press(key)
    screen.frame(100, 30)
    screen.press("enter")
    assert chart(screen).row.tag == "actor/entropy" and len(screen.overlays) == 1
    screen.press("n")
    assert chart(screen).row.finding is not None and len(screen.overlays) == 1


@pytest.mark.parametrize("word", ["quit", "q", "exit", "leave"])
def test_the_palette_finds_the_way_out(word: str) -> None:
    """Whoever looks for the way out finds it under any of its names, and Enter takes it."""
    screen = fresh("3 enter :")
    for key in word:
        screen.press(key)
        screen.frame(100, 30)
    screen.press("enter")
    assert screen.state.exit_code == 0


# Keys that move need not say that they are at an edge.
_MOVES = ("up", "down", "left", "right", "home", "end", "next-pane", "previous-pane", "back")
_MOVES += ("page-up", "page-down", "half-up", "half-down", "select-evidence", "interrupt", "redraw")


@pytest.mark.parametrize("pane", list(PANES))
def test_a_key_that_does_nothing_says_why(pane: str) -> None:
    """In every pane of a lone run without samples, consoles or settings: something changes or is told."""
    untouched = opened(_lone_run())
    untouched.go(pane)
    silent = []
    for bind in bindings():
        key = bind.keys[0] if bind.keys else ""
        if bind.action in (*_MOVES, f"pane:{pane}") or key_action(untouched, key) != bind.action:
            continue
        screen = opened(_lone_run())
        screen.go(pane)
        before = screen.text(100, 30)
        screen.press(key)
        acted = screen.message or screen.state.requests or screen.state.exit_code is not None
        if not acted and screen.text(100, 30) == before:
            silent.append((key, bind.action))
    assert silent == []


def key_action(screen: Screen, key: str) -> str | None:
    """The action of a key in the pane shown."""
    return screen.state.options.keys.action(key, _key_context(screen.state, None)) if key else None


def test_a_key_of_another_context_says_where_it_works() -> None:
    """Only keys that do nothing here; one without any meaning stays silent."""
    screen = opened(believable())
    for key, said in (
        ("S", "S does nothing here, only in the samples, the list of runs"),
        ("O", "O does nothing here, only in a large chart"),
        ("%", ""),
    ):
        screen.state.clear_message()
        screen.press(key)
        assert screen.message == said
        assert not screen.overlays


def test_help_is_searched() -> None:
    """`/` in help searches it and reaches nothing behind it; n and N turn round its matches; Esc ends it."""
    screen = fresh("H")
    for key in "/zoom":
        screen.press(key)
        screen.frame(80, 24)
    assert "/zoom▏" in screen.text(80, 24) and screen.state.query == ""
    screen.press("enter")
    screen.press("n")
    assert "2 of" in screen.text(80, 24)
    screen.press("N")
    assert "1 of" in screen.text(80, 24)
    screen.press("escape")
    assert len(screen.overlays) == 1 and "/zoom" not in screen.text(80, 24)


@pytest.fixture
def _few_problems(monkeypatch: pytest.MonkeyPatch) -> None:
    """A seventh of the problems and terms, which fills four screens: to go through all takes minutes."""
    known = definitions()
    few = known._replace(problem=known.problem[::7], term=known.term[::7])
    monkeypatch.setattr(problems_page, "definitions", lambda: few)


def read_lines(screen: Screen, size: tuple[int, int]) -> list[str]:
    """The lines in sight of the list on top."""
    lines = [line.text for line in screen.frame(*size).lines]
    return [line[line.index("│") + 1 : line.rindex("│")].strip() for line in lines if line.count("│") > 1]


@pytest.mark.parametrize("size", [(80, 24), (40, 12)])
@pytest.mark.parametrize("before", ["E", "3 e", "?"])
@pytest.mark.parametrize("key", ["down", "ctrl+d", "pagedown"])
@pytest.mark.usefixtures("_few_problems")
def test_keys_that_move_show_every_line_of_a_text(size: tuple[int, int], before: str, key: str) -> None:
    """Lines without a metric are as reachable as others, and no key skips any; `g` returns to the first."""
    screen = fresh()
    for one in before.split():
        screen.frame(*size)
        screen.press(one)
    first = read_lines(screen, size)
    overlay = screen.overlays[-1]
    assert isinstance(overlay, ListOverlay)
    seen: set[int] = set()
    for _ in range(overlay.drawn.lines):
        top, at = overlay.drawn.top, overlay.at
        seen |= set(range(top, top + overlay.drawn.rows))
        screen.press(key)
        screen.frame(*size)
        if (overlay.drawn.top, overlay.at) == (top, at):
            break
    assert set(range(overlay.drawn.lines)) <= seen
    last = read_lines(screen, size)
    screen.press("g")
    assert read_lines(screen, size) == first
    screen.press("G")
    assert read_lines(screen, size) == last


@pytest.mark.usefixtures("_few_problems")
def test_down_stops_at_every_metric_of_a_text() -> None:
    """One by one they become the selected one, while they are in sight; Enter opens none that is not."""
    screen = fresh("E")
    screen.frame(80, 24)
    overlay = screen.overlays[-1]
    assert isinstance(overlay, ListOverlay)
    selected = []
    for _ in range(overlay.drawn.lines + len(overlay.drawn.items)):
        place = overlay.drawn.items[overlay.at][0]
        if overlay.top <= place < overlay.top + overlay.drawn.rows:
            selected.append(overlay.at)
        screen.press("down")
        screen.frame(80, 24)
    assert list(dict.fromkeys(selected)) == list(range(len(overlay.drawn.items)))
    screen.press("enter")
    assert screen.overlays, "the last metric is far above the end of the text"
    screen.frame(80, 24)
    screen.press("enter")
    assert not screen.overlays


def test_a_match_of_a_search_is_in_sight() -> None:
    """The first one when the words are typed, and each that `n` goes to, however far from a metric."""
    screen = fresh("E")
    for key in "/explained":
        screen.press(key)
    screen.press("enter")
    for _ in range(4):
        assert any("explained" in line.lower() for line in read_lines(screen, (80, 24)))
        screen.press("n")


@pytest.mark.parametrize(
    ("before", "heading"),
    [("3 enter", "In this chart"), ("r", "In this list of runs"), ("f", "In the findings"), ("3", "Moving")],
)
def test_help_opens_at_the_keys_of_what_is_shown(before: str, heading: str) -> None:
    """The first group of keys is that of the chart, the list or the pane below."""
    screen = fresh(f"{before} ?")
    lines = [line.strip("│‹ ") for line in screen.text(90, 30).splitlines() if "│" in line]
    assert lines[0].startswith(heading)


def test_half_a_screen_in_every_list() -> None:
    """Ctrl-D and Ctrl-U move by half of what is in sight, in help as in a pane; while typing they do not."""
    screen = fresh("H")
    screen.frame(80, 24)
    screen.press("ctrl+d")
    screen.frame(80, 24)
    overlay = screen.overlays[-1]
    assert isinstance(overlay, ListOverlay) and overlay.top == overlay.drawn.rows // 2
    screen.press("ctrl+u")
    assert overlay.top == 0
    for key in ("q", ":", "a", "b", "ctrl+u"):
        screen.press(key)
    palette = screen.overlays[-1]
    assert isinstance(palette, ListOverlay) and palette.query == ""


# ---- what keys of charts, the palette and the mouse do together


def test_several_metrics_share_a_chart() -> None:
    """`M` in a chart finds another metric; it is drawn on a scale of its own, and leaves the same way."""
    screen = fresh("3 enter M")
    for key in "entropy":
        screen.press(key)
    screen.press("enter")
    assert screen.state.selection.added_tags == ["actor/entropy"]
    assert "● KL old to new" in text(screen) and "◆ Entropy" in text(screen) and "own scale" in text(screen)
    screen.press("M")
    assert "● drawn" in text(screen)
    screen.press("enter")
    assert screen.state.selection.added_tags == [] and "own scale" not in text(screen)


def test_a_huge_and_an_empty_metric_may_stand_beside() -> None:
    """Metrics without finite values, constant ones and huge ones share a chart without harm."""
    run = warned()
    run.add("a/nan", [float("nan"), float("inf")])
    run.add("a/one", [3.0] * 9)
    run.add("a/huge", [1e308, -1e308, 5.0])
    screen = opened(run)
    screen.state.selection.added_tags = ["a/nan", "a/one", "a/huge", "gone"]
    screen.go_to_tag("actor/entropy")
    screen.press("enter")
    for key in ("L", "L", "z", "right", "x", "x", "x"):
        screen.press(key)
        assert all(line.width <= 80 for line in screen.frame(80, 24).lines)
    assert "◆" in text(screen)


def test_charts_by_what_a_run_counts() -> None:
    """Where tokens are logged, `x` leads to an axis of tokens; zoom and cursor speak in tokens."""
    run = believable()
    run.add(
        "train/num_tokens",
        np.arange(1, 301) * 4096.0,
        canonical="progress.tokens",
        title="Tokens",
        pane="other",
    )
    screen = opened(run)
    screen.go_to_tag("actor/entropy")
    screen.press("enter")
    for _ in range(3):
        screen.press("x")
    assert screen.state.saved.axis == "tokens"
    assert "axis: tokens" in text(screen) and "400k" in text(screen)
    screen.press("end")
    assert "1.23M tokens" in text(screen)
    screen.press("x")
    assert screen.state.saved.axis == "step"


def test_an_axis_that_another_run_lacks_falls_back() -> None:
    """The remembered axis is steps again for a run that counts no tokens."""
    screen = fresh("3 enter")
    screen.state.saved.axis = "tokens"
    assert "axis: step" in text(screen)


def test_a_log_without_times_has_no_axis_of_times() -> None:
    """`x` says that there is no other axis, and a remembered axis of times is steps again: no empty chart."""
    run = MadeRun()
    steps = np.arange(1, 101)
    batch = Batch.of_doubles(("actor/entropy",), np.zeros(100), steps, np.full(100, np.nan), 1 / steps)
    run._take(run._delivery("metrics.jsonl", batch))
    screen = opened(run)
    screen.go_to_tag("actor/entropy")
    screen.press("enter")
    screen.press("x")
    assert "the only x axis" in screen.message and screen.state.saved.axis == "step"
    screen.state.saved.axis = "wall"
    screen.state.clear_message()
    assert "axis: step" in text(screen) and "no finite points" not in text(screen)


async def test_the_mouse_zooms_and_pans_charts() -> None:
    """The wheel zooms round the cell below the mouse; dragging moves the curve; a drag is no click."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("3", "enter")
        page = chart(screen_of(app))
        app._wheeled(-1, 50, 10)
        app._wheeled(-1, 50, 10)
        assert page.zoom is not None
        low, high = page.zoom
        assert 180 < high - low < 200
        await pilot.mouse_down(offset=(50, 10))
        for x in (52, 60):
            app.line_widget.on_mouse_move(MouseMove(None, x, 10, 0, 0, 1, False, False, False))
        assert page.zoom[0] < low and page.cursor is None
        await pilot.mouse_up(offset=(60, 10))
        app.line_widget.on_click(Click(None, 60, 10, 0, 0, 1, False, False, False))
        assert page.cursor is None
        app._wheeled(1, 50, 10)
        app._wheeled(1, 50, 10)
        app._wheeled(1, 50, 10)
        assert page.zoom is None
        app._wheeled(1, 50, 0)  # not over the plot
        assert page.zoom is None


def test_hidden_panes_come_back() -> None:
    """A hidden pane still opens by its key, is remembered, and the palette brings it back."""
    screen = fresh("4 V")
    assert screen.state.saved.hidden == ["critic"]
    screen.press("4")
    assert "critic" in [one.id for one in tabs(screen)]
    screen.press("1")
    screen.press(":")
    for key in "critic among":
        screen.press(key)
    screen.press("enter")
    assert screen.state.saved.hidden == []
    screen.press("f")
    screen.press("V")
    assert screen.state.saved.hidden == [] and "cannot be hidden" in screen.message


def test_the_palette_knows_the_keys_of_a_chart() -> None:
    """Opened from a chart, the palette offers what charts can do, and does it there."""
    screen = fresh("3 enter :")
    for key in "logarithmic":
        screen.press(key)
    screen.press("enter")
    assert chart(screen).log


def test_an_unknown_baseline_is_told() -> None:
    """A baseline that no run is called stands in the footer; a known one is named under the tabs."""
    screen = opened(*_runs(), baseline="nobody")
    screen.press("3")
    assert "no run here is the baseline nobody" in text(screen)
    screen.state.selection.baseline = "run"
    assert "◆ other baseline: medians up to step " in text(screen)


def test_tabs_hold_still_while_they_can() -> None:
    """Going from pane to pane moves the tabs only when the next one would be out of sight."""
    screen = fresh()
    first = screen.frame(80, 24).lines[2].text
    for key in ("2", "3", "5"):
        screen.press(key)
        assert screen.frame(80, 24).lines[2].text == first
    screen.press("c")
    assert screen.frame(80, 24).lines[2].text.startswith("‹")


def test_a_folder_that_is_a_run_shows_its_own_name() -> None:
    """When LOGDIR itself is the run, the header names the folder, not a dot."""
    run = believable(name=".")
    run.shown_name = shown_name(run.name, ("/data/my-run",))
    assert text(opened(run)).lstrip().startswith("my-run")


def test_three_hundred_runs_cost_what_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of 300 runs asks only those in sight for their metrics; filters take words, globs, regexes."""
    from rltui.panes.runs import outcome_row

    runs = []
    for index in range(300):
        run = MadeRun(name=f"exp{index % 10}/seed{index}", modified=1e9 + index)
        run.add("a/b", [1.0, float(index)])
        runs.append(run)
    screen = opened(*runs)
    asked: list[str] = []
    whole = outcome_row.outcome_of
    monkeypatch.setattr(outcome_row, "outcome_of", lambda row: asked.append(row.tag) or whole(row))
    screen.press("r")
    screen.frame(140, 45)
    assert 0 < len(asked) < 60
    for query, count in (("exp3 seed", 30), ("exp3/*9?", 3), ("/seed1[0-4]$", 5)):
        screen.press("/")
        for key in query:
            screen.press(key)
        shown_runs = [one for one in screen.frame(140, 45).lines[2:-2] if "/seed" in one.text]
        assert len(shown_runs) == count, query
        screen.press("escape")
        screen.press("escape")
        screen.press("r")


def test_the_palette_holds_still_while_one_types() -> None:
    """Fewer matches leave lines empty; the box neither moves nor shrinks."""
    screen = fresh(":")
    tops = []
    for key in ("", "k", "l", "x"):
        if key:
            screen.press(key)
        lines = [line.text for line in screen.frame(100, 30).lines]
        tops.append([(at, one.index("╭")) for at, one in enumerate(lines) if "╭" in one])
    assert all(one == tops[0] for one in tops)


def test_two_letters_find_no_sentences() -> None:
    """While something holds the letters together, what only has them somewhere is left out."""
    screen = fresh(":")
    for key in "kl":
        screen.press(key)
    page = screen.overlays[-1]
    assert isinstance(page, ListOverlay)
    items = list_content(screen.state, page, 84, 24).items
    assert items and not any(argument.startswith("do ") for _, argument in items)
    assert any("kl" in argument for _, argument in items)


def typed(screen: Screen, words: str) -> list[str]:
    """What the palette offers for some letters."""
    screen.press(":")
    for key in words:
        screen.press(key)
    lines = [line.text for line in screen.frame(100, 40).lines]
    top = next(line for line in lines if "╭" in line)
    left, right = top.index("╭"), top.index("╮")
    return [line[left + 1 : right].strip() for line in lines if line[left : left + 2] == "│ "]


def test_the_palette_offers_what_there_is_and_commands_before_arrows() -> None:
    """No pane that the run lacks; moving by arrow keys comes after everything else that can be done."""
    shown = typed(fresh(), "")
    assert not any(line.startswith("pane") and "critic" in line for line in shown)
    assert any(line.startswith("pane") and "policy" in line for line in shown)
    words = [line for line in shown if line.startswith("do ")]
    assert "previous metric" not in words[0] and any("pause" in line for line in words)


def test_a_baseline_is_set_by_name() -> None:
    """The palette finds it first, compares with it, and takes it away again."""
    screen = opened(*_runs())
    assert typed(screen, "base")[0].startswith("baseline baseline: other/run")
    screen.press("enter")
    assert screen.baseline is not None and screen.baseline.name == "other/run"
    screen.press("3")
    assert "vs base" in text(screen)
    typed(screen, "no base")
    screen.press("enter")
    assert screen.baseline is None and "vs base" not in text(screen)

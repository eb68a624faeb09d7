"""Every key of the table: it reaches the screen from a terminal, and does what help says."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from textual._xterm_parser import XTermParser
from textual.events import Key

from rltui.screen.input.bindings import BINDINGS, Bind, key_name, shown
from rltui.screen.pages.chart.chart_page import ChartPage
from rltui.screen.state import AppState
from tests.support.fakerun import FakeRun, believable, finding
from tests.support.screens import monitor, warned

KEYS = [(bind, key) for bind in BINDINGS for key in bind.keys]
# What a terminal sends for keys that are no characters.
SENT = {
    "up": "\x1b[A", "down": "\x1b[B", "right": "\x1b[C", "left": "\x1b[D", "pageup": "\x1b[5~",
    "pagedown": "\x1b[6~", "home": "\x1b[H", "end": "\x1b[F", "tab": "\t", "shift+tab": "\x1b[Z",
    "enter": "\r", "backspace": "\x7f", "f1": "\x1bOP",
}  # fmt: skip


@pytest.mark.parametrize("key", sorted({key for _, key in KEYS} - {"escape"}))
def test_every_key_arrives_from_a_terminal(key: str) -> None:
    """What a terminal sends for a key is the key that the table of bindings means."""
    sent = SENT.get(key) or (chr(ord(key[-1]) - 96) if key.startswith("ctrl+") else key)
    events = [event for event in XTermParser().feed(sent) if isinstance(event, Key)]
    assert [key_name(event) for event in events] == [key]


def _runs() -> tuple[FakeRun, FakeRun]:
    one, two = warned(), believable(50, seed=5)
    one.found.append(finding("actor/ppo_kl", id="kl-high", title="KL > 0.1", since_step=230))
    two.name, two.modified = "other/run", one.modified - 100
    return one, two


def fresh(before: str = "") -> AppState:
    """A desk on two runs, after some keys."""
    over = monitor(*_runs()).desk
    over.frame(100, 30)
    for key in before.split():
        over.press(key)
        over.frame(100, 30)
    return over


def text(over: AppState) -> str:
    """What a desk shows."""
    return "\n".join(line.text.rstrip() for line in over.frame(100, 40).lines)


def tag(over: AppState) -> str:
    """The selected metric."""
    row = over.selected()
    return row.tag if row is not None else ""


def chart(over: AppState) -> ChartPage:
    """The chart that is open."""
    page = over.overlays[-1]
    assert isinstance(page, ChartPage)
    return page


def zoomed(over: AppState) -> float:
    """How many steps a chart shows."""
    low, high = chart(over).zoom or (1.0, 300.0)
    return high - low


# For each action: the keys before it, and what must be so afterwards.
Check = Callable[[AppState], bool]
CASES: dict[str, tuple[str, Check]] = {
    "up": ("3 down", lambda d: tag(d) == "actor/ppo_kl"),
    "down": ("3", lambda d: tag(d) == "actor/entropy"),
    "left": ("3", lambda d: d.pane == "reward"),
    "right": ("3", lambda d: d.pane == "critic"),
    "page-up": ("9 end", lambda d: tag(d) != "mine/loss/aux"),
    "page-down": ("9", lambda d: tag(d) != d.rows()[0].tag),
    "home": ("3 end", lambda d: tag(d) == "actor/ppo_kl"),
    "end": ("3", lambda d: tag(d) == "actor/lr"),
    "next-pane": ("3", lambda d: d.pane == "critic"),
    "previous-pane": ("3", lambda d: d.pane == "reward"),
    "open": ("3", lambda d: chart(d).row.tag == "actor/ppo_kl"),
    "explain": ("3", lambda d: "No glossary entry" in text(d) or "KL (old policy)" in text(d)),
    "filter": ("3", lambda d: "words, glob with *" in text(d)),
    "next-finding": ("2", lambda d: d.pane == "policy" and tag(d) == "actor/pg_clipfrac"),
    "acknowledge": ("f", lambda d: len(d.unseen()) == 1 and "acknowledged" in d.message),
    "snooze": ("f", lambda d: len(d.unseen()) == 1 and "snoozed" in d.message),
    "back": ("3 enter", lambda d: not d.overlays and d.pane == "policy"),
    "pin": ("3 end", lambda d: d.rows()[0].tag == "actor/lr"),
    "together": ("3", lambda d: d.together == ["actor/ppo_kl"]),
    "density": ("3", lambda d: d.memory.density == "compact"),
    "smoother": ("3", lambda d: d.memory.smoothing == 5),
    "rougher": ("3", lambda d: d.memory.smoothing == 3),
    "hide": ("3", lambda d: d.pane == "overview" and "policy" not in [one.id for one in d.tabs()]),
    "pause": ("", lambda d: d.at_step == 300 and "paused   step 300" in text(d)),
    "earlier": ("", lambda d: d.at_step == 285),
    "later": ("[ [", lambda d: d.at_step == 285),
    "window": ("", lambda d: "last 1/4 of the run" in text(d)),
    "runs": ("", lambda d: "Runs by age" in text(d)),
    "next-run": ("", lambda d: d.view is not None and d.view.name == "other/run"),
    "previous-run": ("", lambda d: d.view is not None and d.view.name == "other/run"),
    "mark": ("r down", lambda d: d.marked == ["other/run"]),
    "sort": ("r", lambda d: "Runs by framework ↑" in text(d)),
    "sort-back": ("r", lambda d: "Runs by step ↓" in text(d)),
    "reverse": ("r", lambda d: "Runs by age ↓" in text(d)),
    "differences": ("c", lambda d: d.settings.only is not None),
    "copy": ("3", lambda d: ("copy", "actor/ppo_kl") in d.outbox),
    "axis": ("3 enter", lambda d: d.memory.axis == "relative"),
    "log": ("3 enter", lambda d: chart(d).log),
    "spread": ("3 enter", lambda d: "without a spread" in d.message),
    "overlap": ("3 enter", lambda d: "superseded" in d.message),
    "zoom-in": ("3 enter", lambda d: zoomed(d) < 160),
    "zoom-out": ("3 enter z z", lambda d: 140 < zoomed(d) < 160),
    "reset": ("3 enter z", lambda d: chart(d).zoom is None),
    "palette": ("", lambda d: "pause: freeze what is shown" in text(d)),
    "theme": ("", lambda d: d.theme.id != "night" and ("theme", d.theme.id) in d.outbox),
    "redraw": ("", lambda d: ("redraw", "") in d.outbox),
    "help": ("", lambda d: "previous metric" in text(d)),
    "quit": ("", lambda d: d.exit_code == 0),
    "interrupt": ("", lambda d: d.exit_code == 130),
}


def test_every_binding_has_a_case() -> None:
    """A binding that is added needs a line here that says what it does."""
    missing = (
        {bind.action for bind in BINDINGS if not bind.action.startswith("pane:")} - set(CASES) - {"snapshot"}
    )
    assert not missing
    assert set(CASES) <= {bind.action for bind in BINDINGS}


@pytest.mark.parametrize(("bind", "key"), KEYS, ids=[f"{b.action}-{shown(k)}" for b, k in KEYS])
def test_every_key_does_what_it_says(
    bind: Bind, key: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each key of each action has the promised effect."""
    monkeypatch.chdir(tmp_path)
    if bind.action.startswith("pane:"):
        over = fresh()
        over.press(key)
        assert over.pane == bind.action[5:]
        assert text(over)
        return
    if bind.action == "snapshot":
        over = fresh("3")
        over.press(key)
        assert [path.suffix for path in tmp_path.iterdir()] == [".txt"]
        return
    before, check = CASES[bind.action]
    over = fresh(before)
    over.press(key)
    assert check(over)


# ---- what keys of charts, the palette and the mouse do together


def test_several_metrics_share_a_chart() -> None:
    """`M` in a chart finds another metric; it is drawn on a scale of its own, and leaves the same way."""
    over = fresh("3 enter M")
    for key in "entropy":
        over.press(key)
    over.press("enter")
    assert over.together == ["actor/entropy"]
    assert "● KL (old policy)" in text(over) and "◆ Entropy" in text(over) and "own scale" in text(over)
    over.press("M")
    assert "● drawn" in text(over)
    over.press("enter")
    assert over.together == [] and "own scale" not in text(over)


def test_a_huge_and_an_empty_metric_may_stand_beside() -> None:
    """Metrics without finite values, constant ones and huge ones share a chart without harm."""
    run = warned()
    run.add("a/nan", [float("nan"), float("inf")])
    run.add("a/one", [3.0] * 9)
    run.add("a/huge", [1e308, -1e308, 5.0])
    over = monitor(run).desk
    over.together = ["a/nan", "a/one", "a/huge", "gone"]
    over.go_to_tag("actor/entropy")
    over.press("enter")
    for key in ("L", "L", "z", "right", "x", "x", "x"):
        over.press(key)
        assert all(line.width <= 80 for line in over.frame(80, 24).lines)
    assert "◆" in text(over)


def test_charts_by_what_a_run_counts() -> None:
    """Where tokens are logged, `x` leads to an axis of tokens; zoom and cursor speak in tokens."""
    run = believable()
    steps = run.series["actor/entropy"].step
    run.add("train/num_tokens", steps * 4096.0, canonical="progress.tokens", title="Tokens", pane="other")
    over = monitor(run).desk
    over.go_to_tag("actor/entropy")
    over.press("enter")
    for _ in range(3):
        over.press("x")
    assert over.memory.axis == "tokens"
    assert "axis: tokens" in text(over) and "400k" in text(over)
    over.press("end")
    assert "1.23M tokens" in text(over)
    over.press("x")
    assert over.memory.axis == "step"


def test_an_axis_that_another_run_lacks_falls_back() -> None:
    """The remembered axis is steps again for a run that counts no tokens."""
    over = fresh("3 enter")
    over.memory.axis = "tokens"
    assert "axis: step" in text(over)


async def test_the_mouse_zooms_and_pans_charts() -> None:
    """The wheel zooms round the cell below the mouse; dragging moves the curve; a drag is no click."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        await pilot.press("3", "enter")
        page = chart(app.desk)
        app._wheeled(-1, 50, 10)
        app._wheeled(-1, 50, 10)
        assert page.zoom is not None
        low, high = page.zoom
        assert 180 < high - low < 200
        await pilot.mouse_down(offset=(50, 10))
        for x in (52, 60):
            app.glass.on_mouse_move(SimpleNamespace(x=x, button=1))  # type: ignore[arg-type]
        assert page.zoom[0] < low and page.cursor is None
        await pilot.mouse_up(offset=(60, 10))
        await pilot.pause()
        assert page.cursor is None
        app._wheeled(1, 50, 10)
        app._wheeled(1, 50, 10)
        app._wheeled(1, 50, 10)
        assert page.zoom is None
        app._wheeled(1, 50, 0)  # not over the plot
        assert page.zoom is None


def test_hidden_panes_come_back() -> None:
    """A hidden pane still opens by its key, is remembered, and the palette brings it back."""
    over = fresh("4 V")
    assert over.memory.hidden == ["critic"]
    over.press("4")
    assert "critic" in [one.id for one in over.tabs()]
    over.press("1")
    over.press(":")
    for key in "critic among":
        over.press(key)
    over.press("enter")
    assert over.memory.hidden == []
    over.press("f")
    over.press("V")
    assert over.memory.hidden == [] and "cannot be hidden" in over.message


def test_the_palette_knows_the_keys_of_a_chart() -> None:
    """Opened from a chart, the palette offers what charts can do, and does it there."""
    over = fresh("3 enter :")
    for key in "logarithmic":
        over.press(key)
    over.press("enter")
    assert chart(over).log


def test_an_unknown_baseline_is_told() -> None:
    """A baseline that no run is called stands in the footer; a known one is named under the tabs."""
    over = monitor(*_runs(), baseline="nobody").desk
    over.press("3")
    assert "no run here is the baseline nobody" in text(over)
    over.baseline = "run"
    assert "◆ other baseline at " in text(over)


def test_tabs_hold_still_while_they_can() -> None:
    """Going from pane to pane moves the tabs only when the next one would be out of sight."""
    over = fresh()
    first = over.frame(80, 24).lines[2].text
    for key in ("2", "3", "5"):
        over.press(key)
        assert over.frame(80, 24).lines[2].text == first
    over.press("c")
    assert over.frame(80, 24).lines[2].text.startswith("‹")


def test_a_folder_that_is_a_run_shows_its_own_name() -> None:
    """When LOGDIR itself is the run, the header names the folder, not a dot."""
    run = believable()
    run.name = "."
    over = monitor(run).desk
    over.logdirs = ("/data/my-run",)
    assert text(over).lstrip().startswith("my-run")


def test_three_hundred_runs_cost_what_is_in_sight(monkeypatch: pytest.MonkeyPatch) -> None:
    """The list of 300 runs asks only those in sight for their metrics; filters take words, globs, regexes."""
    import rltui.screen.pages.runs_page as listed

    runs = []
    for index in range(300):
        run = FakeRun(name=f"exp{index % 10}/seed{index}", modified=1e9 + index)
        run.add("a/b", [1.0, float(index)])
        runs.append(run)
    over = monitor(*runs).desk
    asked: list[str] = []
    whole = listed.key_rows
    monkeypatch.setattr(listed, "key_rows", lambda view, n, **_: asked.append(view.name) or whole(view, n))
    over.press("r")
    over.frame(140, 45)
    assert 0 < len(asked) < 60
    for query, count in (("exp3 seed", 30), ("exp3/*9?", 3), ("/seed1[0-4]$", 5)):
        over.press("/")
        for key in query:
            over.press(key)
        shown_runs = [one for one in over.frame(140, 45).lines if "/seed" in one.text and "│" in one.text]
        assert len(shown_runs) == count, query
        over.press("escape")
        over.press("escape")
        over.press("r")


def test_the_palette_holds_still_while_one_types() -> None:
    """Fewer matches leave lines empty; the box neither moves nor shrinks."""
    over = fresh(":")
    tops = []
    for key in ("", "k", "l", "x"):
        if key:
            over.press(key)
        lines = [line.text for line in over.frame(100, 30).lines]
        tops.append([(at, one.index("╭")) for at, one in enumerate(lines) if "╭" in one])
    assert all(one == tops[0] for one in tops)


def test_two_letters_find_no_sentences() -> None:
    """While something holds the letters together, what only has them somewhere is left out."""
    over = fresh(":")
    for key in "kl":
        over.press(key)
    page = over.overlays[-1]
    _, items = page.content(over, 84, 24)  # type: ignore[attr-defined]
    assert items and not any(argument.startswith("do ") for _, argument in items)
    assert any("kl" in argument for _, argument in items)


def typed(over: AppState, words: str) -> list[str]:
    """What the palette offers for some letters."""
    over.press(":")
    for key in words:
        over.press(key)
    lines = [line.text for line in over.frame(100, 40).lines]
    return [line.split("│", 1)[1].split("│")[0].strip() for line in lines if line.count("│") == 2]


def test_the_palette_offers_what_there_is_and_commands_before_arrows() -> None:
    """No pane that the run lacks; moving by arrow keys comes after everything else that can be done."""
    shown = typed(fresh(), "")
    assert not any(line.startswith("pane") and "critic" in line for line in shown)
    assert any(line.startswith("pane") and "policy" in line for line in shown)
    words = [line for line in shown if line.startswith("do ")]
    assert "previous metric" not in words[0] and any("pause" in line for line in words)


def test_a_baseline_is_set_by_name() -> None:
    """The palette finds it first, compares with it, and takes it away again."""
    over = monitor(*_runs()).desk
    assert typed(over, "base")[0].startswith("baseline baseline: other/run")
    over.press("enter")
    assert over.base is not None and over.base.name == "other/run"
    over.press("3")
    assert "vs base" in text(over)
    typed(over, "no base")
    over.press("enter")
    assert over.baseline is None and "vs base" not in text(over)

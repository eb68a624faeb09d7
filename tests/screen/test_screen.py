"""The screen by its keys: what each does, without a terminal."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest

from rltui.common.problem import Problem
from rltui.draw.chart_svg import NoPngError
from rltui.draw.symbols import to_ascii
from rltui.screen import save_snapshot
from rltui.screen.app import Monitor
from rltui.screen.apply_deliveries import delivery_parts
from rltui.screen.input.key_table import Keys, bindings, key_table
from rltui.screen.save_snapshot import file_name, folder_outside, write
from rltui.screen.saved_layout import SavedLayout, delete_layout, load_layout, path_for, save_layout
from rltui.screen.state import ChartOverlay, Searched
from rltui.screen.text_filter import fuzzy, matcher
from rltui.session.session import Session
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.screens import Screen, monitor, opened, screen_of, shown_lines, warned

SIZES = [(140, 45), (100, 30), (80, 24), (40, 12)]
HOSTILE = [
    "loss[/b]",
    "[@click=app.quit]x",
    "a" * 300,
    "日本語/損失",
    "\u202egnp",
    "x[$y]",
    "{0.__class__}",
    "%s%n",
]


# ---- by pilot: the application itself


@pytest.mark.parametrize("size", SIZES)
async def test_it_starts_at_every_size(size: tuple[int, int]) -> None:
    """The overview is there at once, at every size."""
    app = monitor(warned())
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        assert "step 300" in shown_lines(app)
        assert "Entropy" in shown_lines(app)


async def test_keys_change_panes_and_quit() -> None:
    """Digits show panes, `q` leaves with 0."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        for key, word in (
            ("3", "Learning rate"),
            ("5", "Response"),
            ("8", "MFU actor"),
            ("f", "above 0.2"),
            ("1", "Accuracy"),
        ):
            await pilot.press(key)
            assert word in shown_lines(app), key
        await pilot.press("q")
    assert app.return_code == 0


async def test_ctrl_c_is_an_interrupt() -> None:
    """Ctrl-C leaves with 130."""
    app = monitor()
    async with app.run_test() as pilot:
        await pilot.press("ctrl+c")
    assert app.return_code == 130


async def test_the_mouse_selects_and_opens() -> None:
    """A click on a tab shows its pane, one on a row selects it, a second one opens it; the wheel moves."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.pause()
        tabs = shown_lines(app).splitlines()[2]
        await pilot.click(offset=(tabs.index("policy"), 2))
        assert app.state.selection.pane == "policy"
        row = next(y for y, one in enumerate(shown_lines(app).splitlines()) if "Entropy  " in one)
        await pilot.click(offset=(10, row))
        assert screen_of(app).selected().tag == "actor/entropy"
        await pilot.click(offset=(10, row))
        assert app.state.overlays
        await pilot.press("escape")
        assert not app.state.overlays
        app._wheeled(1, 0, 0)
        assert screen_of(app).selected().tag == "actor/grad_norm"


async def test_only_changed_lines_are_painted_anew() -> None:
    """A frame that shows the same repaints nothing; a moved selection repaints two lines and the footer."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        await pilot.press("9")
        page = screen_of(app).frame(100, 30)
        assert app.line_widget.show(page.lines) == 0
        screen_of(app).press("down")
        assert 1 <= app.line_widget.show(screen_of(app).frame(100, 30).lines) <= 4


async def test_themes_change_at_once() -> None:
    """`t` goes through the themes and back to the first."""
    app = monitor()
    async with app.run_test(size=(100, 30)) as pilot:
        seen = []
        for _ in range(len(app.state.options.themes)):
            await pilot.press("t")
            seen.append(app.state.theme.id)
            assert "step 300" in shown_lines(app)
        assert sorted(seen) == sorted(app.state.options.themes)
        assert app.state.theme.id == "night"


async def test_hostile_names_are_shown_as_they_are() -> None:
    """Names that look like markup, actions or formats are plain text everywhere; nothing is done."""
    run = believable(name=HOSTILE[1])
    for name in HOSTILE:
        run.add(f"{name}/k", [1.0, 2.0])
    worse = finding(HOSTILE[0] + "/k", title=HOSTILE[1], message=HOSTILE[0], advice=HOSTILE[2])
    run.found = [finding(), worse]
    app = monitor(run)
    async with app.run_test(size=(140, 45)) as pilot:
        for key in (
            "1",
            "f",
            "9",
            "end",
            "enter",
            "escape",
            "e",
            "escape",
            "r",
            "escape",
            ":",
            "escape",
            "/",
            "l",
            "enter",
        ):
            await pilot.press(key)
            await pilot.pause()
        await pilot.press("escape", "escape", "f")
        assert "loss[/b]" in shown_lines(app)
        await pilot.click(offset=(5, 0))
        assert app.is_running


async def test_an_error_in_the_application_is_kept() -> None:
    """An internal error ends the application with its own exit code and no rendered traceback."""
    app = monitor()
    app.press = lambda key: 1 / 0
    with pytest.raises(ZeroDivisionError):
        async with app.run_test() as pilot:
            await pilot.press("x")
    assert isinstance(app.crash, ZeroDivisionError)
    assert app.return_code == 70


# ---- by key: what actions do


def test_every_binding_does_something_everywhere() -> None:
    """No key of the table raises, in any pane, with any overlay, on any size, with and without runs."""
    sizes = cycle(((100, 30), (30, 8), (60, 20)))
    for screen in (opened(), opened(MadeRun()), monitor_without_runs()):
        for bind in bindings():
            for before in ((), ("3",), ("f",), ("r",), ("3", "enter"), ("3", "e"), ("/",), (":",)):
                for key in before:
                    screen.press(key)
                screen.do(bind.action)
                assert screen.frame(*next(sizes)).lines
                screen.overlays.clear()
                screen.state.metric_query = ""


def monitor_without_runs() -> Screen:
    """A screen that waits for its first run."""
    from rltui.screen.start import build

    return screen_of(build(Session(), ["/nowhere"]))


def test_every_action_of_the_table_is_known() -> None:
    """The table of bindings and the table of actions agree."""
    from rltui.screen.input.actions import ACTIONS
    from rltui.screen.input.navigation import distance

    special = {"mark", "sort", "sort-back", "reverse", "group", "columns"}
    special |= {"axis", "log", "zoom-in", "zoom-out", "reset", "overlap", "spread"}
    special |= {bind.action for bind in bindings() if bind.where in ("samples", "console")}
    for bind in bindings():
        moves = distance(bind.action, 1) != 0
        known = bind.action in ACTIONS or bind.action in special or bind.action.startswith("pane:")
        assert known or moves, bind.action


def test_contexts_name_actions_of_the_table() -> None:
    """What footer and help say of a context are actions; each hint of the large chart has its turn to go."""
    known = {bind.action for bind in bindings()}
    for name, context in key_table().context.items():
        assert known.issuperset((*context.hints, *context.words, *context.kept)), name
    chart = key_table().context["chart"]
    assert set(chart.hints) == set(chart.kept)


def test_no_key_has_two_meanings() -> None:
    """Within one context a key does one thing."""
    seen: dict[tuple[str, str], str] = {}
    for bind in bindings():
        for key in bind.keys:
            assert seen.setdefault((bind.where, key), bind.action) == bind.action, key


def test_users_may_remap_keys() -> None:
    """A user's key replaces the shipped one and wins where both want the same; faults are told, not fatal."""
    keys = Keys({"quit": "Q", "help": ["q"], "nonsense": "z", "runs": 7})
    assert keys.action("Q", "pane") == "quit"
    assert keys.action("q", "pane") == "help"
    assert keys.action("r", "pane") == "runs"
    assert len(keys.problems) == 2


def test_without_a_run_it_waits() -> None:
    """Before any log is there the screen says what it waits for."""
    screen = monitor_without_runs()
    assert "Waiting for logs in /nowhere" in screen.text()
    assert "not exist" not in screen.text()


def test_the_current_folder_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Without a LOGDIR it waits in the current folder, and says which one that is."""
    monkeypatch.chdir(tmp_path)
    screen = monitor_without_runs()
    screen.state.options = replace(screen.state.options, logdirs=(".",))
    assert f"in{tmp_path}" in "".join(screen.text().split())


def test_nothing_is_missed_before_the_first_search_ends() -> None:
    """On a slow file system folders take seconds: nobody is told that the logs may be elsewhere."""
    screen = monitor_without_runs()
    screen.state.looking = True
    assert "Looking for logs in /nowhere" in screen.text() and "elsewhere" not in screen.text()


def test_a_folder_that_does_not_exist_is_told() -> None:
    """A misspelt LOGDIR is waited for, and reads differently from an empty folder."""
    screen = monitor_without_runs()
    screen.state.missing = ("/nowhere",)
    assert "/nowhere does not exist yet" in screen.text()


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (Searched(0, 1, {}), "There are no files yet"),
        (Searched(3, 2, {}), "3 files in 2 folders, none of them a log"),
        (Searched(3, 2, {"a.json": 8, "m.jsonl": 0}), "m.jsonl (and 1 more) is empty so far"),
        (Searched(1, 1, {"a.json": 8}), "a.json holds no metrics that rltui knows"),
    ],
)
def test_a_folder_without_runs_says_what_is_in_it(found: Searched, words: str) -> None:
    """It tells no files from other files and from logs that are still empty, and which keys do something."""
    screen = monitor_without_runs()
    screen.state.searched = found
    assert words in screen.text()
    assert screen.text().splitlines()[-1].split() == ["?", "help", "q", "quit"]


def test_a_folder_that_cannot_be_read_is_told() -> None:
    """The reason stands where the contents would be, with what to do."""
    screen = monitor_without_runs()
    screen.state.searched = Searched(0, 1, {})
    reason = "cannot be read: Permission denied; nothing else is affected"
    screen.state.session.problems.note([Problem("warning", "unreadable", ".", reason)])
    assert "/nowhere cannot be read: Permission denied; look at its permissions" in screen.text()
    assert "no files" not in screen.text()


def test_an_option_that_takes_no_run_is_told() -> None:
    """Runs of other names are no empty folder."""
    screen = monitor_without_runs()
    screen.state.options = replace(screen.state.options, run_glob="lr>1")
    screen.state.session.others = {f"run{at}": [] for at in range(8)}
    shown = " ".join(screen.text().split())
    assert "No run in /nowhere matches 'lr>1'" in shown and "8 other runs: run0, run1" in shown


def test_hints_of_lists_are_the_keys_of_the_user() -> None:
    """The lower edge of a list says what the user has to press, not what the shipped table says."""
    screen = opened()
    screen.state.options = replace(
        screen.state.options, keys=Keys({"back": "b", "open": "o", "next-finding": "m"})
    )
    screen.go_to_tag("actor/pg_clipfrac")
    screen.press("e")
    assert "o go there  b back" in screen.text()
    screen.press("/")
    for key in ("v", "a", "l", "enter"):
        screen.press(key)
    assert "m N next" in screen.text()


def test_a_tiny_terminal_is_told() -> None:
    """Below twenty by five it says only what it needs."""
    assert opened().text(19, 5).strip() == "needs 20x5\nis 19x5"
    assert opened().text(12, 4).strip() == "needs 20x5\nis 12x4"
    assert "step 300" in opened().text(40, 5)


def test_moving_between_cards_and_panes() -> None:
    """Arrows move between cards, elsewhere left and right turn panes; Tab does, past empty ones."""
    screen = opened()
    screen.frame(140, 45)
    first = screen.rows()
    screen.press("right")
    assert screen.selected() == first[1]
    screen.press("down")
    assert screen.selected() == first[1 + screen.state.drawn_pane.card_columns]
    screen.press("3")
    screen.press("j")
    assert screen.selected().tag == "actor/pg_clipfrac"
    screen.press("l")
    assert screen.pane == "lengths"  # the run has no critic
    screen.press("shift+tab")
    assert screen.pane == "policy"


def test_a_finding_leads_to_its_metric_and_back() -> None:
    """Enter on a finding shows the chart of its metric; Escape leads back, without a mark on other charts."""
    screen = opened()
    screen.press("f")
    assert "Lower the learning rate" in screen.text()
    screen.press("enter")
    assert "actor/pg_clipfrac" in screen.text().splitlines()[0]
    screen.press("escape")
    assert screen.pane == "findings" and not screen.overlays
    assert screen.state.time.crosshair is None
    screen.press("escape")
    assert screen.pane == "overview"
    screen.press("n")
    assert screen.selected().tag == "actor/pg_clipfrac"


def test_explain_says_what_is_known() -> None:
    """The explanation names the key, the finding, the facts; an unknown metric is told as one."""
    screen = opened()
    screen.go_to_tag("actor/pg_clipfrac")
    screen.press("e")
    shown = screen.text()
    assert "actor/pg_clipfrac" in shown and "clip fraction > 0.2" in shown and "300" in shown
    screen.press("escape")
    screen.go_to_tag("mine/loss/aux")
    screen.press("e")
    assert "No glossary entry knows this key" in screen.text()


@pytest.mark.parametrize(("last", "where"), [(0.947, "0.947, within"), (-0.345, "-0.345, outside")])
def test_explain_says_whether_a_value_is_healthy(last: float, where: str) -> None:
    """A newcomer who asks what explained variance is wants to know whether that of the run is bad."""
    run = believable()
    run.add("critic/vf_explained_var", [0.2] * 40 + [last])
    screen = opened(run)
    screen.go_to_tag("critic/vf_explained_var")
    screen.press("e")
    assert f"{where} the healthy range (0.8 to 1)" in screen.text()
    assert f"({last!r})" not in screen.text()  # all digits only where they are not shown already


def test_filter_narrows_and_escape_clears() -> None:
    """`/` takes words, globs and regexes; the pane follows; Escape shows everything again."""
    screen = opened()
    screen.press("9")
    for key in "/entropy":
        screen.press(key)
    assert [row.tag for row in screen.rows()] == ["actor/entropy"]
    screen.press("enter")
    screen.press("escape")
    assert len(screen.rows()) > 10
    for key in "/*/mean":
        screen.press(key)
    assert {row.tag for row in screen.rows()} >= {"critic/rewards/mean", "response_length/mean"}
    screen.press("escape")
    assert screen.state.metric_query == ""


def test_filters() -> None:
    """Words in any order, globs, regexes, and half-typed regexes that match everything."""
    assert matcher("kl actor")("actor/ppo_kl")
    assert not matcher("kl critic")("actor/ppo_kl")
    assert matcher("actor/*kl")("actor/ppo_kl")
    assert matcher("/^actor.*kl$/")("actor/ppo_kl")
    assert not matcher("/^kl/")("actor/ppo_kl")
    assert matcher("/(")("anything")
    assert fuzzy("ppk", "actor/ppo_kl") is not None
    assert fuzzy("zz", "actor/ppo_kl") is None
    assert fuzzy("kl", "kl") == 0
    assert (fuzzy("kl", "x" * 300 + "kl") or 0) < (fuzzy("kl", "k_l") or 0)


def test_runs_are_listed_sorted_filtered_marked_chosen() -> None:
    """The list of runs sorts, filters, marks for comparison, and shows the chosen run."""
    one, two = warned(), believable(50, name="other/run", modified=NOW - 104)
    screen = opened(one, two)
    assert "run 1 of 2" in screen.text()
    screen.press("r")
    assert "other" in screen.text()
    screen.press("down")
    screen.press("x")
    assert screen.state.selection.marked_runs == ["other/run"]
    screen.press("S")
    for key in "/other":
        screen.press(key)
    screen.press("enter")
    screen.press("enter")
    assert screen.view is not None and screen.view.name == "other/run"
    assert "step 50" in screen.text()
    screen.press(">")
    assert screen.view.name == one.name


def test_marked_runs_are_drawn_over_each_other() -> None:
    """A chart shows the marked runs with a glyph and a name each."""
    one, two = warned(), believable(50, seed=5, name="other/run", modified=NOW - 104)
    screen = opened(one, two)
    screen.state.selection.marked_runs = ["other/run"]
    screen.go_to_tag("actor/entropy")
    screen.press("enter")
    shown = screen.text()
    assert "● verl-grpo-a" in shown and "◆ other" in shown


def test_names_of_compared_runs_are_not_cut_for_a_count() -> None:
    """Where all of them are named, how many are marked is seen; the count stands where there is room."""
    one, two = warned(), believable(50, seed=5, name="other/run", modified=NOW - 104)
    screen = opened(one, two)
    screen.state.selection.marked_runs = [two.name]
    wide, narrow = screen.text(100, 30), screen.text(34, 30)
    assert "1 marked" in wide and "1 marked" not in narrow
    assert "━ verl-grpo-a   ◆ other" in narrow


def test_pause_freezes_and_data_go_on() -> None:
    """Paused, the screen shows the moment of the pause whatever arrives; again `p` is live."""
    run = warned()
    screen = opened(run)
    screen.press("p")
    before = screen.text()
    run.add("actor/entropy", [*run.run.series["actor/entropy"].recent().value, 99.0])
    screen.press("3")
    screen.press("1")
    assert screen.text() == before
    screen.press("p")
    assert screen.state.time.at_step is None


def test_time_travel_shows_what_was() -> None:
    """`[` goes back through the run: values, steps and findings are those of then; `]` comes back to now."""
    screen = opened()
    screen.press("3")
    for _ in range(10):
        screen.press("[")
    assert screen.state.time.at_step is not None and screen.state.time.at_step < 212
    assert screen.findings() == []
    assert f"step {screen.state.time.at_step}" in screen.text()
    for _ in range(12):
        screen.press("]")
    assert screen.state.time.at_step is None
    assert screen.findings()


def test_pins_and_density() -> None:
    """A pinned metric leads its pane; full density takes distributions apart."""
    screen = opened()
    screen.go_to_tag("actor/lr")
    screen.press("*")
    assert screen.rows()[0].tag == "actor/lr"
    screen.press("*")
    assert screen.rows()[0].tag == "actor/ppo_kl"
    screen.press("2")
    assert len(screen.rows()) == 1
    screen.press("a")
    screen.press("a")
    assert screen.state.saved.density == "full"
    assert len(screen.rows()) == 3


@pytest.mark.parametrize("tag", ["actor/entropy", "mine/loss/aux", "actor/lr", "a/nan", "a/one", "a/huge"])
def test_charts_of_every_kind(tag: str) -> None:
    """Broken, constant, empty, single and huge series are drawn, with every axis, scale and zoom."""
    run = warned()
    run.add("a/nan", [math.nan, math.inf])
    run.add("a/one", [3.0])
    run.add("a/huge", [1e308, -1e308, 5.0])
    screen = opened(run)
    screen.go_to_tag(tag)
    screen.press("enter")
    for key in (
        "right",
        "right",
        "z",
        "z",
        "left",
        "L",
        "x",
        "x",
        "x",
        "0",
        "Z",
        "+",
        "-",
        "end",
        "home",
        "pagedown",
    ):
        screen.press(key)
        for size in ((140, 45), (80, 24), (40, 12), (20, 6)):
            page = screen.frame(*size)
            assert len(page.lines) <= size[1]
            assert all(one.width <= size[0] for one in page.lines)


def test_the_cursor_tells_the_exact_value() -> None:
    """The chart's cursor names the step and the value that was logged there."""
    run = MadeRun()
    run.add("a/b", [0.5, 1.5, 2.5, 3.5])
    screen = opened(run)
    screen.state.saved.smoothing = 0
    screen.go_to_tag("a/b")
    screen.press("enter")
    screen.frame(100, 30)
    screen.press("end")
    assert "step 4" in screen.text() and "3.500" in screen.text()


def test_help_names_every_key() -> None:
    """Help is made from the table: every action's words are in it."""
    screen = opened()
    screen.press("H")
    shown = screen.text(160, 90)
    for bind in bindings():
        if bind.action != "interrupt":
            assert bind.words[:30] in shown, bind.action


def test_the_palette_finds_everything() -> None:
    """A few letters find panes, metrics, runs and actions."""
    screen = opened()
    for key in ":clipfr":
        screen.press(key)
    screen.press("enter")
    assert screen.selected().tag == "actor/pg_clipfrac"
    for key in ":timing":
        screen.press(key)
    screen.press("enter")
    assert screen.pane == "timing"


def test_thousands_of_metrics_stay_quick() -> None:
    """Of five thousand metrics only those in sight are drawn."""
    run = MadeRun()
    run.add_many([f"layer{index % 50}/norm/{index}" for index in range(5000)], [1.0, 2.0])
    screen = opened(run)
    screen.press("9")
    screen.frame(140, 45)
    drawn: list[str] = []
    import rltui.screen.pages.pane_page as compose

    original = compose.row_lines

    def counted(row, *rest, **named):
        drawn.append(row.tag)
        return original(row, *rest, **named)

    compose.row_lines = counted
    try:
        screen.press("pagedown")
        screen.frame(140, 45)
    finally:
        compose.row_lines = original
    assert 0 < len(drawn) < 60


# ---- snapshots, memory, ASCII


def test_a_snapshot_is_a_file_beside_the_user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`s` writes the pane into the working directory, copies it, says where; nothing is ever overwritten."""
    monkeypatch.chdir(tmp_path)
    screen = opened()
    screen.press("3")
    screen.press("s")
    screen.press("s")
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["rltui-verl-grpo-a-policy-step300-2.txt", "rltui-verl-grpo-a-policy-step300.txt"]
    assert "clip fraction > 0.2" in (tmp_path / names[1]).read_text()
    assert names[0] in screen.message
    assert [kind for kind, _ in screen.state.requests] == ["copy", "copy"]


@pytest.mark.parametrize(
    "missing", ["", "PNG needs cairosvg: pip install 'rltui[png]'"], ids=["png", "no png"]
)
def test_a_snapshot_of_a_chart_is_text_and_picture(
    missing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`s` in a large chart writes it as text, which is copied, as SVG, and as PNG where that can be."""
    monkeypatch.chdir(tmp_path)

    def as_png(svg: str) -> bytes:
        if missing:
            raise NoPngError(missing)
        return svg[:4].encode()

    monkeypatch.setattr(save_snapshot, "as_png", as_png)
    screen = opened()
    for key in ("3", "enter", "s"):
        screen.press(key)
    texts, svgs = ([*tmp_path.glob(f"*.{ending}")] for ending in ("txt", "svg"))
    assert len(texts) == len(svgs) == 1 and texts[0].stem == svgs[0].stem
    chart = screen.overlays[-1]
    assert isinstance(chart, ChartOverlay) and chart.row.tag in svgs[0].read_text()
    assert screen.state.requests == [("copy", texts[0].read_text())] and "step" in texts[0].read_text()
    assert "svg" in screen.message
    assert [png.read_bytes() for png in tmp_path.glob("*.png")] == ([] if missing else [b"<svg"])
    assert ("pip install 'rltui[png]'" in screen.message) is bool(missing)


def test_a_snapshot_never_lies_among_the_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the working directory is a LOGDIR, the snapshot goes to the user's own folder."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    logs = tmp_path / "logs" / "run"
    logs.mkdir(parents=True)
    monkeypatch.chdir(logs)
    assert folder_outside([str(tmp_path / "logs")]) == tmp_path / "state" / "rltui" / "snapshots"
    assert folder_outside([str(tmp_path / "elsewhere")]) == logs


def test_a_failed_snapshot_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk leaves no half file, and the old ones as they were."""
    import os

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    write(b"old", "a.txt", tmp_path)
    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="space"):
        write(b"new", "a.txt", tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_names_of_snapshots_are_harmless() -> None:
    """Whatever a run is called, the file name has no separators, blanks or leading dots."""
    assert file_name("../../etc/passwd", "policy", 3) == "rltui-etc-passwd-policy-step3.txt"
    assert file_name(".", "a b/c", None) == "rltui-run-a-b-c.txt"
    assert len(file_name("x" * 500, "y" * 500, 10**18)) < 140


def test_layout_is_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pins, pane and theme come back; a damaged file is as good as none; `--reset` forgets."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    path = path_for(["/some/logs"])
    save_layout(path, SavedLayout(pane="policy", pins=["a/b"], smoothing=3))
    assert load_layout(path) == SavedLayout(pane="policy", pins=["a/b"], smoothing=3)
    path.write_text('{"pane": 7, "pins": "x", "smoothing": 1}')
    assert load_layout(path) == SavedLayout(smoothing=1)
    path.write_text("[" * 100_000)
    assert load_layout(path) == SavedLayout()
    delete_layout(path)
    assert not path.exists()
    assert path_for(["/some/logs"]) != path_for(["/other/logs"])


def test_ascii_only() -> None:
    """With --ascii not one character of the screen is beyond ASCII, and every glyph has a likeness."""
    screen = opened(ascii_only=True)
    for key in ("1", "3", "f", "9", "H", "escape", "3", "enter"):
        screen.press(key)
        for one in screen.frame(100, 30).lines:
            assert to_ascii(one.text).isascii()
    assert "?" not in to_ascii("▲✖✓●◌■─━│╭╮╰╯·…‥→←↑↓‹›×≈±┊┴┼µ")
    assert to_ascii("Reward  ±0.4") == "Reward +-0.4"
    assert to_ascii("0.35 → 2.75") == "0.35-> 2.75"
    assert "-" not in to_ascii("0.35…2.75")  # would be a minus


def test_large_deliveries_come_in_pieces() -> None:
    """Large deliveries are applied in parts that say the same; only the first starts the log anew."""
    import numpy as np

    from rltui.logs.batch import Batch, SessionStart
    from rltui.logs.delivery import Delivery, Source

    n = 50_001
    batch = Batch(
        tags=["a"], tag=np.zeros(n, np.uint32), step=np.arange(n), wall_time=np.ones(n),
        value=np.arange(n) * 1.0,
        single=np.zeros(n, bool), starts=(SessionStart(5, 0), SessionStart(30_000, 3), SessionStart(n, 9)),
    )  # fmt: skip
    parts = delivery_parts(Delivery(Source("r", "p", "jsonl"), batch, "rewritten"))
    assert [part.kind for part in parts] == ["rewritten", "points", "points"]
    assert np.array_equal(np.concatenate([part.batch.step for part in parts]), batch.step)
    assert [len(part.batch.starts) for part in parts] == [1, 1, 1]
    assert parts[1].batch.starts[0].index == 10_000


async def test_trouble_with_one_log_does_not_end_the_screen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unforeseen error about one log is told and kept; the screen goes on."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    from rltui.logs.delivery import Delivery, Source

    app: Monitor = monitor()

    def broken(_: object) -> None:
        raise KeyError("unforeseen")

    app.session.apply = broken
    async with app.run_test(size=(140, 45)) as pilot:
        app.updates.put([Delivery(Source("r", "some/log", "jsonl"))])
        await pilot.pause()
        await pilot.press("f")
        assert "internal error (KeyError)" in shown_lines(app)
        assert list((tmp_path / "rltui").glob("crash-*"))

"""The page of runs: sorted by any column, filtered, grouped, with what somebody added to it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest

from rltui.common.display_text import cell_width
from rltui.common.problem import Problem
from rltui.panes.runs import outcome_row, run_facts
from rltui.panes.runs.run_columns import RunOrder, natural
from rltui.panes.runs.run_facts import RunHParams
from rltui.run_context.hparams.hparams import HParam, HParams
from rltui.screen.run_list import column_choices, prepare
from rltui.screen.saved_layout import load_layout, save_layout
from rltui.session.session import Session
from tests.support.runs.deliveries import delivery
from tests.support.runs.made_run import NOW, MadeRun, believable, finding
from tests.support.screen.screens import Screen, opened


def runs() -> list[MadeRun]:
    """Four runs that differ in everything that a column shows."""
    found = []
    for number, (name, steps, severity, age, framework) in enumerate((
        ("exp/run_10", 90, "", 0, "verl"), ("exp/run_9", 300, "critical", 60, "trl"),
        ("exp/Alpha", 120, "warning", 400, "openrlhf"), ("exp/beta", 200, "", 120, "areal"),
    )):  # fmt: skip
        run = believable(steps, seed=number, name=name, framework=framework, modified=NOW - age)
        run.found = [finding(severity=severity, title="KL")] if severity else []
        found.append(run)
    found[0].end()
    return found


@cache
def shared_runs() -> list[MadeRun]:
    """The same for tests that add nothing to them."""
    return runs()


def run_list(made: list[MadeRun] | None = None) -> Screen:
    """A screen that shows the list."""
    screen = opened(*(made or shared_runs()))
    screen.press("r")
    screen.frame(140, 40)
    return screen


def short_run(name: str, **options: Any) -> MadeRun:
    """A run of one metric."""
    run = MadeRun(name, **options)
    run.add("critic/rewards/mean", [0.1, 0.2, 0.3])
    return run


def listed(screen: Screen) -> list[str]:
    """The names in the order of the list."""
    screen.frame(140, 40)
    return [name for _, name in screen.overlays[-1].drawn.items]


def text(screen: Screen, width: int = 140) -> str:
    """What is seen."""
    return "\n".join(one.text for one in screen.frame(width, 40).lines)


@pytest.mark.parametrize(
    ("column", "first", "last"),
    [
        ("name", "exp/Alpha", "exp/run_10"), ("state", "exp/run_9", "exp/run_10"),
        ("health", "exp/run_9", "exp/beta"), ("step", "exp/run_9", "exp/run_10"),
        ("framework", "exp/beta", "exp/run_10"), ("why", "exp/run_9", "exp/beta"),
    ],
)  # fmt: skip
def test_every_column_sorts_both_ways(column: str, first: str, last: str) -> None:
    """A column brings the run first that one looks for in it; turned round, the other end comes first."""
    screen = run_list()
    screen.state.saved.run_order = column
    assert (listed(screen)[0], listed(screen)[-1]) == (first, last)
    screen.press("R")
    turned = {"health": "exp/run_10", "why": "exp/run_10"}.get(column, last)  # equal ones keep their order
    assert listed(screen)[0] == turned


def test_names_sort_as_people_count() -> None:
    """Nine comes before ten, capitals do not matter."""
    names = ["run_10", "Run_9", "run", "run_9b"]
    assert sorted(names, key=natural) == ["run", "Run_9", "run_9b", "run_10"]


def test_the_heading_shows_which_way() -> None:
    """The word over the column that sorts carries the arrow, and so does the title."""
    screen = run_list()
    assert "age ↑" in text(screen).splitlines()[0] and "age ↑" in text(screen).splitlines()[1]
    screen.press("R")
    assert "age ↓" in text(screen)
    screen.press("S")
    assert "best ↓" in text(screen) and "age ↓" not in text(screen)


def test_a_narrow_list_tells_long_reasons_below_names() -> None:
    """At 80 columns, reasons that a column would cut are whole in a second line, selected with the first."""
    made = runs()
    made[1].found = [finding(severity="critical", title="updates are out of control, and the reward is lost")]
    screen = run_list(made)
    frame = screen.frame(80, 24)
    lines = [one.text for one in frame.lines]
    at = next(row for row, one in enumerate(lines) if "run_9" in one)
    assert "why" not in lines[1] and "best" in lines[1]
    assert lines[at + 1].split("└ ")[1].startswith("updates are out of control, and the reward is lost @")
    assert sum("└" in one for one in lines) == 2  # healthy runs have one line
    below = next(spot for spot in frame.spots if spot.action == "item" and spot.holds(20, at + 1))
    assert screen.overlays[-1].drawn.items[int(below.argument)][1] == "exp/run_9"
    while screen.overlays[-1].of != "exp/run_9":
        screen.press("down")
        frame = screen.frame(80, 24)
    assert [frame.lines[row].back for row in (at, at + 1)] == ["select"] * 2
    assert not any("└" in one.text for one in screen.frame(80, 12).lines)  # few rows are for runs


def test_long_names_leave_room_for_the_best_values() -> None:
    """At 80 columns, whoever asks which runs are worth going on with sees the last and the best value."""
    made = [short_run(f"sb3csv-flappy-PPO_MLP_rew100_2Mio_seed_{seed}") for seed in range(30)]
    made[0].found = [finding(title="a reason that takes a third of a line of 80 cells, and more")]
    made[1].add("critic/rewards/mean", [0.0123, 0.0012], step=[493_685, 500_000])
    heads = run_list(made).frame(80, 24).lines[1].text
    assert heads.split() == ["run", "last", "best", "@step", "step"], heads


def test_a_reason_with_room_beside_it_hides_no_best_value() -> None:
    """At 80 columns, two runs with short names and a reason of a few words show all that fits."""
    made = [short_run("good"), short_run("bad")]
    made[1].found = [finding(title="the policy collapsed", since_step=156)]
    page = run_list(made).frame(80, 24)
    assert page.lines[1].text.split()[:5] == ["run", "last", "best", "@step", "step"]
    assert any("the policy collapsed @156" in line.text for line in page.lines)


def test_the_selected_run_of_a_long_narrow_list_is_in_sight_with_its_reason() -> None:
    """Moving through runs with reasons in their own lines scrolls both lines into sight."""
    made = [short_run(f"run_{number}") for number in range(30)]
    for run in made:
        run.found = [finding(title="a reason that takes a third of a line of 80 cells, and more")]
    screen = run_list(made)
    screen.frame(80, 24)
    for key in ["down"] * 14 + ["pagedown", "end", "pageup", "home"]:
        screen.press(key)
        selected = [one.text for one in screen.frame(80, 24).lines if one.back == "select"]
        assert len(selected) == 2 and screen.overlays[-1].of in selected[0] and "a reason" in selected[1]


def test_the_line_below_a_narrow_list_does_not_repeat_the_reason_above() -> None:
    """Where reasons have lines of their own, it has the state of the selected run instead."""
    made = [short_run("a"), short_run("b")]
    made[0].found = [finding(severity="critical", title="the update is far too large, and the gain is lost")]
    lines = [one.text for one in run_list(made).frame(80, 24).lines]
    assert sum("far too large" in one for one in lines) == 1
    assert lines[-2].split()[:7] == ["a", made[0].framework, "·", "live", "·", "last", "point"]


def test_the_narrowest_list_gives_long_names_the_room_of_the_steps() -> None:
    """At 40 columns 22 cells tell them apart, and the reason of the selected run is below the list."""
    names = [f"a2c-BipedalWalker-{kind}-seed-{seed}" for kind in ("Hardcore", "Normal") for seed in (1, 2)]
    made = [short_run(name) for name in names]
    made[0].found = [finding(severity="critical", title="return crashed")]
    lines = [one.text for one in run_list(made).frame(40, 12).lines]
    assert "step" not in lines[1] and all(cell_width(one) <= 40 for one in lines)
    assert len({one[6:28] for one in lines[2:6]}) == 4
    assert "return crashed @" in lines[-2]


def test_a_narrow_list_has_room_for_reasons() -> None:
    """At 80 columns, a reason has a third of the line: the age that sorts at first is not worth a column."""
    title, heads = text(run_list(), 80).splitlines()[:2]
    assert 80 - heads.index("why") >= 27 and "age" not in heads
    assert "age ↑" in title  # which still names the order


def test_a_narrow_list_says_how_to_leave_it() -> None:
    """Hints that do not fit are left out as a whole, those of rare keys first."""
    foot = run_list().frame(40, 12).lines[-1].text
    assert "Enter show" in foot and "Esc back" in foot and "…" not in foot


def test_the_keys_go_round_all_columns() -> None:
    """Pressed often enough, they lead back to the first column; the other key goes the other way."""
    screen = run_list()
    seen = []
    while (column := RunOrder.parse(screen.state.saved.run_order).column) not in seen:
        seen.append(column)
        screen.press("S")
    assert column == seen[0] and {"age", "best", "last", "why", "step", "name"} <= set(seen)
    screen.press("<")
    assert RunOrder.parse(screen.state.saved.run_order).column == seen[-1]


def test_a_sorted_list_starts_at_the_top() -> None:
    """Sorting, turning and grouping show what is first now, wherever the selection was."""
    screen = run_list()
    screen.press("end")
    for key in ("S", "R", "<"):
        listed(screen)
        screen.press("down")
        listed(screen)
        screen.press(key)
        listed(screen)
        assert screen.overlays[-1].at == 0


def test_the_selection_stays_with_its_run() -> None:
    """New data and a filter that keeps it move the line, not the choice."""
    screen = run_list(runs())
    screen.press("down")
    listed(screen)
    chosen = screen.overlays[-1].of
    run = screen.session.runs[chosen]
    assert isinstance(run, MadeRun)
    run.add("critic/rewards/mean", np.linspace(0, 1, 330))
    screen.set_clock(lambda: NOW + 60)
    names = listed(screen)
    assert names[0] == chosen and screen.overlays[-1].at == 0
    screen.press("enter")
    assert screen.view.name == chosen


def test_a_click_on_a_word_sorts_and_a_second_one_turns() -> None:
    """The words over the columns are buttons."""
    screen = run_list()
    page = screen.frame(140, 40)
    spot = next(spot for spot in page.spots if spot.action == "sort-by" and spot.argument == "best")
    assert page.lines[spot.y].text[spot.x :].startswith("best @step")
    screen.do(spot.action, spot.argument)
    assert screen.state.saved.run_order == "best"
    screen.do(spot.action, spot.argument)
    assert screen.state.saved.run_order == "-best"


def test_order_groups_and_columns_are_remembered(tmp_path) -> None:
    """Closing the list, and the monitor, does not forget how it was laid out."""
    screen = run_list()
    for key in ("S", "g", *"frame", "enter", "C", *"entropy", "enter"):
        screen.press(key)
        screen.frame(140, 40)
    screen.press("escape")
    saved = screen.state.saved
    assert (saved.run_order, saved.run_group, saved.run_columns) == (
        "best",
        "framework",
        ["metric:policy.entropy"],
    )
    save_layout(tmp_path / "layout", saved)
    assert load_layout(tmp_path / "layout") == saved


def test_a_chosen_column_stands_beside_the_name_and_goes_again() -> None:
    """The same choice a second time removes it."""
    screen = run_list()
    for _ in range(2):
        before = "Entropy" in text(screen).splitlines()[1]
        for key in ("C", *"entropy", "enter"):
            screen.press(key)
            screen.frame(140, 40)
        assert ("Entropy" in text(screen).splitlines()[1]) != before
    assert screen.state.saved.run_columns == []


def test_no_empty_column_is_offered() -> None:
    """Sisters, frameworks and projects are columns where a run has some; what is shown can be removed."""
    screen = run_list([short_run(f"run_{number}", framework="unknown") for number in range(2)])
    assert set(column_choices(screen.state)) == {"series", "points", "metric:reward.mean"}
    screen.state.saved.run_columns = ["sisters"]
    assert "sisters" in column_choices(screen.state)
    assert {"framework", "project"} <= set(column_choices(run_list().state))


def test_groups_have_headings_that_cannot_be_chosen() -> None:
    """Runs stand under the heading of their group; the keys go from run to run."""
    screen = run_list()
    screen.state.saved.run_group = "health"
    shown = text(screen).splitlines()
    assert sorted(one.split()[0] for one in shown if "median" in one) == ["critical", "ok", "warning"]
    names = listed(screen)
    assert len(names) == 4
    for name in names:
        assert names[screen.overlays[-1].at] == name
        screen.press("down")
    listed(screen)
    assert screen.overlays[-1].at == 3


def test_values_of_several_metrics_are_sorted_below_their_names() -> None:
    """Two scales in one column are no order: each metric has a heading, and no column says it again."""
    made = runs()
    for number, value in enumerate((3.0, 5.0)):
        made.append(MadeRun(f"game_{number}", framework="stable-baselines3", modified=NOW))
        made[-1].add("rollout/ep_rew_mean", np.linspace(0.0, value, 50))
    screen = opened(*made)
    screen.press("r")
    screen.state.saved.run_order = "best"
    shown = text(screen).splitlines()
    heads = [at for at, one in enumerate(shown) if "median" in one]
    assert len(heads) == 3 and shown[heads[0]].startswith(" Reward 3") and "metric" not in shown[1]
    assert [one.split()[2] for one in shown[heads[1] + 1 : heads[1] + 3]] == ["game_1", "game_0"]
    screen.state.saved.run_order = "age"
    assert "median" not in text(screen)


def test_a_filter_takes_words_numbers_and_health_together() -> None:
    """What is typed leaves the runs that all of it holds of; Tab completes its last word."""
    screen = run_list()
    screen.press("/")
    for key in "step>150 crit":
        screen.press(key)
    screen.press("tab")
    assert screen.overlays[-1].query == "step>150 critical"
    assert listed(screen) == ["exp/run_9"]
    screen.press("enter")
    assert "1 of 4" in text(screen).splitlines()[0] and "step>150 critical" in text(screen).splitlines()[0]
    screen.press("/")
    screen.press("escape")
    assert len(listed(screen)) == 4


def test_a_filter_that_no_run_fulfils_says_what_it_may_consist_of() -> None:
    """Nothing has this name; below the words over the columns stands what a filter takes."""
    screen = run_list()
    for key in ("/", *"zork"):
        screen.press(key)
    shown = text(screen)
    assert "no run matches" in shown and "critical, warning" in shown and "lr>1e-4" in shown


def test_what_a_filter_can_become_is_offered() -> None:
    """The last line names keys that begin with what was typed, values are not guessed."""
    screen = run_list()
    for key in ("/", "s", "t"):
        screen.press(key)
    assert "step>" in text(screen).splitlines()[-1] and "stalled" in text(screen).splitlines()[-1]
    for key in "ep>1":
        screen.press(key)
    assert "Tab" not in text(screen).splitlines()[-1]


def test_names_do_not_change_while_one_filters() -> None:
    """A run is called the same whatever else is listed."""
    screen = run_list()
    before = next(one for one in text(screen).splitlines() if "run_9" in one).split()
    for key in ("/", *"run_9"):
        screen.press(key)
    after = next(one for one in text(screen).splitlines()[2:] if "run_9" in one).split()
    assert before[2] == after[2] == "run_9"


def test_the_words_stay_while_the_list_scrolls() -> None:
    """In a list longer than the screen the words over the columns are always seen."""
    many = [short_run(f"run_{number}", modified=NOW - number) for number in range(60)]
    screen = opened(*many)
    for key in ("r", "end"):
        screen.press(key)
        page = screen.frame(100, 24)
    assert "age ↑" in page.lines[0].text and "last" in page.lines[1].text
    assert any("run_59" in one.text for one in page.lines)
    spot = next(s for s in page.spots if s.action == "item" and s.argument == "59")
    assert "run_59" in page.lines[spot.y].text


def test_only_lines_in_sight_ask_for_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand runs are sorted without drawing one of those that are not seen."""
    drawn: list[str] = []
    trend = run_facts._trend
    monkeypatch.setattr(
        run_facts, "_trend", lambda view, *rest: (drawn.append(view.name), trend(view, *rest))[1]
    )
    many = [short_run(f"run_{number}") for number in range(100)]
    screen = opened(*many)
    for key in ("r", "S", "down"):
        screen.press(key)
        screen.frame(140, 24)
    assert 0 < len(set(drawn)) <= 24


@pytest.mark.parametrize("width", [24, 40, 56, 60, 80, 100, 140, 200])
@pytest.mark.parametrize("height", [5, 8, 12, 24])
def test_every_line_fits(width: int, height: int) -> None:
    """Whatever the size, the page fills it and no row of columns is cut at the edge."""
    screen = run_list()
    lines = screen.frame(width, height).lines
    assert len(lines) == height and all(one.width <= width for one in lines)
    rows = [one.text for one in lines if "run_9" in one.text][:1]
    assert rows and (width < 40 or not rows[0].rstrip().endswith("…"))


def test_what_a_list_asks_of_many_runs_is_found_before_it_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    """One run in each turn where there is no time for more; then no key looks for outcomes."""
    session = Session()
    for place in range(40):
        rows = [("critic/score/mean", step, step / 9 + place) for step in range(9)]
        session.apply([delivery(rows, run=f"run{place}", path=f"run{place}/metrics.jsonl")])
    session.evaluate(force=True)
    screen = Screen(session)
    turns = 1
    while prepare(screen.state, 0.0):
        turns += 1
    assert turns == 40
    monkeypatch.setattr(outcome_row, "key_rows", lambda *_, **__: pytest.fail("looked for again"))
    screen.state.saved.run_order = "best"
    screen.press("r")
    assert listed(screen)[0] == "run39"


def test_a_constant_outcome_is_a_thin_line() -> None:
    """A bar of half height would look like a level between two others."""
    level, rising = short_run("level"), short_run("rising")
    level.add("critic/score/mean", [1.0] * 40)
    level.add("critic/rewards/mean", [1.0] * 40)
    rising.add("critic/rewards/mean", [step / 40 for step in range(40)])
    text = "\n".join(line.text for line in run_list([level, rising]).frame(140, 40).lines)
    assert "────────────" in text and "▁▂" in text and "▄▄▄▄" not in text


def test_a_list_without_runs_says_that_there_are_none_yet() -> None:
    """Only where a filter hides them does no run match."""
    screen = Screen(Session())
    screen.press("r")
    assert any("no runs yet" in line.text for line in screen.frame(80, 24).lines)


def test_a_list_without_runs_offers_no_key_for_a_run() -> None:
    """Nothing can be shown, marked, sorted or grouped there; a filter and the way back remain."""
    screen = Screen(Session())
    screen.press("r")
    title, foot = (screen.frame(80, 24).lines[at].text for at in (0, -1))
    assert "Esc back" in foot and "/ filter" in foot
    assert not {"show", "mark", "sort", "group", "columns"} & set(foot.split())
    assert ":" not in title


def test_the_end_of_a_long_name_stays_in_the_line_of_the_selected_run() -> None:
    """Runs of a sweep differ at their end: it is kept where the whole name does not fit."""
    made = short_run("sweep/ppo_lr1e-4_clip0.2_ent0.01_gae0.95_seed37")
    told = run_list([made]).frame(40, 12).lines[-2].text
    assert told.rstrip().endswith("_seed37") and told.startswith(" sweep/ppo") and "…" in told


def test_a_run_of_which_nothing_could_be_read_says_why() -> None:
    """Neither silence nor waiting is the reason, whatever its file's age."""
    run = MadeRun("broken", modified=NOW - 4000)
    problem = Problem("warning", "not-an-event-file", "events", "it does not begin like an event file")
    run.run.problems[problem.key] = problem
    screen = opened(run)
    assert "? not judged   nothing could be read: it does not begin" in screen.frame(120, 24).lines[1].text
    screen.press("r")
    assert "nothing could be read" in screen.frame(120, 24).lines[2].text


def test_the_list_names_a_deleted_log() -> None:
    """The run is still listed with what was read, and looks like one that ended."""
    made = short_run("deleted")
    made.run.sources = {path: source._replace(gone=True) for path, source in made.run.sources.items()}
    lines = [one.text for one in run_list([made]).frame(120, 24).lines]
    assert "the log is gone" in lines[2] and "nothing is wrong" not in lines[-2]


def test_without_reasons_a_narrow_list_shows_best_and_trend() -> None:
    """At 80 columns the room of reasons is that of other columns while nothing is wrong with the runs."""
    fine = [believable(name=f"exp/seed-{seed}", seed=seed) for seed in (1, 2)]
    screen = run_list(fine)
    head = screen.frame(80, 24).lines[1].text.split()
    assert {"last", "best", "trend", "step", "why"} <= {*head}
    fine[0].found = [finding(title="a reason of a third of the line")]
    screen = run_list(fine)
    head, row = (screen.frame(80, 24).lines[at].text for at in (1, 2))
    assert "trend" not in head and "a reason of a third of the line" in row


@pytest.mark.parametrize("key", ["g", "C"])
def test_a_setting_is_found_by_letters_that_are_together(key: str) -> None:
    """Where some names have the word, those that only have its letters in order are left out."""
    names = ("clip_range", "learning_rate", "critic/lr", "lr_scheduler", "lower_reward", "layers")
    settings = {
        view.name: HParams({name: HParam(name, number, "config.yaml") for name in names})
        for number, view in enumerate(shared_runs())
    }
    screen = run_list()
    screen.state.run_hparams = RunHParams(lambda view: settings[view.name])

    def offered(word: str) -> set[str]:
        for one in (key, *word):
            screen.press(one)
        screen.frame(140, 40)
        items = {argument for _, argument in screen.overlays[-1].drawn.items}
        screen.press("escape")
        return items

    assert offered("lr_") == {"setting:lr_scheduler"}
    assert {"setting:critic/lr", "setting:lr_scheduler"} <= offered("lr")
    assert "setting:learning_rate" in offered("lrate")  # nothing has these letters together

"""The list of runs: sorted by any column, either way, with its selection held."""

from __future__ import annotations

import pytest

from rltui.screen.pages.lists.run_sorting import COLUMNS, natural, next_sorting, sorted_runs
from rltui.screen.state import RunSorting
from tests.support.fakerun import NOW, FakeRun, believable
from tests.support.screens import Screen, opened


def runs() -> list[FakeRun]:
    """Four runs that differ in everything that a column shows."""
    found = []
    for number, (name, steps, health, state) in enumerate((
        ("exp/run_10", 90, "ok", "ended"), ("exp/run_9", 300, "critical", "live"),
        ("exp/Alpha", 120, "warning", "stalled"), ("exp/beta", 200, "ok", "live"),
    )):  # fmt: skip
        run = believable(steps, seed=number)
        run.name, run.state, run.framework = name, state, f"kind{3 - number}"
        run.modified = NOW - 60 * number
        run.health = run.evaluator.health = health
        found.append(run)
    return found


def run_list() -> Screen:
    """A screen that shows the list."""
    screen = opened(*runs())
    screen.press("r")
    screen.frame(140, 40)
    return screen


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
        ("framework", "exp/beta", "exp/run_10"),
    ],
)  # fmt: skip
def test_every_column_sorts_both_ways(column: str, first: str, last: str) -> None:
    """A column brings the run first that one looks for in it; turned round, the other end comes first."""
    screen = run_list()
    screen.state.filters.run_sorting = RunSorting(column)
    assert (listed(screen)[0], listed(screen)[-1]) == (first, last)
    screen.press("R")
    turned = {"health": "exp/run_10"}.get(column, last)  # equal ones keep their order
    assert listed(screen)[0] == turned


def test_names_sort_as_people_count() -> None:
    """Nine comes before ten, capitals do not matter."""
    names = ["run_10", "Run_9", "run", "run_9b"]
    assert sorted(names, key=natural) == ["run", "Run_9", "run_9b", "run_10"]


def test_runs_that_lack_a_value_come_last_either_way() -> None:
    """A run without points never stands before those that have some."""
    bare = FakeRun(name="bare")
    bare.series.clear()
    for turned in (False, True):
        found = sorted_runs(RunSorting("key metric", turned), [bare, *runs()], NOW, lambda view: "ok")
        assert found[-1] is bare


def test_the_heading_shows_which_way() -> None:
    """The word over the column that sorts carries the arrow, and so does the title."""
    screen = run_list()
    assert "last ↑" in text(screen) and "Runs by age ↑" in text(screen)
    screen.press("R")
    assert "last ↓" in text(screen)
    screen.press("<")
    assert "step ↓" in text(screen) and "last ↓" not in text(screen)


def test_the_keys_go_round_all_columns() -> None:
    """As many presses as there are columns lead back to the first."""
    order = RunSorting()
    seen = []
    for _ in COLUMNS:
        seen.append(order.column)
        order = next_sorting(order, 1)
    assert order == RunSorting() and len(set(seen)) == len(COLUMNS)


def test_the_selection_stays_with_its_run() -> None:
    """Sorting, turning, new data and a filter that keeps it move the line, not the choice."""
    screen = run_list()
    screen.press("down")
    chosen = screen.overlays[-1].kind.selected
    for key in ("S", "S", "R", "<", "R"):
        screen.press(key)
        names = listed(screen)
        assert names[screen.overlays[-1].at] == chosen
    next(run for run in screen.session.runs.values() if run.name == chosen).modified += 9999
    assert listed(screen)[screen.overlays[-1].at] == chosen
    screen.press("enter")
    assert screen.view.name == chosen


def test_a_click_on_a_word_sorts_and_a_second_one_turns() -> None:
    """The words over the columns are buttons."""
    screen = run_list()
    page = screen.frame(140, 40)
    spot = next(spot for spot in page.spots if spot.action == "sort-by" and spot.argument == "health")
    y = next(at for at, one in enumerate(page.lines) if "framework" in one.text and "last ↑" in one.text)
    assert spot.y == y and page.lines[y].text[spot.x :].startswith("health")
    screen.do(spot.action, spot.argument)
    assert screen.state.filters.run_sorting == RunSorting("health")
    screen.do(spot.action, spot.argument)
    assert screen.state.filters.run_sorting == RunSorting("health", reversed=True)


def test_the_order_is_kept_until_the_list_is_opened_again() -> None:
    """Closing the list does not forget how it was sorted."""
    screen = run_list()
    screen.press("S")
    before = listed(screen)
    screen.press("escape")
    screen.press("r")
    assert listed(screen) == before


def test_the_words_stay_while_the_list_scrolls() -> None:
    """In a list longer than the screen the words over the columns are always seen."""
    many = []
    for number in range(60):
        run = believable(20, seed=1)
        run.name, run.modified = f"run_{number}", NOW - number
        many.append(run)
    screen = opened(*many)
    for key in ("r", "end"):
        screen.press(key)
        page = screen.frame(100, 24)
    assert any("last ↑" in one.text for one in page.lines)
    assert any("run_59" in one.text for one in page.lines)
    spot = next(s for s in page.spots if s.action == "item" and s.argument == "59")
    assert "run_59" in page.lines[spot.y].text


@pytest.mark.parametrize("width", [24, 40, 56, 60, 80, 100, 140, 200])
def test_no_line_is_cut_at_the_frame(width: int) -> None:
    """Whatever the width, every line of the list ends at its frame."""
    screen = run_list()
    lines = [one.text for one in screen.frame(width, 24).lines]
    inside = [one[: one.rindex("│")] for one in lines if one.count("│") >= 2]
    assert inside and (width < 40 or not any(one.rstrip().endswith("…") for one in inside))

"""Other runs beside the one shown: on every card, in the line of names, against a baseline at one step."""

from __future__ import annotations

import numpy as np
import pytest

from rltui.panes.baseline.comparison import Difference, compare
from rltui.panes.rows.row import difference_text
from rltui.session.session import Session
from tests.support.runs.made_run import MadeRun
from tests.support.screen.expected_screens import recorded
from tests.support.screen.screens import Screen, opened


def run(name: str, *, steps: int = 100, **levels: float) -> MadeRun:
    """A run whose metrics stand still."""
    made = MadeRun(name=name)
    for tag, level in levels.items():
        made.add(tag, np.full(steps, level), title=tag.capitalize(), pane="reward", canonical=f"x.{tag}")
    return made


def opened_with(*runs: MadeRun, marked: str = "", **options: object) -> Screen:
    """The first run shown, others marked."""
    screen = opened(*runs, **options)
    screen.choose_run(runs[0].name)
    screen.state.selection.marked_runs = marked.split()
    return screen


@pytest.mark.parametrize("options", [{}, {"ascii_only": True}])
def test_marked_runs_lie_over_every_card(options: dict[str, bool]) -> None:
    """Each card shows the marked runs in their colours, and their signs, so that colours are not needed."""
    screen = opened_with(run("a", score=0.2, loss=3.0), run("b", score=0.8, loss=1.0), marked="b", **options)
    shown = screen.text()
    assert shown.count("◆") >= 3  # in the line of names and on both cards
    roles = {role for line in screen.frame(100, 30).lines for _, role in line.spans}
    assert "series1" in roles
    screen.state.selection.marked_runs = []
    assert "◆" not in screen.text()


def test_the_line_of_names_says_who_is_who_and_how_many() -> None:
    """Under the tabs stand the signs of the runs and how many are marked, in every pane."""
    screen = opened_with(run("a", score=0.2), run("b", score=0.8), run("c", other=1.0), marked="b c")
    for pane in ("overview", "reward"):
        screen.state.selection.pane = pane
        (names,) = [line for line in screen.text(80, 24).splitlines() if "marked" in line]
        assert "━ a" in names and "◆ b" in names and "★ c" in names and names.endswith("2 marked")


def test_names_give_way_where_there_is_little_room() -> None:
    """Long names are cut, signs are not."""
    screen = opened_with(run("a" * 60, score=0.2), run("b" * 60, score=0.8), run("c" * 60, score=1.0))
    screen.state.selection.marked_runs = ["b" * 60, "c" * 60]
    (names,) = [line for line in screen.text(60, 24).splitlines() if "marked" in line]
    assert all(sign in names for sign in "━◆★")


def test_a_run_keeps_its_sign_where_others_lack_the_metric() -> None:
    """The third run has the same sign in the line of names, on cards and in large charts."""
    screen = opened_with(run("a", score=0.2), run("b", other=0.8), run("c", score=1.0), marked="b c")
    screen.state.selection.pane = "reward"
    screen.press("enter")
    legend = screen.frame(100, 30).lines[1].text
    assert "● a" in legend and "★ c" in legend and "b does not write this" in legend


def test_the_preview_of_a_pane_shows_marked_runs() -> None:
    """The curve below a short pane has them too, within a range that holds both."""
    screen = opened_with(run("a", score=0.2), run("b", score=0.8), marked="b")
    screen.state.selection.pane = "reward"
    roles = [role for line in screen.frame(100, 30).lines[8:] for _, role in line.spans]
    assert "series1" in roles


# ---- the baseline


def pair(ours: object, theirs: object, *, steps: int = 100) -> Difference:
    """The difference of one metric between two runs."""
    one, two = MadeRun(name="a"), MadeRun(name="b")
    for made, values in ((one, ours), (two, theirs)):
        made.add("x", values, canonical="x.x", title="X")
    found = compare(one, two)
    assert found is not None
    return found.differences[0]


def test_no_flag_below_the_noise() -> None:
    """A difference of medians within their own error is none, be the baseline ever so still."""
    rng = np.random.default_rng(0)
    assert not pair(rng.normal(1e-9, 1e-8, 100), rng.normal(0, 1e-10, 100)).outside
    assert pair(rng.normal(5.0, 2.0, 100), rng.normal(0.01, 0.001, 100)).outside


def test_what_is_logged_now_and_then_is_judged_by_a_longer_time() -> None:
    """One point in the matched window is no spread: an accuracy that goes up and down is within its own."""
    steps = np.arange(0, 100, 10) + 5
    values = np.tile([0.96, 1.0], 5)
    one, two = MadeRun(name="a"), MadeRun(name="b")
    for made, course in ((one, values[::-1]), (two, values)):
        made.add("acc", course, steps, canonical="v.acc", title="Accuracy")
        made.add("loss", np.zeros(100))
    found = compare(one, two)
    assert found is not None and [one.outside for one in found.differences if one.tag == "acc"] == [False]


def test_the_range_of_a_baseline_holds_its_level() -> None:
    """Of one that rises and is logged now and then, the level is above the quartiles of the longer time."""
    one, two = MadeRun(name="a"), MadeRun(name="b")
    for made in (one, two):
        made.add("acc", np.linspace(0, 1, 10), np.arange(0, 100, 10) + 5, canonical="v.acc", title="Accuracy")
        made.add("loss", np.zeros(100))
    found = compare(one, two)
    assert found is not None
    assert all(low <= each.baseline <= high for each in found.differences for low, high in [each.spread])


def test_percent_only_where_it_means_something() -> None:
    """A baseline that goes both sides of zero is no measure in percent; equal values are equal."""
    around = np.tile([-0.1, 0.12], 50)
    assert pair(np.full(100, 0.5), around).percent is None
    assert "%" not in difference_text(pair(np.full(100, 0.5), around), "")
    assert difference_text(pair(np.full(100, 2.0), np.full(100, 1.0)), "").strip() == "+100%!"
    assert difference_text(pair(np.full(100, 1.0), np.full(100, 1.0)), "").strip() == "="
    assert difference_text(pair(np.full(100, 0.0), np.full(100, 0.0)), "").strip() == "="


def test_value_and_difference_are_of_one_step() -> None:
    """Beyond the end of the baseline the level at its last step is shown, and the heads say which step."""
    shorter, longer = run("base", steps=60, score=0.5), run("a")
    longer.add("score", np.repeat([0.5, 1.0], [60, 40]), title="Score", pane="reward", canonical="x.score")
    screen = opened_with(longer, shorter, baseline="base")
    assert "base baseline: medians up to step 60" in screen.text()
    screen.state.selection.pane = "reward"
    shown = screen.text()
    head = next(line for line in shown.splitlines() if "metric" in line and "vs base" in line)
    row = next(line for line in shown.splitlines() if line.lstrip().startswith("Score"))
    assert "at 60" in head and "last" not in head
    assert "0.500" in row and "1.000" not in row.split("0.500")[0]


def test_a_run_that_has_not_come_as_far_shows_its_last_value() -> None:
    """Then both are at the newest step of the run."""
    screen = opened_with(run("a", steps=60, score=0.7), run("base", steps=100, score=0.5), baseline="base")
    screen.state.selection.pane = "reward"
    shown = screen.text()
    assert "at 60" in shown and "base baseline: medians up to step 60" in shown and "+40.0%" in shown


def test_recorded_runs_over_each_other() -> None:
    """Real runs of two recordings are compared within the wide screen and the small one."""
    screen = recorded("late-collapse", "kl-runaway")
    shown = screen.session.ordered()[0]
    screen.choose_run(shown.name)
    screen.state.selection.marked_runs = [view.name for view in screen.session.ordered() if view is not shown]
    for size in ((140, 45), (80, 24)):
        lines = [line.text for line in screen.frame(*size).lines]
        assert max(map(len, lines)) <= size[0] and sum("◆" in line for line in lines) > 3


def test_sessions_without_runs_have_no_line() -> None:
    """Nothing is marked before there is anything."""
    screen = opened()
    screen.session = Session()
    screen.state.selection.marked_runs = ["gone"]
    assert "marked" not in screen.text()


def test_a_difference_in_a_card_is_whole() -> None:
    """The shortest exponent there is fits beside its mark, at 80 columns too."""
    ours, theirs = MadeRun(name="a"), MadeRun(name="base")
    ours.add("kl", np.full(100, 2.8e-4), title="KL", pane="reward", canonical="policy.approx_kl")
    theirs.add("kl", np.tile([-1e-9, 1e-9], 50), title="KL", pane="reward", canonical="policy.approx_kl")
    assert "+2.80e-4!" in opened_with(ours, theirs, baseline="base").text(80, 24)


def test_the_run_shown_can_be_marked_where_it_is_shown() -> None:
    """The key of the list of runs marks the run on the screen, so that it lies over the next one."""
    screen = opened_with(run("a", score=0.2), run("b", score=0.8))
    screen.press("x")
    assert screen.state.selection.marked_runs == ["a"] and "a is marked" in screen.message
    screen.choose_run("b")
    assert "◆ a" in screen.text() and "1 marked" in screen.text()
    screen.choose_run("a")
    screen.press("x")
    assert screen.state.selection.marked_runs == [] and "no longer marked" in screen.message


def test_a_chart_says_what_its_difference_is_to() -> None:
    """Value and difference in its title are of the step that is named with the baseline."""
    shorter, longer = run("base", steps=60, score=0.5), run("a", steps=100, score=0.4)
    screen = opened_with(longer, shorter, baseline="base")
    screen.state.selection.pane = "reward"
    screen.press("enter")
    assert "0.400  -20.0%! vs base, medians at 60" in screen.frame(100, 30).lines[0].text
    assert screen.frame(40, 12).lines[0].width <= 40


def test_more_runs_than_there_is_room_for_are_counted() -> None:
    """Names stay readable; how many have none in the line is told."""
    runs = [run(f"a-run-of-seed-{at}", score=at / 10) for at in range(8)]
    screen = opened_with(*runs, marked=" ".join(one.name for one in runs[1:]))
    (names,) = [line for line in screen.text(80, 24).splitlines() if "marked" in line]
    assert names.rstrip().endswith("7 marked") and "+" in names and "……" not in names
    shown = sum(sign in names for sign in "◆★✚▼○■▲")
    assert f"+{7 - shown}  " in names and shown >= 3


def test_the_list_of_runs_has_the_signs_of_the_curves() -> None:
    """Who is who can be read where runs are marked."""
    screen = opened_with(run("a", score=0.2), run("b", score=0.8), run("c", score=0.9), marked="c b a")
    screen.press("r")
    lines = screen.text().splitlines()
    for sign, name in (("━", "a"), ("★", "b"), ("◆", "c")):
        assert any(line.startswith(sign) and f" {name} " in line for line in lines[2:])

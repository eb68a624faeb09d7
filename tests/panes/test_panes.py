"""Panes: what a pane shows, as data and as lines of cells, without a screen."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rltui.common.display_text import cell_width
from rltui.config.user_config import Config, UserPane
from rltui.draw.cells import Line, crop, cut, fill, line, side_by_side, sides, wrap
from rltui.metrics.glossary_files import general_panes
from rltui.panes.charts.curve import bridge, curve
from rltui.panes.charts.step_window import StepWindow, column_width, window_of
from rltui.panes.charts.value_axis import Ranges
from rltui.panes.evidence import evidence_of
from rltui.panes.header import coarse_age, header
from rltui.panes.pane import PaneView, pane_view
from rltui.panes.pane_tabs import FIXED, WITHOUT_METRICS, panes_of
from rltui.panes.render.cards import card_grid
from rltui.panes.render.lines.header_lines import finding_lines, header_lines, tab_bar
from rltui.panes.render.lines.pane_lines import (
    header_line,
    pane_lines,
    plan_columns,
    row_lines,
    short_key,
    short_title,
)
from rltui.panes.render.plain_text import as_text, pane_text
from rltui.panes.rows.key_rows import key_rows
from rltui.panes.rows.row import rows_of, value_at
from rltui.rules.finding import Evidence
from rltui.rules.run_status.liveness import Liveness
from rltui.session.run_view import RunView
from tests.support.runs.made_run import NOW, MadeRun, believable, finding, made_series
from tests.support.screen.overviews import overview_of
from tests.support.screen.screens import warned

ALWAYS = ["overview", "findings", "all", "config"]


@pytest.fixture
def view() -> RunView:
    """A believable run with one warning."""
    return warned()


def test_panes_that_are_always_there() -> None:
    """A run without a single metric has the panes that need none, in their order, and no empty tab."""
    ids = [tab.id for tab in panes_of(MadeRun())]
    assert ids == [pane for pane in FIXED if pane in ALWAYS]


def test_panes_that_metrics_call_for(view: RunView) -> None:
    """Validation appears with such metrics, a section of the run's own names before findings and all."""
    ids = [tab.id for tab in panes_of(view)]
    assert "validation" in ids
    assert "preference" not in ids
    assert ids[-4:] == ["mine", "findings", "all", "config"]


def test_the_advice_on_an_only_finding_is_not_cut() -> None:
    """Below a header that tells the finding, it has up to two lines of its own; beside others one."""
    one = finding()._replace(
        advice="Lower the micro-batch size, or the longest response. " + "Or offload. " * 6
    )
    alone = [each.text for each in finding_lines([one], 80, 5, told=True)]
    assert len(alone) == 2 and alone[0].startswith(" ▲ → Lower") and "…" not in "".join(alone)
    assert len(finding_lines([one, one._replace(id="other")], 80, 5, told=True)) == 2


def test_tabs_do_not_count_what_another_finding_explains() -> None:
    """It is folded below that one in the pane findings; a pane without that one counts it."""
    run = believable()
    part = finding()._replace(explained_by="cause")
    cause = finding()._replace(id="cause", symptom=True)
    other = part._replace(id="other", pane="lengths", metrics=())
    tabs = {tab.id: tab.warnings for tab in panes_of(run, [cause, part, other])}
    assert (tabs["findings"], tabs[cause.pane], tabs["lengths"]) == (1, 1, 1)


def test_no_section_of_a_run_takes_the_place_of_a_pane() -> None:
    """Keys such as `config/lr` get a pane beside the one of that name, which shows something else."""
    assert set(WITHOUT_METRICS) <= set(general_panes())


def test_a_title_of_the_users_stands_on_tab_and_heading() -> None:
    """`[panes.mine] title` of the configuration names the pane wherever it is named."""
    view = believable(config=Config(panes={"mine": UserPane("My own things")}))
    titles = {tab.id: tab.title for tab in panes_of(view)}
    assert (titles["mine"], titles["policy"]) == ("My own things", "policy")
    assert pane_view(view, "mine", NOW).title == "My own things"
    assert "My own things" in as_text(pane_text(view, "mine", NOW))


def test_warnings_are_counted_on_tabs(view: RunView) -> None:
    """A warning is counted on the tab of its pane and on the findings tab, not on the others."""
    counts = {tab.id: (tab.warnings, tab.severity) for tab in panes_of(view) if tab.warnings}
    assert counts == {"policy": (1, "warning"), "findings": (1, "warning")}


def test_a_remark_is_no_warning(view: RunView) -> None:
    """Findings of severity info are not counted: a healthy run has no number on any tab."""
    view.found = [finding(severity="info")]
    assert not any(tab.warnings for tab in panes_of(view))


def test_a_distribution_is_one_row(view: RunView) -> None:
    """Mean, min and max of one distribution share a row, which shows the mean and the spread."""
    (row,) = pane_view(view, "reward", NOW).rows
    assert row.kind == "band"
    assert row.title == "Reward"
    assert row.tags == ("critic/rewards/mean", "critic/rewards/min", "critic/rewards/max")
    assert row.spread_text == "-0.99…1.02"


def test_a_distribution_can_be_taken_apart(view: RunView) -> None:
    """Full density shows every key in a row of its own."""
    assert [row.kind for row in pane_view(view, "reward", NOW, merge=False).rows] == ["metric"] * 3


def test_rows_come_by_importance(view: RunView) -> None:
    """The order within a pane is that of the glossary, never that of the alphabet."""
    titles = [row.title for row in pane_view(view, "policy", NOW).rows]
    assert titles == ["KL old to new", "Clip fraction", "Entropy", "Gradient norm", "Learning rate"]


def test_pinned_rows_come_first(view: RunView) -> None:
    """A pinned metric is the first of its pane."""
    assert pane_view(view, "policy", NOW, pinned=["actor/lr"]).rows[0].tag == "actor/lr"


def test_no_metric_is_lost(view: RunView) -> None:
    """The pane of all metrics shows every key that was logged, with headings between panes."""
    made = pane_view(view, "all", NOW)
    assert {tag for row in made.rows for tag in row.tags} == set(view.run.series)
    assert next(row.title for row in made.rows if row.kind == "heading") == "Validation"


def test_a_finding_is_on_its_row(view: RunView) -> None:
    """The row of a metric with a finding says in words what is wrong and since when."""
    text = as_text(pane_lines(pane_view(view, "policy", NOW), 100))
    assert "▲ Clip fraction" in text
    assert "clip fraction > 0.2 · since step 212" in text


def test_an_empty_pane_says_why() -> None:
    """A pane without metrics says what to log to fill it, and has no tab."""
    text = as_text(pane_lines(pane_view(MadeRun(), "critic", NOW), 100))
    assert "log explained variance" in text


@pytest.mark.parametrize("width", [20, 34, 40, 56, 80, 100, 140, 200])
def test_lines_fit_every_width(view: RunView, width: int) -> None:
    """No line of a pane is wider than asked, and every row still shows its value."""
    made = pane_view(view, "all", NOW)
    lines = pane_lines(made, width)
    assert max(one.width for one in lines) <= width
    assert any("0.0238" in one.text for one in lines)


def test_columns_leave_in_a_sensible_order(view: RunView) -> None:
    """The narrower, the fewer columns: first the key, then the range, then the change; the value stays."""
    made = pane_view(view, "policy", NOW)
    assert plan_columns(140, made).key and plan_columns(120, made).key
    assert not plan_columns(100, made).key and plan_columns(80, made).range
    assert not plan_columns(70, made).range and plan_columns(70, made).change
    assert not plan_columns(44, made).change and plan_columns(44, made).spark


@pytest.mark.parametrize(("width", "height"), [(140, 45), (100, 30), (80, 24)])
def test_the_overview_shows_what_matters(view: RunView, width: int, height: int) -> None:
    """Reward, KL, entropy, length and the warnings are on the smallest ordinary screen."""
    lines, cards = overview_of(view, NOW, width, height - 5)
    text = "\n".join(one.text for one in lines)
    for word in ("Reward", "KL", "Entropy", "Response", "clip fraction > 0.2"):
        assert word in text
    assert len(lines) <= height - 5
    assert max(one.width for one in lines) <= width
    assert len(cards) >= 6


def test_an_unknown_run_has_an_overview_too() -> None:
    """A run whose names nobody knows shows its own first metrics."""
    run = MadeRun()
    for name in ("a", "b", "c"):
        run.add(f"x/{name}", np.arange(5))
    assert len(key_rows(run, 6)) == 3


def test_a_clock_is_no_card_while_there_are_others() -> None:
    """The seconds of a monitor.csv have no card beside return and length, but one where they are alone."""
    run, clock = MadeRun(framework="stable-baselines3"), MadeRun(framework="stable-baselines3")
    for tag in ("r", "l", "t"):
        run.add(tag, np.arange(50.0) % 7)
    clock.add("t", np.arange(50.0))
    assert sorted(row.tag for row in key_rows(run, 6)) == ["l", "r"]
    assert [row.tag for row in key_rows(clock, 6)] == ["t"]


@pytest.mark.parametrize("outcome", ["reward", "score"])
def test_the_outcome_of_a_loop_is_its_reward_not_the_length_of_episodes(outcome: str) -> None:
    """Also of one with random actions whose reward says not whether it is that of an episode."""
    run = MadeRun()
    for tag in ("episode_length", "epsilon", "loss", outcome):
        run.add(tag, np.arange(50.0) % 7)
    assert key_rows(run, 1)[0].tag == outcome


def test_cards_fill_the_box() -> None:
    """The grid never asks for more room than there is, and shows at least one card where any fits."""
    for width in range(24, 220, 7):
        for height in range(4, 60, 3):
            columns, count, rows = card_grid(12, width, height)
            assert columns >= 1 and rows >= 4
            assert -(-count // columns) * rows <= height
    assert card_grid(12, 20, 3) == (0, 0, 0)


def test_the_step_stays_in_the_narrowest_header() -> None:
    """Totals and words go before the step: a long training is followed on a small screen, too."""
    head = header(believable(), NOW)._replace(
        shown_name="mlagents-thesis", short_name="", given_name="", framework="ml-agents",
        liveness=Liveness("ended", total=1_300_000, progress=0.87, known=False), step=1_140_000,
    )  # fmt: skip
    first = header_lines(head, 40)[0].text
    assert "mlagents-thesis" in first and first.rstrip().endswith("■   step 1,140,000")


def test_a_log_that_is_still_being_read_is_not_called_silent() -> None:
    """The points of the last minutes may be those not read yet: its state is `reading` until all are."""
    made = believable(modified=NOW - 3600)
    assert header(made, NOW).state_word == "stalled"
    (path, source), *_ = made.run.sources.items()
    made.run.sources[path] = source._replace(size=1000, read=10, caught_up=False)
    head = header(made, NOW)
    assert (head.state_word, head.age_text, head.silence_text) == ("reading", "", "")
    assert "○ reading" in header_lines(head, 100)[0].text
    live = believable(modified=NOW - 4)
    live.run.sources[path] = source._replace(size=1000, read=10, caught_up=False)
    assert header(live, NOW).state_word == "live"


def test_a_log_whose_end_is_read_first_is_not_said_to_have_no_values() -> None:
    """Its step is known while none of its points is counted."""
    head = header(believable(), NOW)._replace(points=0, sentence="")
    assert "○ reading   its points are being read" in header_lines(head, 100)[1].text
    assert "no values have been written yet" in header_lines(head._replace(step=None), 100)[1].text


def test_a_narrow_header_does_not_cut_the_sentence_on_an_unknown_outcome() -> None:
    """The word before it says that; what was judged is said as a whole."""
    judged = "nothing is wrong in the 3 metrics that were judged"
    sentence = (
        f"{judged}, but no reward, return, score, success or held-out metric shows what the run achieves"
    )
    head = header(believable(), NOW)._replace(sentence=sentence, outcome_known=False)
    assert header_lines(head, 80)[1].text.strip() == f"? outcome not known   {judged}"
    assert header_lines(head, 200)[1].text.strip().endswith("achieves")


def test_the_header_keeps_the_name_and_the_step() -> None:
    """On a narrow screen the later facts go first: the run's name, its state and step stay."""
    run = believable()
    head = header(run, NOW)
    wide, narrow = header_lines(head, 140)[0].text, header_lines(head, 50)[0].text
    assert "eta" in wide and "verl" in wide
    assert "verl-grpo-a" in narrow and "step 300" in narrow and "live" in narrow
    for width in (20, 40, 80, 140):
        assert all(one.width <= width for one in header_lines(head, width))


def test_the_active_tab_is_always_in_sight(view: RunView) -> None:
    """However narrow the screen, the active tab and its mark are shown."""
    for width in (30, 60, 80, 140):
        for tab in panes_of(view):
            bar = tab_bar(panes_of(view), tab.id, width)
            spot = next(spot for spot in bar.spots if spot[2] == tab.id)
            assert tab.title in bar.line.text[spot[0] : spot[1]]
            assert "━" in bar.rule.text[spot[0] : spot[1]]
            assert bar.rule.width <= width or width < 40


def test_a_spike_survives() -> None:
    """One step far from all others is seen in a curve of any width."""
    run = MadeRun()
    values = np.ones(1000)
    values[500] = 50.0
    run.add("a/b", values)
    (row,) = rows_of(run, ["a/b"])
    for columns in (5, 60, 200):
        drawn = curve(row, window_of(1, 1000), columns)
        assert drawn is not None
        assert np.nanmax(drawn.high) == 50.0


def test_non_finite_values_are_marked_and_the_rest_is_drawn() -> None:
    """NaN and infinities neither hide the curve nor vanish: they are counted where they are."""
    run = MadeRun()
    run.add("a/b", [1.0, math.nan, 2.0, math.inf, 3.0, -math.inf, 4.0])
    (row,) = rows_of(run, ["a/b"])
    drawn = curve(row, window_of(1, 7), 7)
    assert drawn is not None
    assert drawn.nonfinite.tolist() == [0, 1, 0, 1, 0, 1, 0]
    assert np.nanmax(drawn.high) == 4.0
    assert "×" in as_text(pane_lines(pane_view(run, "a", NOW), 100))


def test_all_non_finite_and_one_point_and_constant() -> None:
    """Series of nothing but NaN, of one point, and of one value are shown without ado."""
    run = MadeRun()
    run.add("a/nan", [math.nan, math.nan])
    run.add("a/one", [3.5])
    run.add("a/same", [2.0] * 50)
    run.add("a/huge", [1e308, -1e308])
    text = as_text(pane_lines(pane_view(run, "a", NOW), 100))
    for words in ("NaN", "3.500", "2.000"):
        assert words in text


def test_gaps_of_usual_length_are_bridged() -> None:
    """A metric logged every third column is a line; a longer silence stays a gap."""
    count = np.array([1, 0, 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0])
    assert bridge(count).tolist() == [0, 0, 0, 3, 3, 3, 6, 6, 6, 6, 6, 6, -1, -1, -1, 15, -1, -1]
    assert bridge(np.zeros(4, int)).tolist() == [-1] * 4


def test_the_axis_holds_still_while_a_run_grows() -> None:
    """From one step to the next the column edges stay, except at rare moments."""
    changes = 0
    before = StepWindow(0, 1000, growing=True).edges(60)
    for last in range(1001, 2000):
        edges = StepWindow(0, last, growing=True).edges(60)
        changes += edges != before
        before = edges
        assert edges[0] <= 0 and edges[1] >= last + 1
        assert (last + 1) / edges[1] > 0.75
    assert changes <= 5


def test_column_widths_are_round() -> None:
    """Columns are 4 to 8 times a power of two and never too narrow."""
    for span in (1, 7, 100, 12345, 10**9):
        for columns in (10, 64, 200):
            width = column_width(span, columns)
            assert width * columns >= span
            assert width * columns <= span * 1.26


def test_an_own_axis_is_shown_on_its_own(view: RunView) -> None:
    """A tag that counts something else than steps is drawn over its own span instead of vanishing."""
    view.add("Train/reward/time", [1.0, 2.0, 3.0], step=[10_000, 20_000, 30_000])
    (row,) = rows_of(view, ["Train/reward/time"])
    drawn = curve(row, window_of(1, 300), 30)
    assert drawn is not None and drawn.points == 3


@pytest.mark.parametrize(
    ("values", "title"),
    [([0.2, 0.9, 1.0], "Accuracy"), ([0.99, 1.68, 1.68], "Score"), ([31.0, 44.5, 60.0], "Accuracy")],
)
def test_a_value_above_one_is_called_no_accuracy(values: list[float], title: str) -> None:
    """Trainers log as accuracy what a reward function returns; shares may be in percent."""
    view = MadeRun()
    view.add("val-core/news/acc/mean@1", values)
    (row,) = rows_of(view, ["val-core/news/acc/mean@1"])
    assert row.title == f"{title} · news @1"


def test_updates_in_a_run_of_environment_steps_are_drawn_over_their_own_count() -> None:
    """518 updates beside four million steps would be one column; what stopped early keeps its place."""
    view = MadeRun("a", "baselines")
    updates = np.linspace(10_000, 4_000_000, 518)
    view.add("approxkl", np.arange(518.0), step=range(1, 519), at=updates)
    view.add("early", np.arange(12.0), step=range(10_000, 130_000, 10_000))
    view.add("warmup", [3.0, 2.0, 1.0], step=[1, 2, 3])
    view.add("r", np.arange(400.0), step=range(10_000, 4_010_000, 10_000))
    assert view.run.last_step == 4_000_000
    rows = rows_of(view, ["r", "approxkl", "early", "warmup"])
    window = window_of(1, 4_000_000)
    columns = {
        row.tag: sum(math.isfinite(value) for value in drawn.mean)
        for row in rows
        if (drawn := curve(row, window, 40)) is not None
    }
    assert columns == {"r": 40, "approxkl": 40, "early": 2, "warmup": 1}


def test_the_heading_names_the_steps_that_the_curves_show() -> None:
    """Above curves over updates stand updates, and a crosshair at a step of the run has no value in them."""
    view = MadeRun("a", "baselines")
    for tag in ("r", "l"):
        view.add(tag, np.arange(400.0), step=range(10_000, 4_010_000, 10_000))
    for tag in ("approxkl", "clipfrac"):
        view.add(tag, np.arange(518.0), step=range(1, 519), at=np.linspace(10_000, 4_000_000, 518))
    pane = pane_view(view, "policy", NOW)
    columns = plan_columns(100, pane, 20_000)
    head = header_line(columns, pane).text
    assert " 518 " in head and "000,000" not in head
    assert "▼" not in header_line(plan_columns(100, pane, 20), pane).text  # of the run, not of an update
    (told,) = row_lines(pane.rows[0], columns, pane.window, notes=0)
    assert " – " in told.text and "517" not in told.text.split("…")[0]


@pytest.mark.parametrize("timed", [True, False])
def test_a_dense_warm_up_keeps_to_the_steps_of_the_run(timed: bool) -> None:
    """100 points of a pretraining before rows every 2,048 steps are of the run's first steps, at any step."""
    pretraining, training = range(0, 1_000, 10), range(2_048, 2_048 * 301, 2_048)
    view = MadeRun("a")
    for tag, steps in (("r", training), ("pretrain/loss", pretraining)):
        values = np.linspace(3.0, 1.0, len(steps))
        view.add(tag, values, step=steps, at=None if timed else np.full(len(steps), math.nan))
    for at_step in (None, 300_000):
        rows = {row.tag: row for row in rows_of(view, ["r", "pretrain/loss"], at_step=at_step)}
        assert not rows["pretrain/loss"].own_axis and rows["pretrain/loss"].at_step == at_step
        drawn = curve(rows["pretrain/loss"], window_of(0, 614_400), 40)
        assert drawn is not None and sum(math.isfinite(value) for value in drawn.mean) == 1


def test_updates_have_a_row_at_a_step_of_unknown_time() -> None:
    """Where the run's steps have no wall times, updates are shown as of the run's step, not left out."""
    view = MadeRun("a", "baselines")
    view.add("r", np.arange(400.0), step=range(10_000, 4_010_000, 10_000), at=np.full(400, math.nan))
    view.add("approxkl", np.arange(518.0), step=range(1, 519))
    (row,) = rows_of(view, ["approxkl"], at_step=2_000_000)
    assert row.own_axis and row.at_step == 2_000_000


def test_a_copy_has_a_row_only_without_the_series_itself() -> None:
    """What is logged again at other steps is of interest to whoever asks for it alone."""
    view, both = MadeRun("a", "di-engine"), ["learner_step/adv_mean_avg", "learner_iter/adv_mean_avg"]
    for tag in (*both, "collector_iter/reward_mean"):
        view.add(tag, [1.0, 2.0, 3.0])
    assert [row.tag for row in rows_of(view, both)] == both[:1]
    assert [row.tag for row in rows_of(view, both[1:])] == both[1:]
    assert view.tag_index.canonical["policy.advantage.mean"] == both[:1]


def test_values_of_an_earlier_moment() -> None:
    """Back in time a row shows the last value that was there then."""
    series = made_series("a", np.arange(10) * 1.5, np.arange(10))
    assert value_at(series, 4) == (6.0, 4.5)
    assert value_at(series, None) == (13.5, 12.0)
    assert value_at(series, -1) == (None, None)


def test_ranges_hold_still(view: RunView) -> None:
    """The range of a growing curve keeps while the data stay inside."""
    ranges = Ranges()
    board_of = pane_view(view, "policy", NOW)
    columns = plan_columns(120, board_of)
    row_lines(board_of.rows[0], columns, board_of.window, ranges)
    before = dict(ranges.shown)
    row_lines(board_of.rows[0], columns, board_of.window, ranges)
    assert before and ranges.shown == before


def test_ranges_hold_still_while_the_window_moves() -> None:
    """Of a run that is followed through its last quarter each curve keeps one range, and nothing piles up."""
    view, ranges = believable(400), Ranges()
    (row,) = rows_of(view, ["actor/grad_norm"])
    seen = set()
    for last in range(200, 400):
        window = window_of(1, last, share=0.25, growing=True)
        row_lines(row, plan_columns(120, PaneView("policy", "Policy", (row,), window)), window, ranges)
        assert len(ranges.shown) == 1
        seen.add(next(iter(ranges.shown.values()))[1])
    assert len(seen) <= 12


@pytest.mark.parametrize("pane", ["overview", "policy", "all", "findings", "critic", "mine"])
def test_a_snapshot_reads_well(view: RunView, pane: str) -> None:
    """Text for a chat: at most 100 cells a line, run, framework, step and age in front."""
    text = as_text(pane_text(view, pane, NOW))
    lines = text.splitlines()
    assert max(map(len, lines)) <= 100
    assert all(one == one.rstrip() for one in lines)
    for word in ("verl-grpo-a", "verl", "step 300 / 1,000", "last point"):
        assert word in lines[0]
    assert text.endswith("\n")


def test_an_age_does_not_tick() -> None:
    """An age is said in steps that grow, so that an idle screen is not repainted every second."""
    shown = {coarse_age(second) for second in range(7200)}
    assert len(shown) < 40
    assert all(0 <= second - coarse_age(second) <= 300 for second in range(0, 7200, 7))


def test_lines_are_cut_filled_and_laid_out() -> None:
    """Lines of cells keep their width whatever is in them: wide letters, too much text, none."""
    text = line(("日本語", "text"), (" and more", "dim"))
    for width in range(1, 20):
        assert fill(text, width).width == width
        assert crop(text, width).width <= width
        assert sides([("left side", "text")], [("right", "dim")], width).width <= max(width, 5)
    assert cut("Response length", 10) == "Response…"
    assert wrap("one two three", 7) == ["one two", "three"]
    assert [one.width for one in side_by_side([Line()], [text, text], 4)] == [6 + text.width, 6 + text.width]


def test_a_stalled_run_says_so_first(view: RunView) -> None:
    """Whatever was written is well, but nothing is written: no green tick; warnings stay."""
    head = header(view, NOW)._replace(
        liveness=Liveness("stalled", 2100.0, 64.0, "rollout.jsonl stopped first", total=200), health="ok"
    )
    second = header_lines(head, 120)[1]
    assert second.text.strip() == "◌ stalled 35m   usual gap 1m 04s · rollout.jsonl stopped first"
    assert second.spans[0][1] == "warn"
    sick = header_lines(head._replace(health="critical", sentence="Entropy is gone"), 120)[1].text
    assert sick.startswith(" ✖ critical   Entropy is gone. Stalled 35m: usual gap")
    assert "usual gap" not in header_lines(head._replace(liveness=Liveness("live")), 120)[1].text


def test_the_onset_is_kept_where_the_word_of_the_severity_has_no_room(view: RunView) -> None:
    """Since when is worth more than half a sentence, the word of the severity, and the count of runs."""
    told = "Updates were so large that the policy became deterministic; nothing changes (since step 512)"
    title = "updates far too large left a deterministic policy (since step 512)"
    head = header(view, NOW)._replace(health="critical", sentence=told, headline=title)
    assert header_lines(head, 80)[1].text.strip() == f"✖ {title}"
    right = [("run 1 of 2", "dim")]
    assert header_lines(head, 80, right=right)[1].text.strip() == f"✖ {title}"
    assert header_lines(head, 90, right=right)[1].text.split("   ")[-1].strip() == "run 1 of 2"
    assert "since" not in header_lines(head, 60)[1].text


def test_a_sentence_without_room_gives_way_to_the_title(view: RunView) -> None:
    """Half a sentence says less than the few words of a title, which no header cuts where they fit."""
    told = "Training pairs are told apart better and better, held-out pairs are not (since step 12)"
    head = header(view, NOW)._replace(health="warning", sentence=told, headline="overfitting (since step 12)")
    assert told in header_lines(head, 120)[1].text
    for width in (80, 92):  # the onset is worth more than the sentence without it
        assert header_lines(head, width)[1].text.strip() == "▲ warning   overfitting (since step 12)"
    assert header_lines(head, 30)[1].text.strip() == "▲ warning   overfitting"
    told = "Values became NaN or infinite: the run is lost from step 127 on; 1 more"
    head = head._replace(sentence=told, headline="NaN or infinite (since step 127)")
    assert told in header_lines(head, 120)[1].text
    assert header_lines(head, 60)[1].text.strip() == "▲ warning   NaN or infinite (since step 127)"


@pytest.mark.parametrize(
    ("title", "width", "shown"),
    [
        ("Reward component · length_reward", 20, "Rew… · length_reward"),
        ("Accuracy · tiny/words @4", 20, "Accuracy · …words @4"),
        ("Best of n · tiny/words/reward @2", 20, "Best o… · …reward @2"),
        ("Training loss · train_loss", 20, "Traini… · train_loss"),
        ("Policy loss · policy_loss_abs", 19, "… policy_loss_abs"),
        ("Identical responses · samples · val", 26, "Identical… · samples · val"),
        ("Entropy", 20, "Entropy"),
    ],
)
def test_a_short_title_still_tells_rows_apart(title: str, width: int, shown: str) -> None:
    """What stands behind the dot is kept as long as there is room for it."""
    assert short_title(title, width) == shown


@pytest.mark.parametrize("width", range(1, 60))
def test_short_keys_and_titles_fit(width: int) -> None:
    """Whatever the width, nothing is wider."""
    for text in ("a/b/c/mean_length", "Accuracy · tiny/words @4", "日本語のタグ/平均", "x" * 80, "a · b" * 9):
        assert cell_width(short_key(text, width)) <= width
        assert cell_width(short_title(text, width)) <= width


def test_a_short_key_keeps_its_last_part() -> None:
    """The last part of a key says what it is, the folders before it where it belongs."""
    assert short_key("train/completions/mean_length", 20) == "train/c…/mean_length"
    assert short_key("train/kl", 20) == "train/kl"


@pytest.mark.parametrize("width", [20, 24, 32, 40, 60, 80, 140])
def test_one_line_of_a_small_screen_says_how_the_run_is(view: RunView, width: int) -> None:
    """Where there is room for one line, it begins with the sign of the run's health and names the run."""
    head = header(view, NOW)._replace(
        shown_name="runs/sb3-ppo-late", short_name="sb3-ppo-late", health="critical"
    )
    (only,) = header_lines(head, width, alone=True)
    assert only.width <= width
    assert only.text.startswith(" ✖ ") and only.spans[0] == (" ✖", "bad")
    assert "sb3" in only.text and "late" in only.text


def test_a_run_without_values_is_not_called_healthy() -> None:
    """Before the first value there is nothing to judge: no green tick, on any screen and in a snapshot."""
    run = MadeRun()
    head = header(run, NOW)
    assert head.points == 0
    for alone in (False, True):
        words = "\n".join(one.text for one in header_lines(head, 100, alone=alone))
        assert "✓" not in words and words.startswith(" ○") is alone
    assert "waiting   no values have been written yet" in header_lines(head, 100)[1].text
    lines, cards = overview_of(run, NOW, 100, 20)
    assert not cards and "No metric has been read." in lines[0].text
    assert "✓" not in as_text(pane_text(run, "overview", NOW))


def test_evidence_is_told_on_the_scale_of_the_log() -> None:
    """Rules judge a share; where the log has percent, reports tell percent as the screen does."""
    run = MadeRun()
    run.add("used", np.full(40, 50.0), unit="fraction", scale=0.01)
    (row,) = rows_of(run, ["used"])
    found = finding()._replace(metrics=("used",), evidence=(Evidence("used", 0.5, 0.1, 30),))
    (told,) = evidence_of(run, found)
    assert told.change == "50.00 → 10.00" and row.value_text == "50.00"
    run.add("loss", np.full(40, -0.5), scale=-1.0)
    (told,) = evidence_of(run, found._replace(evidence=(Evidence("loss", 0.5, 0.1, 30),)))
    assert (told.title, told.change) == ("Minus loss", "-0.500 → -0.100")


def test_the_overview_gives_advice_where_the_header_has_the_finding() -> None:
    """In few columns the line below the header does not repeat it, but says what to do."""
    cause = finding(
        severity="critical", id="lr", title="the learning rate broke the policy", advice="Undo the change."
    )
    other = cause._replace(id="kl", title="KL is far too high")
    first, second = finding_lines([cause, other], 60, 3, told=True)
    assert first.text == " ✖ → Undo the change."
    assert "KL is far too high" in second.text and "Undo" not in second.text
    assert "broke the policy" in finding_lines([cause], 60, 3)[0].text
    wide = finding_lines([cause], 120, 3, told=True)[0].text
    assert "broke the policy" in wide and "Undo the change." in wide

"""Tables of runs: best values, order, groups, columns of settings and metrics."""

from __future__ import annotations

import math

import numpy as np
import pytest

from rltui.panes.rows.row import rows_of
from rltui.panes.runs.listed_run import fitted_summary
from rltui.panes.runs.outcome import extreme, outcome_of
from rltui.panes.runs.run_columns import COLUMNS, RunOrder, column_named, sorted_runs
from rltui.panes.runs.run_expression import parse_expression
from rltui.panes.runs.run_facts import RunFacts, RunHParams
from rltui.panes.runs.table import chosen_runs, grouped_runs
from rltui.run_context.hparams.hparams import HParam, HParams
from rltui.store.store import Store
from tests.support.runs.deliveries import delivery
from tests.support.runs.made_run import NOW, MadeRun, finding


def facts(name: str, reward: list[float], **hparams: float | str) -> RunFacts:
    """A run with these rewards and settings."""
    run = MadeRun(name, framework="trl-grpo")
    if reward:
        run.add("kl", np.linspace(0.1, 0.2, 20))
        run.add("reward", reward)
    known = HParams({key: HParam(key, value, "config.yaml") for key, value in hparams.items()})
    return RunFacts(run, NOW, RunHParams(lambda view: known))


def facts_of(run: MadeRun) -> RunFacts:
    """A run without settings."""
    return RunFacts(run, NOW, RunHParams(lambda view: HParams({})))


@pytest.mark.parametrize("points", [3, 500, 30_000])
@pytest.mark.parametrize("highest", [True, False])
def test_the_best_value_is_the_extreme_of_all_points(points: int, highest: bool) -> None:
    """Also of those that have left the exact window; the step is right, or one of the range that is known."""
    rng = np.random.default_rng(points)
    values = rng.normal(size=points)
    values[points // 2] = math.nan
    at = int(np.nanargmax(values) if highest else np.nanargmin(values))
    store = Store()
    rows = [("reward", step, float(value)) for step, value in enumerate(values)]
    for begin in range(0, points, 5000):
        store.apply(delivery(rows[begin : begin + 5000]))
    series = store.runs["run"].series["reward"]
    found = extreme(series, highest=highest)
    assert found is not None and found[0] == pytest.approx(values[at], rel=1e-6)
    if found[1] >= series.exact_from:
        assert found[1] == at
    else:
        assert abs(found[1] - at) <= points / 50


def test_the_first_of_equal_values_is_the_best_one() -> None:
    """A reward that stays at its best has reached it when it came there."""
    run = facts("a", [0.0, 1.0, 1.0, 1.0])
    series = run.view.run.series["reward"]
    assert extreme(series, highest=True) == (1.0, 2)
    assert extreme(series, highest=True, at_step=1) == (0.0, 1)


def test_every_column_has_a_text_and_sorts() -> None:
    """Whatever a run lacks, its columns say something and it can be sorted among others."""
    runs = [facts("a", [1.0, 2.0]), facts("b", [math.nan])]
    bare = facts("bare", [])
    for column in COLUMNS:
        order = RunOrder(column.id)
        assert all(isinstance(column.text(run), str) for run in (*runs, bare))
        assert len(sorted_runs(order, [*runs, bare])) == 3
        assert RunOrder.parse(order.text) == order
        assert column_named(column.id) is column


def test_settings_and_metrics_are_columns() -> None:
    """They sort by number, those that lack them last either way."""
    runs = [facts("a", [1.0], lr="1e-3"), facts("b", [2.0], lr=0.5), facts("c", [3.0])]
    column = column_named("setting:lr")
    assert column is not None and [column.text(run) for run in runs] == ["1e-3", "0.5", "–"]
    for text, names in (("setting:lr", "abc"), ("-setting:lr", "bac"), ("metric:reward", "cba")):
        assert "".join(run.view.name for run in sorted_runs(RunOrder.parse(text), runs)) == names
    assert column_named("nothing") is None and RunOrder.parse("nothing") == RunOrder()


def test_a_reason_is_given_once() -> None:
    """Findings on two metrics may have one title and one step."""
    run = MadeRun()
    run.add("critic/rewards/mean", np.ones(30))
    run.found = [finding(id=each, title="worse than at the start") for each in ("below-start", "rate-below")]
    assert facts_of(run).why == "worse than at the start @212"


def test_the_loss_of_a_critic_has_no_best_value() -> None:
    """It is lowest before anything is learnt; the loss on held-out data is an outcome."""
    run = MadeRun()
    for tag in ("critic/vf_loss", "val/loss"):
        run.add(tag, [0.0, 2.0, 1.0])
    best = [outcome_of(row).best for row in rows_of(run, ["critic/vf_loss", "val/loss"])]
    assert best == [None, 0.0]


def test_groups_say_best_median_and_spread() -> None:
    """Of the runs that share a setting; the group whose run comes first in the order stands first."""
    runs = [
        facts("a", [0.5, 0.1], lr=1), facts("b", [0.2, 0.3], lr=1), facts("c", [0.9, 0.8], lr=2),
        facts("d", [0.1, 0.2], lr=1),
    ]  # fmt: skip
    chosen = chosen_runs(parse_expression("lr>0"), RunOrder("best"), runs)
    groups = grouped_runs(chosen, "setting:lr")
    assert [(group.name, [run.view.name for run in group.runs]) for group in groups] == [
        ("2", ["c"]), ("1", ["a", "b", "d"]),
    ]  # fmt: skip
    assert groups[1].outcome == "Reward: best 0.500 · last: median 0.200, 0.10 … 0.30"
    assert [group.name for group in grouped_runs(chosen, "framework")] == ["trl-grpo"]


def test_the_reason_names_the_worst_finding_and_its_step() -> None:
    """A finding that another one explains is left out, and so is what is only a remark."""
    run = facts("a", [1.0])
    run.view.found = [
        finding("actor/ppo_kl", "critical"),
        finding("actor/ppo_kl", "info", title="a remark"),
        finding("actor/ppo_kl", "warning", title="explained", explained_by="clip-fraction-high"),
    ]
    worst = run.findings[0]
    assert run.why == f"{worst.title or worst.id} @{worst.since_step}"
    run.view.found = []
    assert run.why == ""


def test_a_setting_that_only_the_log_tells_is_in_its_column() -> None:
    """A learning rate that is logged and stands in no file of settings is shown and sorted all the same."""
    runs = [facts("a", [1.0], lr=0.5), facts("b", [2.0]), facts("c", [3.0])]
    assert isinstance(runs[1].view, MadeRun)
    runs[1].view.add("train/learning_rate", np.full(20, 0.25))
    column = column_named("setting:lr")
    assert column is not None and [column.text(run) for run in runs] == ["0.5", "0.250", "–"]
    assert [run.name for run in sorted_runs(RunOrder("setting:lr"), runs)] == ["b", "a", "c"]
    assert [run.name for run in runs if parse_expression("lr<0.4").holds(run)] == ["b"]


@pytest.mark.parametrize(
    ("cells", "shown"),
    [
        (60, "entropy collapsed @1,400; KL spikes @2,048"), (30, "entropy collapsed @1,400; KL…"),
        (26, "entropy collapsed @1,400"), (20, "entropy coll… @1,400"), (10, "entropy c…"),
    ],
)  # fmt: skip
def test_a_reason_that_is_cut_keeps_the_step_since_when(cells: int, shown: str) -> None:
    """Since when something is wrong is asked as often as what."""
    assert fitted_summary("entropy collapsed @1,400; KL spikes @2,048", cells) == shown

"""Evaluations of dumped samples: pass rates and pass@k by data set and step."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.sample_layouts.sample import SampleHead
from rltui.panes.context_panes.samples_pane import samples_pane
from rltui.panes.render.lines.samples_lines import evaluation_lines
from rltui.run_context.samples.evaluations import evaluations_of, pass_at_k
from rltui.run_context.samples.indexes_by_run import sample_indexes_of
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows


def head(
    reward: float | None, group: str = "a", step: int = 5, split: str = "val", dataset: str = ""
) -> SampleHead:
    """A sample of an evaluation."""
    return SampleHead(0, 0, 0, 0, step, split, reward, None, None, "", group, dataset, True, 0)


@given(st.lists(st.booleans(), min_size=1, max_size=7), st.data())
def test_pass_at_k_is_the_mean_over_all_draws(right: list[bool], data: st.DataObject) -> None:
    """Of all ways to draw k of the answers, the share that holds a right one."""
    k = data.draw(st.integers(1, len(right)))
    draws = [any(draw) for draw in itertools.combinations(right, k)]
    assert math.isclose(pass_at_k(len(right), sum(right), k), sum(draws) / len(draws), abs_tol=1e-12)


def test_a_table_of_data_sets_over_steps() -> None:
    """Rates where rewards are right or wrong, whatever their numbers; k is what each task has at least."""
    heads = [
        head(-1.0),
        head(1.0),
        head(1.0, "b"),
        head(-1.0, "b"),
        head(-1.0, "b"),
        head(1.0, split="train"),
    ]
    (one,) = evaluations_of(heads)
    assert (one.dataset, one.step, one.samples, one.tasks, one.k) == ("val", 5, 5, 2, 2)
    assert one.passed == pytest.approx(2 / 5) and one.reward == pytest.approx(-1 / 5)
    assert one.pass_at_k == pytest.approx((1 + (1 - 1 / 3)) / 2)


@pytest.mark.parametrize("rewards", [[0.0, 0.5, 1.0], [0.25, 0.25], [None, None], [math.nan, 1.0]])
def test_graded_rewards_have_no_rate(rewards: list[float | None]) -> None:
    """A rate is never made up: a mean stands there, or nothing."""
    (one,) = evaluations_of([head(reward, str(number)) for number, reward in enumerate(rewards)])
    assert one.passed is None and one.pass_at_k is None
    assert (one.reward is None) is any(reward is None or reward != reward for reward in rewards)


def test_steps_without_a_pass_count_as_zero() -> None:
    """Which reward passes is told by all steps of a data set."""
    first, last = evaluations_of([head(0.0, step=1), head(0.0, "b", step=1), head(1.0, step=2)])
    assert (first.passed, last.passed) == (0.0, 1.0)


def test_the_command_and_the_pane_show_them(tmp_path: Path) -> None:
    """`samples --evaluations` in each form; the pane's lines fit; training samples alone have none."""
    (tmp_path / "r" / "run").mkdir(parents=True)
    (tmp_path / "r" / "run" / "metrics.jsonl").write_text('{"step": 1, "loss": 1.0}\n')
    for step in (5, 10):
        rows = [
            {"input": f"q{number // 2}", "output": "x", "score": float(number < step / 5)}
            for number in range(4)
        ]
        for folder in ("validation", "rollouts"):
            path = tmp_path / "r" / "run" / folder / f"{step}.jsonl"
            write_rows(path, rows)
    lines = [
        json.loads(text)
        for text in rltui("samples", tmp_path, "--evaluations", "--format", "jsonl").out.split("\n")
        if text
    ]
    assert [(one["step"], one["pass_rate"], one["k"], one["pass_at_k"]) for one in lines] == [
        (5, 0.25, 2, 0.5), (10, 0.5, 2, 0.5)]  # fmt: skip
    assert "25 % @2 50 % n=4" in rltui("samples", tmp_path, "--evaluations").out
    assert (
        "| val | 10 | 50 % | 50 % (k=2) |"
        in rltui("samples", tmp_path, "--evaluations", "--format", "markdown").out
    )
    (index,) = sample_indexes_of([str(tmp_path / "r")]).values()
    index.refresh(10.0)
    pane = samples_pane(index.snapshot(), 10)
    for width in (40, 80, 140):
        assert all(line.width <= width for line in evaluation_lines(pane, width))

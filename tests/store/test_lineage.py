"""Resumes that write into a folder of their own: what is told of them, and what is not."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner

from rltui.cli.commands.runs import command as runs
from rltui.session.session import Session
from rltui.store import Store
from rltui.store.lineage import Lineage, lineage
from tests.support.feeding import delivery, ticks
from tests.support.shared import LOGS, needs_shared

TAGS = ("train/loss", "train/reward", "train/kl", "train/grad_norm")
HOUR = 3600.0
FIRST, SECOND, THIRD = (
    "out/runs/Nov20_10-00-00_n1",
    "out/runs/Nov20_12-00-00_n1",
    "out/runs/Nov20_14-00-00_n1",
)


def told(*given: tuple[str, range, float, tuple[str, ...]]) -> dict[str, Lineage]:
    """The lineage of runs: name, steps, hour of the first point, tags."""
    store = Store()
    for name, steps, hour, tags in given:
        rows = ticks(steps, tags)
        path = f"{name}/events.out.tfevents.{1763600000 + int(hour * HOUR)}.n1.1.0"
        store.apply(delivery(rows, path, run=name, wall=1763600000.5 + hour * HOUR))
    return lineage(store.runs.values())


@pytest.mark.parametrize(
    ("steps", "at"),
    [(range(210, 400, 10), 210), (range(160, 400, 10), 160), (range(160, 180, 10), 160)],
    ids=["goes on", "rewound", "stops within"],
)
def test_new_folder_at_every_start(steps: range, at: int) -> None:
    """A second folder beside the first whose steps begin within it, or at its end, continues it."""
    evaluation = (*TAGS[:3], "eval/loss")
    both = ((FIRST, range(10, 210, 10), 0.0, TAGS), (SECOND, steps, 2.0, evaluation))
    assert told(*both) == told(*reversed(both)) == {SECOND: Lineage(FIRST, at)}


def test_chain_of_resumes() -> None:
    """Each start continues the one before it."""
    assert told(
        (FIRST, range(10, 210, 10), 0.0, TAGS),
        (SECOND, range(160, 310, 10), 2.0, TAGS),
        (THIRD, range(260, 400, 10), 4.0, TAGS),
    ) == {SECOND: Lineage(FIRST, 160), THIRD: Lineage(SECOND, 260)}


@pytest.mark.parametrize(
    ("name", "steps", "hour", "tags"),
    [
        (SECOND, range(10, 400, 10), 2.0, TAGS),
        (SECOND, range(30, 400, 10), 2.0, TAGS),
        (SECOND, range(300, 400, 10), 2.0, TAGS),
        (SECOND, range(160, 400, 10), 0.001, TAGS),
        (SECOND, range(160, 400, 10), 2.0, ("a", "b", "train/kl", "train/loss")),
        ("other/runs/x", range(160, 400, 10), 2.0, TAGS),
        (SECOND, range(100, 400, 100), 2.0, TAGS),
    ],
    ids=["from the start", "nearly", "after a gap", "at once", "other tags", "elsewhere", "larger steps"],
)
def test_another_training_is_not_taken_for_a_resume(
    name: str, steps: range, hour: float, tags: tuple[str, ...]
) -> None:
    """Any sign against it, and two runs stay two runs without a word."""
    assert told((FIRST, range(10, 210, 10), 0.0, TAGS), (name, steps, hour, tags)) == {}


def test_sweep_of_which_one_is_resumed() -> None:
    """Where two runs written at the same time could be the one, none is named."""
    assert (
        told(
            ("sweep/a", range(10, 210, 10), 0.0, TAGS),
            ("sweep/b", range(10, 210, 10), 0.001, TAGS),
            ("sweep/c", range(160, 400, 10), 2.0, TAGS),
        )
        == {}
    )


@needs_shared
def test_real_resume_of_transformers() -> None:
    """A real resume says what it continues, in `runs --json` and among the diagnostics; nothing else does."""
    said = json.loads(CliRunner().invoke(runs, [str(LOGS / "trl" / "grpo-qwen-resume"), "--json"]).stdout)
    assert {run["run"]: run.get("continues") for run in said["runs"]} == {
        "runs/Nov20_07-37-07_vm": None,
        "runs/Nov20_07-37-16_vm": {"run": "runs/Nov20_07-37-07_vm", "step": 101},
    }
    session = Session.load([LOGS])
    told = [problem for problem in session.diagnostics() if problem.code == "continues"]
    assert [problem.message for problem in told] == [
        "continues trl/grpo-qwen-resume/runs/Nov20_07-37-07_vm at step 101"
    ]

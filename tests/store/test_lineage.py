"""Resumes that write into a folder of their own: what is told of them, and what is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.follow.read_all import read_all
from rltui.many_runs.merged_verdicts import of_session
from rltui.session.session import Session
from rltui.store.continued_runs import Lineage, lineage
from rltui.store.store import Store
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.runs.deliveries import delivery, ticks
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


NO_RESUME = {
    "from the start": (SECOND, range(10, 400, 10), 2.0, TAGS),
    "nearly": (SECOND, range(30, 400, 10), 2.0, TAGS),
    "after a gap": (SECOND, range(300, 400, 10), 2.0, TAGS),
    "at once": (SECOND, range(160, 400, 10), 0.001, TAGS),
    "other tags": (SECOND, range(160, 400, 10), 2.0, ("a", "b", "train/kl", "train/loss")),
    "elsewhere": ("other/runs/x", range(160, 400, 10), 2.0, TAGS),
    "larger steps": (SECOND, range(100, 400, 100), 2.0, TAGS),
}


@pytest.mark.parametrize(("name", "steps", "hour", "tags"), NO_RESUME.values(), ids=NO_RESUME)
def test_another_training_is_not_taken_for_a_resume(
    name: str, steps: range, hour: float, tags: tuple[str, ...]
) -> None:
    """Any sign against it, and two runs stay two runs without a word."""
    assert told((FIRST, range(10, 210, 10), 0.0, TAGS), (name, steps, hour, tags)) == {}


def test_another_training_that_begins_a_little_later() -> None:
    """Steps that begin in the first tenth of the earlier run are those of another training."""
    first = (FIRST, range(208, 100_000, 208), 0.0, TAGS)
    assert told(first, (SECOND, range(2048, 100_000, 256), 2.0, TAGS)) == {}
    assert told(first, (SECOND, range(20_480, 100_000, 256), 2.0, TAGS)) == {SECOND: Lineage(FIRST, 20_480)}


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
    said = rltui("runs", LOGS / "trl" / "grpo-qwen-resume", "--json").json()
    assert {run["run"]: run.get("continues") for run in said["runs"]} == {
        "runs/Nov20_07-37-07_vm": None,
        "runs/Nov20_07-37-16_vm": {"run": "runs/Nov20_07-37-07_vm", "step": 101},
    }
    session = Session()
    for each in read_all([LOGS]):
        session.apply((each,))
    told = [problem for problem in of_session(session).diagnostics() if problem.code == "continues"]
    assert [problem.message for problem in told] == [
        "continues trl/grpo-qwen-resume/runs/Nov20_07-37-07_vm at step 101"
    ]


@pytest.mark.parametrize(("name", "steps", "hour", "tags"), NO_RESUME.values(), ids=NO_RESUME)
def test_the_pane_agrees_with_the_list_that_it_is_no_resume(
    tmp_path: Path, name: str, steps: range, hour: float, tags: tuple[str, ...]
) -> None:
    """`runs --json` and the hparams pane say of the same logs that neither run continues the other."""
    listed, shown = both(tmp_path, (FIRST, range(10, 210, 10), 0.0, TAGS), (name, steps, hour, tags))
    assert listed == {FIRST: None, name: None}
    assert shown == {FIRST: [], name: []}


def test_the_pane_agrees_with_the_list_of_what_is_resumed(tmp_path: Path) -> None:
    """`runs --json` and the hparams pane name the same run and step; the earlier run names the later."""
    listed, shown = both(
        tmp_path, (FIRST, range(10, 210, 10), 0.0, TAGS), (SECOND, range(160, 400, 10), 2.0, TAGS)
    )
    assert listed == {FIRST: None, SECOND: {"run": FIRST, "step": 160}}
    assert shown == {
        FIRST: [f"seems to be continued by {SECOND}, steps 160 to 390"],
        SECOND: [f"seems to continue {FIRST}, steps 10 to 200, from step 160"],
    }


def both(
    folder: Path, *given: tuple[str, range, float, tuple[str, ...]]
) -> tuple[dict[str, object], dict[str, list[str]]]:
    """What `runs --json` and the hparams pane say of runs, by name: name, steps, hour of the start, tags."""
    for name, steps, hour, tags in given:
        begin, values = 1763600000.5 + hour * HOUR, dict.fromkeys(tags, 0.5)
        rows = ({"step": step, "wall_time": begin + at, **values} for at, step in enumerate(steps))
        write_rows(folder / name / "metrics.jsonl", rows)
    listed = rltui("runs", folder, "--json").json()["runs"]
    panes = rltui("snapshot", folder, "--run", "*", "--pane", "hparams", "--format", "json").json()
    attempts = {pane["run"]: pane["attempts"] for pane in panes}
    return {run["run"]: run.get("continues") for run in listed}, attempts

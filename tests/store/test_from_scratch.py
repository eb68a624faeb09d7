"""Starts from scratch, told from resumes: what an earlier training logged is kept and never superseded."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.logs.follow.read_all import read_all
from rltui.store.run import Run
from rltui.store.store import Store
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import write_rows
from tests.support.shared import PUBLIC, needs_shared

Record = dict[str, float | int | str]


def run_of(folder: Path) -> Run:
    """The one run of a folder, read whole."""
    store = Store()
    for delivery in read_all([str(folder)]):
        store.apply(delivery)
    (run,) = store.runs.values()
    return run


def exported(folder: Path) -> list[dict[str, object]]:
    """The points that `rltui export` prints."""
    done = rltui("export", folder)
    assert done.code == 0
    return done.lines()


def written(path: Path, *sessions: list[Record]) -> Run:
    """The run of a JSONL file of sessions one after the other."""
    write_rows(path, [record for session in sessions for record in session])
    return run_of(path.parent)


def episodes(count: int, level: float, step: str = "episode", first: int = 1) -> list[Record]:
    """A session that counts episodes from `first`."""
    return [{step: first + at, "reward": level + at, "loss": 1 / (1 + at)} for at in range(count)]


def test_sessions_appended_to_one_file(tmp_path: Path) -> None:
    """Sessions of any length that count from 1 again: attempts from scratch, nothing superseded."""
    lengths = (4, 20, 3, 88, 117, 9)
    run = written(tmp_path / "log.jsonl", *(episodes(size, 100.0 * at) for at, size in enumerate(lengths)))
    assert (run.superseded, run.earlier, run.points) == (0, 2 * sum(lengths[:-1]), 2 * sum(lengths))
    assert [attempt.from_scratch for attempt in run.attempts] == [False, *[True] * 5]
    assert run.series["reward"].recent().value.tolist() == [500.0 + at for at in range(9)]
    assert not any(point.get("superseded") for point in exported(tmp_path))
    codes = {problem.code for problem in run.problems.values()}
    assert codes == {"from-scratch"}


def test_a_counter_after_counted_lines_begins_from_scratch(tmp_path: Path) -> None:
    """Lines of a console that are counted before its counter begins are an earlier training, not superseded.

    The name in front of those that go back is new.
    """
    counted = [f"loss: {1 - 0.05 * at:.3f} acc: 0.{at + 30}" for at in range(12)]
    episodes = [f"Episode {at} | reward: {at / 2:.3f} | loss: {1 / at:.3f}" for at in range(1, 41)]
    (tmp_path / "train.log").write_text("\n".join([*counted, "warm-up done", *episodes]) + "\n")
    run = run_of(tmp_path)
    assert (run.superseded, run.earlier, run.points) == (0, 24, 104)
    assert run.series["loss"].recent().step.tolist() == list(range(1, 41))


def test_workers_that_append_their_episodes(tmp_path: Path) -> None:
    """Episodes counted per worker, in blocks or in turns: nothing is superseded."""
    blocks = [episodes(30, 10.0 * worker) for worker in range(4)]
    run = written(tmp_path / "blocks.jsonl", *blocks)
    assert (run.superseded, run.points) == (0, 240)
    turns = [record for rows in zip(*blocks, strict=True) for record in rows]
    (tmp_path / "blocks.jsonl").unlink()
    run = written(tmp_path / "turns.jsonl", turns)
    assert (run.superseded, run.earlier, run.series["reward"].count) == (0, 0, 120)


def test_episodes_of_any_length(tmp_path: Path) -> None:
    """Steps as far apart as episodes are long: a second session need not begin at the same step."""
    rng = random.Random(3)

    def session(level: float) -> list[Record]:
        step, rows = 0, []
        for _ in range(60):
            step += rng.randint(60, 110)
            rows.append({"global_step": step, "reward": level, "loss": 0.5})
        return rows

    run = written(tmp_path / "metrics.jsonl", session(1.0), session(2.0))
    assert (run.superseded, run.earlier) == (0, 120)


def test_resume_stays_a_restart(tmp_path: Path) -> None:
    """A resume from a checkpoint supersedes what lies beyond it, however early the checkpoint was."""
    for begin in (2, 5, 50, 99):
        run = written(
            tmp_path / "metrics.jsonl", episodes(100, 0.0, "step"), episodes(60, 9.0, "step", begin)
        )
        assert run.superseded == 2 * (101 - begin)
        assert (run.earlier, [attempt.from_scratch for attempt in run.attempts]) == (0, [False, False])
        told = [point for point in exported(tmp_path) if point.get("superseded")]
        assert len(told) == run.superseded


def test_training_that_logs_at_another_interval(tmp_path: Path) -> None:
    """A second training whose first step is one of its own longer intervals began from zero: no resume."""
    first: list[Record] = [{"step": 2048 * at, "reward": 1.0, "loss": 0.5} for at in range(1, 40)]
    second: list[Record] = [{"step": 8000 * at, "reward": 5.0, "loss": 0.5} for at in range(1, 13)]
    run = written(tmp_path / "metrics.jsonl", first, second)
    assert [attempt.from_scratch for attempt in run.attempts] == [False, True]
    assert (run.superseded, run.earlier) == (0, 2 * 36)


def test_resume_that_evaluates_first(tmp_path: Path) -> None:
    """A resume whose first point is of a rare tag is told by the other tags."""
    first: list[Record] = [{"step": step, "train/loss": 1.0, "train/lr": 0.1} for step in range(1, 91)]
    first.insert(50, {"step": 50, "eval/acc": 0.5})
    second: list[Record] = [{"step": 50, "eval/acc": 0.6}]
    second += [{"step": step, "train/loss": 1.0, "train/lr": 0.1} for step in range(51, 120)]
    run = written(tmp_path / "metrics.jsonl", first, second)
    assert (run.superseded, run.earlier) == (80, 0)


def test_resume_within_a_later_session(tmp_path: Path) -> None:
    """A resume of the second training supersedes nothing of the first one."""
    sessions = [episodes(50, 0.0), episodes(40, 100.0), episodes(20, 200.0, first=31)]
    run = written(tmp_path / "log.jsonl", *sessions)
    assert [attempt.from_scratch for attempt in run.attempts] == [False, True, False]
    assert (run.superseded, run.earlier) == (20, 100)
    told = [
        point["value"] for point in exported(tmp_path) if point.get("superseded") and point["tag"] == "reward"
    ]
    assert told == [100.0 + at for at in range(30, 40)]


@settings(max_examples=30)
@given(st.lists(st.integers(4, 40), min_size=2, max_size=6), st.integers(0, 5))
def test_flags_of_export_agree_with_the_store(
    tmp_path_factory: pytest.TempPathFactory, lengths: list[int], first: int
) -> None:
    """The store counts as superseded what the export flags."""
    folder = tmp_path_factory.mktemp("log")
    run = written(folder / "log.jsonl", *(episodes(size, size, first=first) for size in lengths))
    assert run.superseded == sum(bool(point.get("superseded")) for point in exported(folder)) == 0
    assert run.earlier + sum(series.count for series in run.series.values()) == run.points


@needs_shared
@pytest.mark.parametrize("name", ["own-obelix", "own-pokemon-b", "sb3-warp"])
def test_public_logs_of_several_trainings(name: str) -> None:
    """Sessions in one file and complete runs in one folder of real logs: nothing is superseded."""
    run = run_of(PUBLIC / name)
    assert (run.superseded, run.earlier > 0) == (0, True)


@needs_shared
def test_public_log_that_was_resumed() -> None:
    """Event files of a real training that was resumed twice near its end are attempts of one."""
    run = run_of(PUBLIC / "mlagents-rcj-Prova2Feb26")
    assert (run.superseded, run.earlier, len(run.attempts)) == (1, 0, 3)

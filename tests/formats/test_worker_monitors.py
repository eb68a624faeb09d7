"""Monitors of the workers of one training are one run; monitors of several trainings stay apart."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.batch import concat
from rltui.logs.follow.read_all import read_all
from rltui.logs.formats.container import PartFile
from rltui.logs.formats.worker_monitors import MONITORS
from rltui.logs.local_file import Calls
from tests.support.logs.file_in_memory import rows
from tests.support.logs.live_logs import Live, append, write

T0 = 1_763_600_000.0


def monitor(
    lengths: list[int], start: float = T0, pace: float = 0.01, env: str = "Pong", waits: float = 0.0
) -> str:
    """A monitor of episodes of these lengths, `pace` seconds for each step; the reward is the length."""
    text = f'#{{"t_start": {start}, "env_id": "{env}"}}\nr,l,t\n'
    steps = 0
    for length in lengths:
        steps += length
        text += f"{length}.0,{length},{waits + steps * pace:.6f}\n"
    return text


LENGTHS = ([100, 250, 50, 300], [120, 200, 90, 280], [300, 310])


def workers(folder: Path, lengths: tuple[list[int], ...] = LENGTHS, word: str = "") -> None:
    """The monitors of workers that start a tenth of a second one after the other and then step together."""
    last = len(lengths) / 10
    for rank, each in enumerate(lengths):
        late = rank / 10
        write(folder / f"{word}{rank}.monitor.csv", monitor(each, T0 + late, waits=last - late))


def _runs(folder: Path) -> dict[str, list[tuple[int, float | None]]]:
    """Step and reward of each run's episodes in the order of delivery."""
    found: dict[str, list[tuple[int, float | None]]] = {}
    for delivery in read_all([str(folder)]):
        rewards = [(step, value) for tag, step, value in rows(delivery.batch) if tag == "r"]
        found.setdefault(delivery.source.run, []).extend(rewards)
    return {run: episodes for run, episodes in found.items() if run}


def test_workers_of_one_training_are_one_run(tmp_path: Path) -> None:
    """Episodes of all workers come in the order of the steps of the training, each with a step of its own."""
    workers(tmp_path / "pong")
    found = _runs(tmp_path)
    assert list(found) == ["pong"]
    steps = [step for step, _ in found["pong"]]
    assert steps == sorted(set(steps))
    assert found["pong"][:4] == [(298, 100.0), (359, 120.0), (900, 300.0), (959, 200.0)]
    assert len(steps) == sum(map(len, LENGTHS))


@pytest.mark.parametrize(
    "word",
    ["env_", "monitor-", "rank", "Worker", "train_env_", "sub_env_", "sim_", "vec_", "agent_", "game_", "w"],
)
def test_workers_may_have_a_word_before_their_rank(tmp_path: Path, word: str) -> None:
    """The same training under other names is the same run; monitors of two words for workers stay apart."""
    workers(tmp_path / "plain")
    workers(tmp_path / "named", word=word)
    found = _runs(tmp_path)
    assert found["named"] == found["plain"]
    assert len(found["plain"]) == sum(map(len, LENGTHS))
    write(tmp_path / "named/eval_0.monitor.csv", monitor([100, 250], T0 + 3600))
    assert len(_runs(tmp_path / "named")) == 2
    write(tmp_path / "named/thread_0.monitor.csv", monitor([100, 250], T0 + 3600))
    assert len(_runs(tmp_path / "named")) == len(LENGTHS) + 2


@pytest.mark.parametrize(
    "word",
    ["seed_", "lr-", "run", "trial_", "node_", "env_seed_", "ppo_env-", "eval_env_", "train_seed_", "train_"],
)
def test_monitors_of_seeds_and_settings_stay_apart(tmp_path: Path, word: str) -> None:
    """Trainings that one script starts at once keep pace like workers: only a word for those joins them."""
    workers(tmp_path, word=word)
    assert set(_runs(tmp_path)) == {f"{word}{rank}.monitor" for rank in range(len(LENGTHS))}


def test_equal_lengths_give_distinct_steps(tmp_path: Path) -> None:
    """Workers whose episodes end with one and the same step of all keep all of their episodes."""
    workers(tmp_path, ([10, 10], [10, 10]))
    assert _runs(tmp_path) == {".": [(19, 10.0), (20, 10.0), (39, 10.0), (40, 10.0)]}


@pytest.mark.parametrize(
    "second",
    [
        monitor([100, 100], T0 + 60),
        monitor([100, 100], env="Breakout"),
        monitor([100] * 20, pace=0.02),
    ],
    ids=["begun after episodes had ended", "another environment", "another pace"],
)
def test_trainings_that_share_a_folder_stay_apart(tmp_path: Path, second: str) -> None:
    """Monitors of one folder are one training only where all of it speaks for that."""
    write(tmp_path / "0.monitor.csv", monitor([100] * 20))
    write(tmp_path / "1.monitor.csv", second)
    assert set(_runs(tmp_path)) == {"0.monitor", "1.monitor"}


def test_a_missing_worker_keeps_them_apart(tmp_path: Path) -> None:
    """Ranks that are not those of all workers from 0 on are names of somebody's own."""
    workers(tmp_path)
    (tmp_path / "1.monitor.csv").unlink()
    assert set(_runs(tmp_path)) == {"0.monitor", "2.monitor"}


def test_a_monitor_that_is_named_is_read_alone(tmp_path: Path) -> None:
    """Who names the file of one worker is shown that worker, with its own steps."""
    workers(tmp_path)
    assert _runs(tmp_path / "1.monitor.csv") == {
        "1.monitor": [(120, 120.0), (320, 200.0), (410, 90.0), (690, 280.0)]
    }


def test_any_cut_gives_the_same_episodes(tmp_path: Path) -> None:
    """However little each look finds, steps, times and values are those of one look at the whole files."""
    whole, grown = tmp_path / "whole", tmp_path / "grown"
    workers(whole)
    texts = [(whole / f"{rank}.monitor.csv").read_bytes() for rank in range(3)]
    heads = [text.index(b"\n", text.index(b"r,l,t") + 7) + 1 for text in texts]
    for rank, text in enumerate(texts):
        write(grown / f"{rank}.monitor.csv", text[: heads[rank]])
    (part,) = (MONITORS.parts(str(grown / "0.monitor.csv")) or pytest.fail("no part")).parts
    file, reader = PartFile(part, "0.monitor.csv", Calls()), part.format.open("0.monitor.csv")
    batches = [reader.read(file)]
    for rank, text in enumerate(texts):
        for begin in range(heads[rank], len(text), 5):
            append(grown / f"{rank}.monitor.csv", text[begin : begin + 5])
            batches.append(reader.read(file))
    cut = concat(batches)
    (part,) = (MONITORS.parts(str(whole / "0.monitor.csv")) or pytest.fail("no part")).parts
    once = part.format.open("x").read(PartFile(part, "x", Calls()))

    def rows(batch: object) -> list[tuple[object, ...]]:
        columns = (once.tag, once.step, once.wall_time, once.value) if batch is once else (
            cut.tag, cut.step, cut.wall_time, cut.value)  # fmt: skip
        return sorted(zip(*(column.tolist() for column in columns), strict=True))

    assert rows(cut) == rows(once)
    assert len(once) == 3 * sum(map(len, LENGTHS))


def test_a_training_that_begins_is_one_run_from_its_first_episode(tmp_path: Path) -> None:
    """Files with a header alone are no runs; when episodes come, all workers are known."""
    write(tmp_path / "notes.txt", "x")
    live = Live(tmp_path)
    for rank in range(2):
        write(tmp_path / f"{rank}.monitor.csv", monitor([], T0 + rank / 10))
        live.after(3.0)
    assert live.delivered.runs() == {}
    append(tmp_path / "1.monitor.csv", "5.0,5,0.9\n")
    append(tmp_path / "0.monitor.csv", "5.0,5,1.0\n")
    live.after(10.0)
    assert list(live.delivered.runs()) == ["."]
    append(tmp_path / "0.monitor.csv", "7.0,7,2.0\n")
    live.after(10.0)
    (path,) = live.delivered.runs()["."]
    assert [row for row in live.delivered.points[path] if row[0] == "r"] == [
        ("r", 9, 5.0), ("r", 10, 5.0), ("r", 23, 7.0)]  # fmt: skip


def test_an_appended_session_goes_on_with_unknown_times(tmp_path: Path) -> None:
    """A session appended without a header goes on in steps; when it ran is not written."""
    workers(tmp_path, ([100, 100], [100, 100]))
    for rank in range(2):
        append(tmp_path / f"{rank}.monitor.csv", "50.0,50,0.5\n")
    assert _runs(tmp_path)["."][-2:] == [(499, 50.0), (500, 50.0)]

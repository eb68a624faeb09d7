"""Reading everything once: the order, what hangs, and the way out."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from rltui.logs.creation_time import created_at
from rltui.logs.follow import reader_thread
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries, read_all
from tests.support.logs.hung_calls import HungCall
from tests.support.logs.live_logs import (
    Delivered,
    append,
    delivered_once,
    event_bytes,
    lines,
    points,
    write,
    write_rows,
)


@pytest.fixture
def hung(monkeypatch: pytest.MonkeyPatch) -> Iterator[HungCall]:
    """`open` of some paths does not return before the end of the test."""
    call = HungCall(monkeypatch)
    yield call
    call.let_go.set()


def read(*logdirs: Path) -> Delivered:
    """All of it, for the hanging calls without much patience."""
    return delivered_once(logdirs, give_up=0.25)


def test_runs_come_by_name_and_each_in_one_piece(tmp_path: Path) -> None:
    """Whatever was written last: runs in the order of their names, their logs in the order of writing."""
    for name in ("b", "a/later", "a", "c"):
        host = name.replace("/", "-")
        write(tmp_path / name / f"events.out.tfevents.2.{host}", event_bytes(range(40, 50)))
        write(tmp_path / name / f"events.out.tfevents.1.{host}", event_bytes(range(40)))
    paths = [delivery.source.path for delivery in read_all([tmp_path]) if len(delivery.batch)]
    hosts = {run: run.replace("/", "-") for run in ("a", "a/later", "b", "c")}
    assert paths == [f"{run}/events.out.tfevents.{k}.{hosts[run]}" for run in hosts for k in (1, 2)]


def test_a_file_that_hangs_costs_no_other(tmp_path: Path, hung: HungCall) -> None:
    """What does not answer is named, all others are read, and reading ends."""
    for name in ("a", "bad", "c"):
        write(tmp_path / name / "metrics.jsonl", lines(range(3), scale=ord(name[0])))
    hung.paths.add(str(tmp_path / "bad/metrics.jsonl"))
    delivered = read(tmp_path)
    assert delivered.codes == ["not-answering"]
    assert [problem.path for problem in delivered.problems.values()] == ["bad/metrics.jsonl"]
    assert {path for path, said in delivered.points.items() if len(said) == 3} == {
        "a/metrics.jsonl",
        "c/metrics.jsonl",
    }


@pytest.mark.parametrize("size", [3, 30_000])
def test_an_event_file_that_hangs_costs_no_other(tmp_path: Path, hung: HungCall, size: int) -> None:
    """Those behind it are read, whole and in order."""
    for number in range(5):
        write(tmp_path / f"run{number}/events.out.tfevents.1.host{number}", event_bytes(range(size)))
    hung.paths.add(str(tmp_path / "run2/events.out.tfevents.1.host2"))
    delivered = read(tmp_path)
    assert delivered.codes == ["not-answering"]
    good = [f"run{number}/events.out.tfevents.1.host{number}" for number in (0, 1, 3, 4)]
    assert [path for path, said in delivered.points.items() if said == points(range(size))] == good


def test_a_folder_that_hangs_costs_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder whose listing does not return is named; what lies beside it is read."""
    for name in ("bad", "good"):
        write(tmp_path / name / "metrics.jsonl", lines(range(3)))
    hung = HungCall(monkeypatch, "scandir")
    hung.paths.add(str(tmp_path / "bad"))
    delivered = read(tmp_path)
    hung.let_go.set()
    assert delivered.codes == ["not-answering"]
    assert delivered.points["good/metrics.jsonl"] == points(range(3))


def test_a_dead_mount_is_left_after_some_files(tmp_path: Path, hung: HungCall) -> None:
    """Not every file of it is waited for; those that were not asked are counted, so that none is missed."""
    logs = [write(tmp_path / f"run{number}/metrics.jsonl", lines(range(3))) for number in range(8)]
    hung.paths.update(map(str, logs))
    delivered = read(tmp_path)
    assert set(delivered.codes) == {"not-answering"}
    assert sum(problem.count for problem in delivered.problems.values()) == 8
    assert not any(delivered.points.values())


def test_reading_ends_when_too_much_hangs(
    tmp_path: Path, hung: HungCall, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where no more threads may hang, the rest is given up, and that is said."""
    monkeypatch.setattr(reader_thread, "MAX_HUNG", 1)
    for name in ("a", "b"):
        hung.paths.add(str(write(tmp_path / name / "metrics.jsonl", lines(range(3)))))
    delivered = read(tmp_path)
    assert any(
        "the rest of the logs was not read" in problem.message for problem in delivered.reported_problems
    )


def test_a_file_that_is_cut_while_it_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading ends, and says that not all of the file was read."""
    monkeypatch.setattr("rltui.logs.follow.follower.PORTION", 1 << 16)
    count = 80_000
    log = write(tmp_path / "metrics.jsonl", lines(range(count)))
    delivered, follower = Delivered(), Follower([tmp_path], once=True)
    while not follower.done:
        delivered.take(follower.poll())
        if delivered.points:
            log.write_bytes(log.read_bytes()[:6000])
    said = delivered.points["metrics.jsonl"]
    assert said == points(range(len(said))) and 0 < len(said) < count
    assert delivered.codes == ["changed"]


def test_leaving_early_leaves_no_thread(tmp_path: Path) -> None:
    """Whoever stops taking deliveries ends the threads behind them."""
    for number in range(3):
        write(tmp_path / f"run{number}/metrics.jsonl", lines(range(20_000)))
    before = set(threading.enumerate())
    reading = read_all([tmp_path])
    next(reading)
    reading.close()
    for thread in set(threading.enumerate()) - before:
        thread.join(10.0)
        assert not thread.is_alive()


def test_following_gives_what_comes_and_says_when_nothing_does(tmp_path: Path) -> None:
    """Deliveries of a follower that goes on: an empty list where nothing new came in time."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    delivered, deliveries = Delivered(), Deliveries(Follower([tmp_path], poll=0.05), wait=0.02)
    grown = False
    for each in deliveries:
        delivered.take(each)
        if deliveries.at_rest and not grown:
            assert delivered.points == {"metrics.jsonl": points(range(3))}
            append(log, lines([3]))
            grown = True
        if len(delivered.points["metrics.jsonl"]) == 4:
            break
    assert grown
    assert delivered.points["metrics.jsonl"] == points(range(4))


@pytest.mark.parametrize(("age", "told"), [(86_400.0, True), (600.0, False)])
def test_the_creation_of_a_file_is_told_where_its_points_are_far_older(
    tmp_path: Path, age: float, told: bool
) -> None:
    """Of other logs it is not asked for: it costs a call for each of them."""
    now = time.time()
    rows = [{"step": step, "loss": 1.0, "wall_time": now - age + step} for step in range(9)]
    place = write_rows(tmp_path / "metrics.jsonl", rows)
    with place.open("rb") as file:
        created = created_at(file.fileno())
    (source,) = {delivery.source for delivery in read_all([tmp_path]) if len(delivery.batch)}
    assert source.created == (created if told else 0.0)
    assert not created or abs(created - now) < 60.0

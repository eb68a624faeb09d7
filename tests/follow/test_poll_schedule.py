"""How often logs are looked at: what looks cost decides."""

from __future__ import annotations

from pathlib import Path

import pytest

from rltui.logs.file_systems import FileSystem
from rltui.logs.follow.poll_schedule import PollInterval, PollSchedule
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file.log_file import LogFile
from tests.support.logs.live_logs import LOCAL, NFS, Live, append, lines, points, write


def found(path: Path) -> FoundFile:
    """A file beside others of one run."""
    return FoundFile(str(path), path.name, "", path.name, ".", None)


def test_many_idle_logs_are_looked_at_less_often(tmp_path: Path) -> None:
    """The interval grows with the measured cost of looking, up to 30 s, and is the poll for few logs."""
    live = Live(tmp_path)
    interval = live.follower.interval
    assert interval.hot(64) == pytest.approx(0.5)
    interval.look_cost = 1e-5
    assert interval.idle(1_000) == pytest.approx(10 / 3, rel=0.01)
    assert interval.idle(45_000) == 30.0


def test_slow_mount_slows_the_poll(tmp_path: Path) -> None:
    """On a network file system the poll starts at 2 s and leaves the mount nine tenths of the time."""
    live = Live(tmp_path, system=NFS)
    live.poll()
    interval = live.follower.interval
    assert interval.hot(1) == 2.0
    for _ in range(500):
        interval.measured(0.05, 1)
    assert interval.hot(64) > 30 * 0.9
    assert "nfs" in live.follower.status().noticing


@pytest.mark.parametrize(("system", "within"), [(LOCAL, 0.9), (NFS, 30.0)])
def test_a_thousand_growing_logs(system: FileSystem, within: float) -> None:
    """Logs that were seen to grow are looked at within a second on local disks, idle ones less often."""
    interval = PollInterval(1.0, system)
    interval.look_cost = 1.5e-5
    assert interval.growing(1000, 1000) <= within
    assert interval.hot(1000) > 1.0
    assert interval.growing(10, 10) == interval.hot(10)
    assert interval.growing(100_000, 100_000) <= interval.hot(100_000)


def test_a_slow_start_is_forgotten_within_a_minute() -> None:
    """While a start computes, looks take long: 128 idle logs are soon looked at once a poll again."""
    interval = PollInterval(1.0, LOCAL)
    interval.look_cost = 5e-4
    now = 0.0
    while interval.idle(128) > 1.0:
        now += interval.idle(128)
        interval.measured(1e-5, 128)
    assert now < 60.0
    interval.measured(0.01, 128)  # all of them were held up once
    assert interval.look_cost < 0.006


def test_growth_brings_the_next_look_forward(tmp_path: Path) -> None:
    """Where looks are dear, the second line of a log that grows is still read within a second."""
    logs = [write(tmp_path / f"run{number}/metrics.jsonl", lines([0])) for number in range(20)]
    live = Live(tmp_path)
    live.poll()
    live.follower.interval.measured = lambda seconds, looks=1: None
    live.follower.interval.look_cost = 7e-4  # as dear as 1,400 cheap ones
    append(logs[3], lines([1]))
    live.after(2.5)
    append(logs[3], lines([2]))
    live.after(1.0)
    assert live.delivered.points["run3/metrics.jsonl"] == points([0, 1, 2])
    assert live.follower.interval.hot(20) == pytest.approx(2.0)


def test_logs_of_one_interval_are_looked_at_together(tmp_path: Path) -> None:
    """However they came one after the other: thirty logs wake the reader once for each interval."""
    live = Live(tmp_path)
    for number in range(30):
        write(tmp_path / f"run{number:02}/metrics.jsonl", lines([0]))
        live.after(0.03 + 1.0)
    live.follower.interval.measured = lambda seconds, looks=1: None
    live.follower.search.interval = lambda: 30.0
    live.after(2.0)
    looks, end = 0, live.now + 10.0
    while live.now < end:
        live.poll()
        looks += 1
        live.now += live.follower.next_due()
    assert looks <= 10.0 / live.follower.interval.hot(30) + 2


def test_no_group_of_logs_makes_the_others_wait(tmp_path: Path) -> None:
    """While a hundred idle logs are looked at, one after the other, one that grows is among the first."""
    schedule = PollSchedule(PollInterval(1.0, LOCAL))
    logs = [LogFile(found(tmp_path / f"{number}.jsonl"), REGISTRY) for number in range(101)]
    for log in logs:
        log.last_change, log.last_growth = (0.0, 0.0) if log is logs[100] else (-1e6, float("-inf"))
        schedule.put(log, 0.0)
    taken = []
    while (log := schedule.take(2.0)) is not None:
        taken.append(log)
        schedule.put(log, 2.0)
    assert sorted(map(id, taken)) == sorted(map(id, logs))
    assert logs[100] in taken[:3]
    assert 2.0 < schedule.next_due() <= 3.0


def test_a_log_that_is_due_twice_is_taken_once(tmp_path: Path) -> None:
    """What was put again counts; the entry of before does not, and an empty group is not due."""
    schedule = PollSchedule(PollInterval(1.0, LOCAL))
    log = LogFile(found(tmp_path / "metrics.jsonl"), REGISTRY)
    schedule.put(log, 0.0)
    schedule.put(log, 0.0, soon=True)
    assert schedule.take(0.0) is log
    assert schedule.take(100.0) is None
    assert schedule.next_due() == float("inf")

"""Logs that wait for a file system that does not answer, and what is read next meanwhile."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

from rltui.logs.delivery import Source
from rltui.logs.follow.history_queue import HistoryQueue
from rltui.logs.follow.hung_calls import MOUNT, HungCalls
from rltui.logs.log_file.log_file import LogFile


class _Log(LogFile):
    """A log of which only the device and the name matter."""

    def __init__(self, name: str, device: int) -> None:
        self.found = cast(Any, SimpleNamespace(device=device, path=name, folder="", name=name))
        self.stuck = self.queued = False
        self.sorted_by = 0

    def source(self) -> Source:
        return Source(run="r", path=self.found.path, format="jsonl")

    @property
    def run(self) -> str:
        self.sorted_by += 1
        return self.found.name

    @property
    def modified(self) -> float:
        return 0.0


def test_a_dead_mount_suspends_its_logs_and_no_others() -> None:
    """When some logs of a device hang all of it rests; one that answers frees its own device only."""
    one = [_Log(f"a{number}", 1) for number in range(MOUNT + 2)]
    two = [_Log(f"b{number}", 2) for number in range(MOUNT + 2)]
    tracks = {log.found.path: cast(LogFile, log) for log in (*one, *two)}
    patience = HungCalls()
    for logs in (one, two):
        for log in logs[:MOUNT]:
            assert not logs[-1].stuck
            patience.give_up(log.found.path, log, tracks)
        assert all(log.stuck for log in logs)
    patience.returned(one[0].found.path, one[0])
    assert [log.stuck for log in one] == [False, True, True, *[False] * (len(one) - MOUNT)]
    assert all(log.stuck for log in two)
    assert set(patience.freed()) == {one[0], *one[MOUNT:]}
    patience.returned(two[0].found.path, two[0])
    assert not two[-1].stuck


def test_what_does_not_answer_is_told_and_withdrawn() -> None:
    """One problem a log while it hangs, the same one healed when it answers."""
    log, patience = _Log("a", 1), HungCalls()
    patience.give_up("a", log, {"a": log})
    patience.returned("a", log)
    problems = [problem for told in patience.reports() for problem in told.batch.problems]
    assert [problem.healed for problem in problems] == [False, True]
    assert problems[0].key == problems[1].key
    assert not list(patience.reports())


def test_the_same_focus_sorts_nothing_again() -> None:
    """The screen names its run with every message; only another run puts the backlog in another order."""
    backlog, logs = HistoryQueue(), [_Log(name, 1) for name in "abc"]
    for log in logs:
        backlog.add(log)
    backlog.focus("b")
    first = backlog.take()
    assert first is logs[1]
    asked = [log.sorted_by for log in logs]
    for _ in range(10):
        backlog.focus("b")
        backlog.put_back(first)
        assert backlog.take() is first
    assert [log.sorted_by for log in logs] == asked

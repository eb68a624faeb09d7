"""Logs that wait for a file system that does not answer, and what is read next meanwhile."""

from __future__ import annotations

from rltui.logs.follow.hung_calls import DEVICE_HANGS, HungCalls
from rltui.logs.follow.read_queues import HistoryQueue
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.found_file import FoundFile
from rltui.logs.log_file.log_file import LogFile


def log_on(device: int, name: str) -> LogFile:
    """A log that was found on a device and never opened."""
    place = f"/logs/{name}/metrics.jsonl"
    found = FoundFile(place, f"{name}/metrics.jsonl", name, "metrics.jsonl", name, None, device)
    return LogFile(found, REGISTRY)


def test_a_dead_mount_suspends_its_logs_and_no_others() -> None:
    """When some logs of a device hang all of it rests; one that answers frees its own device only."""
    one = [log_on(1, f"a{number}") for number in range(DEVICE_HANGS + 2)]
    two = [log_on(2, f"b{number}") for number in range(DEVICE_HANGS + 2)]
    known = {log.found.place: log for log in (*one, *two)}
    calls = HungCalls()
    for logs in (one, two):
        for log in logs[:DEVICE_HANGS]:
            assert not logs[-1].hung
            calls.give_up(log.found.path, log, known)
        assert all(log.hung for log in logs)
    calls.returned(one[0].found.path, one[0])
    assert [log.hung for log in one] == [False, True, True, *[False] * (len(one) - DEVICE_HANGS)]
    assert all(log.hung for log in two)
    assert set(calls.freed()) == {one[0], *one[DEVICE_HANGS:]}
    calls.returned(two[0].found.path, two[0])
    assert not two[-1].hung


def test_what_does_not_answer_is_reported_and_withdrawn() -> None:
    """One problem a log while it hangs, the same one healed when it answers."""
    log, calls = log_on(1, "a"), HungCalls()
    calls.give_up("a", log, {"a": log})
    calls.returned("a", log)
    problems = [problem for report in calls.reports() for problem in report.batch.problems]
    assert [problem.healed for problem in problems] == [False, True]
    assert problems[0].key == problems[1].key
    assert not list(calls.reports())


def test_logs_that_were_not_asked_are_counted() -> None:
    """What rests because others of its device hang is reported in one problem."""
    logs = {name: log_on(1, name) for name in "abcde"}
    calls = HungCalls()
    for name in "abc":
        calls.give_up(name, logs[name], logs)
    problems = [problem for report in calls.suspended() for problem in report.batch.problems]
    assert [(problem.code, problem.count) for problem in problems] == [("not-answering", 2)]
    assert not list(calls.suspended())


def test_the_focused_run_is_read_first() -> None:
    """Whatever was written last; a log that is put back stays the first until the focus changes."""
    queue, logs = HistoryQueue(newest_first=True), [log_on(1, name) for name in "abc"]
    for log in logs:
        queue.add(log)
        queue.add(log)
    queue.focus("b")
    first = queue.take()
    assert first is logs[1]
    queue.put_back(first)
    queue.focus("b")
    assert [queue.take(), queue.take(), queue.take(), queue.take()] == [logs[1], logs[0], logs[2], None]

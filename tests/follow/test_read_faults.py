"""Logs that vanish, tear, decay or fail to be read while a follower looks: one case per fault."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.logs.faulty_calls import Fault
from tests.support.logs.live_logs import LOCAL, NFS, Live, append, event_bytes, lines, points, write

EVENTS = "events.out.tfevents.1.host"
SYSTEMS = pytest.mark.parametrize("system", [LOCAL, NFS], ids=["local", "nfs"])


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    """System calls that can fail."""
    yield Fault(monkeypatch)


@SYSTEMS
def test_run_deleted_and_made_again(tmp_path: Path, system: Any) -> None:
    """L06, L07: a run that vanishes is marked gone and kept; its next generation is picked up."""
    log = write(tmp_path / "run" / EVENTS, event_bytes(range(10)))
    write(tmp_path / "other" / EVENTS, event_bytes(range(4), scale=0.75))
    live = Live(tmp_path, system=system)
    live.after(3)
    log.unlink()
    log.parent.rmdir()
    live.after(60)
    path = f"run/{EVENTS}"
    assert live.delivered.sources[path].gone
    assert live.delivered.kinds[path].count("gone") == 1
    assert live.delivered.points[path] == points(range(10))
    write(log, event_bytes(range(5), scale=0.625))
    live.after(31)
    assert not live.delivered.sources[path].gone
    assert live.delivered.points[path] == points(range(10)) + points(range(5), scale=0.625)
    assert live.delivered.kinds[path].count("restarted") == 1


def test_logdir_deleted_and_made_again(tmp_path: Path) -> None:
    """L06: the same for the whole LOGDIR: what was read stays, and new runs are found when it is back."""
    logdir = tmp_path / "logs"
    log = write(logdir / "run/metrics.jsonl", lines(range(5)))
    live = Live(logdir)
    live.poll()
    log.unlink()
    log.parent.rmdir()
    logdir.rmdir()
    live.after(40)
    assert live.follower.status().waiting == (str(logdir),)
    assert live.delivered.sources["run/metrics.jsonl"].gone
    write(logdir / "next/metrics.jsonl", lines(range(3)))
    write(log, lines(range(7)))
    live.after(31)
    assert live.delivered.points["next/metrics.jsonl"] == points(range(3))
    assert live.delivered.points["run/metrics.jsonl"] == points(range(7))
    assert live.delivered.problems == {}


def test_two_writers_two_files(tmp_path: Path) -> None:
    """L04: two files of one run that grow at the same time are both followed."""
    first = write(tmp_path / EVENTS, event_bytes(range(3)))
    second = write(tmp_path / "events.out.tfevents.2.host", event_bytes(range(3), tag="kl"))
    live = Live(tmp_path)
    live.poll()
    for step in range(3, 9):
        append(first, event_bytes([step], head=False))
        append(second, event_bytes([step], tag="kl", head=False))
        live.after(1)
    assert live.delivered.points[first.name] == points(range(9))
    assert live.delivered.points[second.name] == points(range(9), tag="kl")


@SYSTEMS
def test_zeros_first_bytes_later(tmp_path: Path, system: Any) -> None:
    """L12: a page that is still zeros is waited for, and read when it is there."""
    data = event_bytes(range(200))
    log = write(tmp_path / EVENTS, data[:2048] + bytes(len(data) - 2048))
    live = Live(tmp_path, system=system)
    live.after(0.6)
    with log.open("r+b") as file:
        file.seek(2048)
        file.write(data[2048:])
    live.after(10)
    assert live.delivered.points[EVENTS] == points(range(200))
    assert live.delivered.codes == []


def test_page_that_arrives_after_it_was_given_up(tmp_path: Path) -> None:
    """L12: even a page that was skipped and reported is read when it arrives, and the report is withdrawn."""
    data = event_bytes(range(400))
    log = write(tmp_path / EVENTS, data[:4096] + bytes(4096) + data[8192:])
    live = Live(tmp_path)
    live.after(20)
    before = len(live.delivered.points[EVENTS])
    assert 250 < before < 400
    assert live.delivered.codes != []
    with log.open("r+b") as file:
        file.seek(4096)
        file.write(data[4096:8192])
    live.after(40)
    assert live.delivered.points[EVENTS] == points(range(400))
    assert live.delivered.codes == []


def test_damage_is_told_once_and_skipped(tmp_path: Path) -> None:
    """E02, point 6: a record with a flipped byte is skipped, told once with its offset, the rest is read."""
    data = bytearray(event_bytes(range(20)))
    start = len(event_bytes(range(10)))
    data[start - 5] ^= 1
    log = write(tmp_path / EVENTS, bytes(data))
    live = Live(tmp_path)
    live.after(10)
    append(log, event_bytes([20], head=False))
    live.after(60)
    assert live.delivered.points[EVENTS] == points([*range(9), *range(10, 21)])
    told = [problem for problem in live.delivered.reported_problems if problem.code == "corrupt-record"]
    assert len(told) == 1
    assert told[0].offset == len(event_bytes(range(9)))


def test_garbage_then_good(tmp_path: Path) -> None:
    """L15: a file that was garbage and becomes a log is read as one; its trouble is withdrawn."""
    log = write(tmp_path / EVENTS, b"not an event file, says somebody\n" * 9)
    live = Live(tmp_path)
    live.after(20)
    assert live.delivered.codes != []
    write(log, event_bytes(range(10)))
    live.after(60)
    assert live.delivered.points[EVENTS] == points(range(10))


def test_stat_that_tells_a_smaller_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """L18: a size that goes back while the bytes are still there is no truncation."""
    log = write(tmp_path / "metrics.jsonl", lines(range(20)))
    live = Live(tmp_path, system=NFS)
    live.after(5)
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        status = list(real(descriptor))
        status[6] = 10
        return os.stat_result(status)

    monkeypatch.setattr(os, "fstat", fstat)
    live.after(30)
    append(log, lines([20]))
    live.after(5)
    monkeypatch.undo()
    live.after(10)
    assert live.delivered.points["metrics.jsonl"] == points(range(21))
    assert live.delivered.reported_problems == []


def test_stale_handle_and_gone(tmp_path: Path, fault: Fault) -> None:
    """L19: ESTALE is told once, tried again ever less often, and withdrawn when it is over."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    other = write(tmp_path / "other/metrics.jsonl", lines(range(3), scale=0.75))
    live = Live(tmp_path, system=NFS)
    live.after(3)
    fault.of(log, errno.ESTALE)
    live.after(120)
    assert live.delivered.codes == ["stale"]
    assert len(live.delivered.reported_problems) == 1
    append(other, lines([3], scale=0.75))
    live.after(3)
    assert live.delivered.points["other/metrics.jsonl"] == points(range(4), scale=0.75)
    append(log, lines([3]))
    fault.over()
    live.after(61)
    assert live.delivered.codes == []
    assert live.delivered.points["run/metrics.jsonl"] == points(range(4))


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_error_for_ever(tmp_path: Path, fault: Fault, number: int) -> None:
    """L20, D07: a file that always fails is tried after 1, 2, 4 ... 60 s, told once; the others go on."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    other = write(tmp_path / "other/metrics.jsonl", lines(range(3), scale=0.75))
    live = Live(tmp_path)
    live.poll()
    fault.of(log, number)
    fault.calls.clear()
    live.after(600)
    tries = sum(call == ("open", str(log)) for call in fault.calls)
    assert 10 <= tries <= 18
    assert len(live.delivered.reported_problems) == 1
    append(other, lines([3], scale=0.75))
    live.after(1)
    assert live.delivered.points["other/metrics.jsonl"] == points(range(4), scale=0.75)


def test_reads_that_fail_half_way(tmp_path: Path, fault: Fault) -> None:
    """D07: a file that opens but cannot be read is told once, not healed and told again at every look."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    append(log, lines([3]))
    fault.of_reads(log, errno.EIO)
    live.after(100)
    assert [problem.code for problem in live.delivered.reported_problems] == ["io-error"]
    fault.over()
    live.after(61)
    assert live.delivered.points["metrics.jsonl"] == points(range(4))
    assert [problem.healed for problem in live.delivered.reported_problems] == [False, True]


def test_a_hundred_runs_growing(tmp_path: Path) -> None:
    """L16: a hundred runs that grow together are all up to date within a second."""
    logs = [write(tmp_path / f"run{n}/metrics.jsonl", lines(range(2))) for n in range(100)]
    live = Live(tmp_path)
    live.poll()
    for step in range(2, 6):
        for log in logs:
            append(log, lines([step]))
        live.after(1.0)
        assert all(live.delivered.points[f"run{n}/metrics.jsonl"][-1][1] == step for n in range(100))


def test_reader_with_a_fault_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that raises what nobody foresaw is named once as internal; other logs are read."""
    from rltui.logs.formats.lines import jsonl

    write(tmp_path / "bad/metrics.jsonl", lines(range(3)))
    write(tmp_path / "good" / EVENTS, event_bytes(range(3), scale=0.75))
    log = type(jsonl.FORMAT.open("x"))

    def read(*_: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(log, "read", read)
    live = Live(tmp_path)
    live.after(100)
    assert live.delivered.points[f"good/{EVENTS}"] == points(range(3), scale=0.75)
    assert [(problem.code, problem.path) for problem in live.delivered.reported_problems] == [
        ("internal", "bad/metrics.jsonl")
    ]


def test_empty_then_written(tmp_path: Path) -> None:
    """E06: a file without a byte is quiet until its writer flushes, and is read then."""
    log = write(tmp_path / EVENTS, b"")
    live = Live(tmp_path)
    live.after(300)
    assert live.delivered.reported_problems == []
    append(log, event_bytes(range(3)))
    live.after(1)
    assert live.delivered.points[EVENTS] == points(range(3))


def test_many_megabytes_at_once(tmp_path: Path) -> None:
    """A log that had been read and grows by megabytes is shown at its end first, then read in slices."""
    log = write(tmp_path / EVENTS, event_bytes(range(10)))
    live = Live(tmp_path)
    live.poll()
    append(log, event_bytes(range(10, 40_000), head=False))
    live.after(1)
    assert live.delivered.points[EVENTS] == points(range(40_000))
    assert live.delivered.previews[EVENTS][-1] == points([39_999])[0]

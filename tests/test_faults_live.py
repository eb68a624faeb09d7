"""The fault matrix of files and folders: one case per fault, live while a follower looks."""

from __future__ import annotations

import errno
import os
import random
import socket
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rltui.logs import files
from tests.support.livelogs import (
    LOCAL,
    NFS,
    Live,
    append,
    event_bytes,
    line,
    lines,
    points,
    write,
)

EVENTS = "events.out.tfevents.1.host"
SYSTEMS = pytest.mark.parametrize("system", [LOCAL, NFS], ids=["local", "nfs"])


class Fault:
    """Makes system calls on chosen paths fail, and counts them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.errors: dict[str, int] = {}  # path: errno of every call on it
        self.calls: list[tuple[str, str]] = []
        self._names: dict[int, str] = {}
        for name in ("open", "stat", "scandir"):
            monkeypatch.setattr(files.os, name, self._wrapped(name, getattr(os, name)))
        real_pread, self._read_errors = os.pread, dict[str, int]()

        def pread(descriptor: int, length: int, offset: int) -> bytes:
            name = str(Path(f"/proc/self/fd/{descriptor}").readlink())
            if name in self._read_errors:
                raise OSError(self._read_errors[name], os.strerror(self._read_errors[name]), name)
            return real_pread(descriptor, length, offset)

        monkeypatch.setattr(files.os, "pread", pread)

    def _wrapped(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(path: Any, *arguments: Any, **options: Any) -> Any:
            if isinstance(path, str):
                self.calls.append((name, path))
                if path in self.errors:
                    raise OSError(self.errors[path], os.strerror(self.errors[path]), path)
            return real(path, *arguments, **options)

        return call

    def of(self, path: Path, number: int) -> None:
        """Every call on this path fails from now on."""
        self.errors[str(path)] = number

    def of_reads(self, path: Path, number: int) -> None:
        """Reading this file fails from now on; opening it does not."""
        self._read_errors[str(path)] = number

    def over(self) -> None:
        """All is well again."""
        self.errors.clear()
        self._read_errors.clear()


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    """System calls that can fail."""
    yield Fault(monkeypatch)


# -- L: while it runs


@SYSTEMS
def test_copytruncate(tmp_path: Path, system: Any) -> None:
    """L08: copied away and cut to nothing: what was written last is read from the copy, then it goes on."""
    log = write(tmp_path / "metrics.jsonl", lines(range(5)))
    live = Live(tmp_path, system=system)
    live.after(3)
    append(log, lines([5]))
    write(tmp_path / "metrics.jsonl.1", log.read_bytes())
    os.truncate(log, 0)
    live.after(5)
    append(log, lines(range(6, 8)))
    live.after(5)
    assert live.heard.points["metrics.jsonl"] == points(range(8))
    assert live.heard.kinds["metrics.jsonl"].count("restarted") == 1
    assert [path for path in live.heard.points if live.heard.points[path]] == ["metrics.jsonl"]


@SYSTEMS
def test_truncated_and_regrown_between_looks(tmp_path: Path, system: Any) -> None:
    """L09: cut and already longer than before at the next look: other bytes say that it is another log."""
    log = write(tmp_path / "metrics.jsonl", lines(range(5)))
    live = Live(tmp_path, system=system)
    live.after(3)
    log.write_text(lines(range(100, 130)))
    live.after(5)
    assert live.heard.points["metrics.jsonl"] == points(range(5)) + points(range(100, 130))
    assert live.heard.codes == ["restarted"]


@SYSTEMS
def test_same_beginning_other_end(tmp_path: Path, system: Any) -> None:
    """L09: rewritten with the same first bytes, and longer: the bytes before the offset betray it."""
    start = lines(range(300))
    log = write(tmp_path / "metrics.jsonl", start + lines(range(300, 310)))
    live = Live(tmp_path, system=system)
    live.after(3)
    log.write_text(start + lines(range(300, 330), scale=0.75))
    live.after(5)
    assert live.heard.kinds["metrics.jsonl"].count("restarted") == 1
    expected = points(range(300)) + points(range(300, 330), scale=0.75)
    assert live.heard.points["metrics.jsonl"][310:] == expected


@SYSTEMS
def test_rotated_by_rename(tmp_path: Path, system: Any) -> None:
    """L10: renamed, the writer goes on in a new file: the rest of the old one is not lost, nor read twice."""
    log = write(tmp_path / "metrics.jsonl", lines(range(5)))
    live = Live(tmp_path, system=system)
    live.after(3)
    append(log, lines([5, 6]))
    log.rename(tmp_path / "metrics.jsonl.1")
    write(log, lines(range(7, 9)))
    live.after(12)
    assert live.heard.points["metrics.jsonl"] == points(range(9))
    assert live.heard.runs() == {".": ["metrics.jsonl"]}


def test_rotated_logs_found_at_the_start(tmp_path: Path) -> None:
    """L10: logs that were rotated before we came belong to the same run and are read first."""
    write(tmp_path / "metrics.jsonl.2", lines(range(3)))
    write(tmp_path / "metrics.jsonl.1", lines(range(3, 6)))
    write(tmp_path / "metrics.jsonl", lines(range(6, 9)))
    live = Live(tmp_path)
    live.look()
    assert live.heard.runs() == {".": ["metrics.jsonl", "metrics.jsonl.1", "metrics.jsonl.2"]}
    read = [delivery.source.path for delivery in live.heard.deliveries if delivery.kind == "points"]
    assert read == ["metrics.jsonl.2", "metrics.jsonl.1", "metrics.jsonl"]


@SYSTEMS
@pytest.mark.parametrize("start", [EVENTS, "metrics.jsonl"])
def test_replaced_by_a_longer_copy(tmp_path: Path, system: Any, start: str) -> None:
    """L11: rsync puts a longer copy in place, another inode: it goes on, no point twice, no word."""
    data = [event_bytes(range(n)) if start == EVENTS else lines(range(n)).encode() for n in (20, 30)]
    log = write(tmp_path / start, data[0])
    live = Live(tmp_path, system=system)
    live.after(3)
    write(tmp_path / ".copy", data[1]).rename(log)
    live.after(5)
    assert live.heard.points[start] == points(range(30))
    assert live.heard.told == []


@SYSTEMS
def test_written_again_in_place(tmp_path: Path, system: Any) -> None:
    """L11: a writer that cuts its file and writes all of it again is a log that goes on."""
    log = write(tmp_path / "metrics.jsonl", lines(range(20)))
    live = Live(tmp_path, system=system)
    live.after(3)
    os.truncate(log, 0)
    live.after(0.6)
    log.write_text(lines(range(7)))
    live.after(0.6)
    log.write_text(lines(range(21)))
    live.after(6)
    assert live.heard.points["metrics.jsonl"] == points(range(21))
    assert live.heard.told == []


def test_progress_csv_with_a_new_column(tmp_path: Path) -> None:
    """L11: SB3 writes progress.csv anew when a key appears: the same log from its first byte, no restart."""
    log = write(tmp_path / "progress.csv", "time/total_timesteps,loss\n1,0.5\n2,0.25\n")
    live = Live(tmp_path)
    live.look()
    write(log, "time/total_timesteps,loss,kl\n1,0.5,\n2,0.25,\n3,0.125,0.75\n")
    live.after(2)
    said = [point for point in live.heard.points["progress.csv"] if point[0] in ("loss", "kl")]
    assert sorted(said) == [("kl", 3, 0.75), ("loss", 1, 0.5), ("loss", 2, 0.25), ("loss", 3, 0.125)]
    assert "rewritten" in live.heard.kinds["progress.csv"]
    assert live.heard.codes == []


@SYSTEMS
def test_cut_at_a_checkpoint_and_resumed(tmp_path: Path, system: Any) -> None:
    """L13: a resumed job cuts its log to the checkpoint and goes on: a restart, nothing is forgotten."""
    log = write(tmp_path / "metrics.jsonl", lines(range(10)))
    live = Live(tmp_path, system=system)
    live.after(3)
    os.truncate(log, len(lines(range(6))))
    live.after(10)
    append(log, lines(range(6, 12), scale=0.75))
    live.after(5)
    again = points(range(6)) + points(range(6, 12), scale=0.75)
    assert live.heard.points["metrics.jsonl"] == points(range(10)) + again
    assert live.heard.kinds["metrics.jsonl"].count("restarted") == 1


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
    assert live.heard.sources[path].gone
    assert live.heard.kinds[path].count("gone") == 1
    assert live.heard.points[path] == points(range(10))
    write(log, event_bytes(range(5), scale=0.625))
    live.after(31)
    assert not live.heard.sources[path].gone
    assert live.heard.points[path] == points(range(10)) + points(range(5), scale=0.625)
    assert live.heard.kinds[path].count("restarted") == 1


def test_logdir_deleted_and_made_again(tmp_path: Path) -> None:
    """L06: the same for the whole LOGDIR: what was read stays, and new runs are found when it is back."""
    logdir = tmp_path / "logs"
    log = write(logdir / "run/metrics.jsonl", lines(range(5)))
    live = Live(logdir)
    live.look()
    log.unlink()
    log.parent.rmdir()
    logdir.rmdir()
    live.after(40)
    assert live.follower.status().waiting == (str(logdir),)
    assert live.heard.sources["run/metrics.jsonl"].gone
    write(logdir / "next/metrics.jsonl", lines(range(3)))
    write(log, lines(range(7)))
    live.after(31)
    assert live.heard.points["next/metrics.jsonl"] == points(range(3))
    assert live.heard.points["run/metrics.jsonl"] == points(range(7))
    assert live.heard.problems == {}


def test_two_writers_two_files(tmp_path: Path) -> None:
    """L04: two files of one run that grow at the same time are both followed."""
    first = write(tmp_path / EVENTS, event_bytes(range(3)))
    second = write(tmp_path / "events.out.tfevents.2.host", event_bytes(range(3), tag="kl"))
    live = Live(tmp_path)
    live.look()
    for step in range(3, 9):
        append(first, event_bytes([step], head=False))
        append(second, event_bytes([step], tag="kl", head=False))
        live.after(1)
    assert live.heard.points[first.name] == points(range(9))
    assert live.heard.points[second.name] == points(range(9), tag="kl")


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
    assert live.heard.points[EVENTS] == points(range(200))
    assert live.heard.codes == []


def test_page_that_arrives_after_it_was_given_up(tmp_path: Path) -> None:
    """L12: even a page that was skipped and reported is read when it arrives, and the report is withdrawn."""
    data = event_bytes(range(400))
    log = write(tmp_path / EVENTS, data[:4096] + bytes(4096) + data[8192:])
    live = Live(tmp_path)
    live.after(20)
    before = len(live.heard.points[EVENTS])
    assert 250 < before < 400
    assert live.heard.codes != []
    with log.open("r+b") as file:
        file.seek(4096)
        file.write(data[4096:8192])
    live.after(40)
    assert live.heard.points[EVENTS] == points(range(400))
    assert live.heard.codes == []


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
    assert live.heard.points[EVENTS] == points([*range(9), *range(10, 21)])
    told = [problem for problem in live.heard.told if problem.code == "corrupt-record"]
    assert len(told) == 1
    assert told[0].offset == len(event_bytes(range(9)))


def test_garbage_then_good(tmp_path: Path) -> None:
    """L15: a file that was garbage and becomes a log is read as one; its trouble is withdrawn."""
    log = write(tmp_path / EVENTS, b"not an event file, says somebody\n" * 9)
    live = Live(tmp_path)
    live.after(20)
    assert live.heard.codes != []
    write(log, event_bytes(range(10)))
    live.after(60)
    assert live.heard.points[EVENTS] == points(range(10))


def test_moved_link(tmp_path: Path) -> None:
    """L14: a link to a log outside that is put on another log is a log that restarts."""
    one = write(tmp_path / "out/one.jsonl", lines(range(5)))
    two = write(tmp_path / "out/two.jsonl", lines(range(9), scale=0.75))
    link = tmp_path / "logs/metrics.jsonl"
    link.parent.mkdir()
    link.symlink_to(one)
    live = Live(tmp_path / "logs")
    live.look()
    link.unlink()
    link.symlink_to(two)
    live.after(5)
    assert live.heard.points["metrics.jsonl"] == points(range(5)) + points(range(9), scale=0.75)
    assert live.heard.kinds["metrics.jsonl"].count("restarted") == 1


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

    monkeypatch.setattr(files.os, "fstat", fstat)
    live.after(30)
    append(log, lines([20]))
    live.after(5)
    monkeypatch.undo()
    live.after(10)
    assert live.heard.points["metrics.jsonl"] == points(range(21))
    assert live.heard.told == []


def test_stale_handle_and_gone(tmp_path: Path, fault: Fault) -> None:
    """L19: ESTALE is told once, tried again ever less often, and withdrawn when it is over."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    other = write(tmp_path / "other/metrics.jsonl", lines(range(3), scale=0.75))
    live = Live(tmp_path, system=NFS)
    live.after(3)
    fault.of(log, errno.ESTALE)
    live.after(120)
    assert live.heard.codes == ["stale"]
    assert len(live.heard.told) == 1
    append(other, lines([3], scale=0.75))
    live.after(3)
    assert live.heard.points["other/metrics.jsonl"] == points(range(4), scale=0.75)
    append(log, lines([3]))
    fault.over()
    live.after(61)
    assert live.heard.codes == []
    assert live.heard.points["run/metrics.jsonl"] == points(range(4))


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_error_for_ever(tmp_path: Path, fault: Fault, number: int) -> None:
    """L20, D07: a file that always fails is tried after 1, 2, 4 ... 60 s, told once; the others go on."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    other = write(tmp_path / "other/metrics.jsonl", lines(range(3), scale=0.75))
    live = Live(tmp_path)
    live.look()
    fault.of(log, number)
    fault.calls.clear()
    live.after(600)
    tries = sum(call == ("open", str(log)) for call in fault.calls)
    assert 10 <= tries <= 18
    assert len(live.heard.told) == 1
    append(other, lines([3], scale=0.75))
    live.after(1)
    assert live.heard.points["other/metrics.jsonl"] == points(range(4), scale=0.75)


def test_reads_that_fail_half_way(tmp_path: Path, fault: Fault) -> None:
    """D07: a file that opens but cannot be read is told once, not healed and told again at every look."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.look()
    append(log, lines([3]))
    fault.of_reads(log, errno.EIO)
    live.after(100)
    assert [problem.code for problem in live.heard.told] == ["io-error"]
    fault.over()
    live.after(61)
    assert live.heard.points["metrics.jsonl"] == points(range(4))
    assert [problem.healed for problem in live.heard.told] == [False, True]


def test_a_hundred_runs_growing(tmp_path: Path) -> None:
    """L16: a hundred runs that grow together are all up to date within a second."""
    logs = [write(tmp_path / f"run{n}/metrics.jsonl", lines(range(2))) for n in range(100)]
    live = Live(tmp_path)
    live.look()
    for step in range(2, 6):
        for log in logs:
            append(log, lines([step]))
        live.after(1.0)
        assert all(live.heard.points[f"run{n}/metrics.jsonl"][-1][1] == step for n in range(100))


# -- D: directories and odd files


def test_empty_logdir(tmp_path: Path) -> None:
    """D01: an empty LOGDIR is no trouble."""
    live = Live(tmp_path)
    assert live.after(60) == []
    assert live.follower.caught_up


def test_folder_that_may_not_be_read(tmp_path: Path, fault: Fault) -> None:
    """D02: an unreadable folder is named once, others are unharmed; it is read when permission comes."""
    write(tmp_path / "shut/metrics.jsonl", lines(range(3)))
    write(tmp_path / "open/metrics.jsonl", lines(range(4)))
    fault.of(tmp_path / "shut", errno.EACCES)
    live = Live(tmp_path)
    live.after(60)
    assert live.heard.points["open/metrics.jsonl"] == points(range(4))
    assert [(told.code, told.path) for told in live.heard.told] == [("unreadable", "shut")]
    fault.over()
    live.after(31)
    assert live.heard.points["shut/metrics.jsonl"] == points(range(3))
    assert live.heard.codes == []


def test_permission_lost_while_following(tmp_path: Path, fault: Fault) -> None:
    """D02, point 4: a run that loses its permission keeps what was read, and goes on when it is back."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.look()
    fault.of(log, errno.EACCES)
    fault.of(log.parent, errno.EACCES)
    live.after(30)
    assert "unreadable" in live.heard.codes
    append(log, lines([3]))
    fault.over()
    live.after(61)
    assert live.heard.points["run/metrics.jsonl"] == points(range(4))
    assert live.heard.codes == []


def test_link_loops_and_links_to_runs(tmp_path: Path) -> None:
    """D03: loops end, dangling links harm nothing, a link to a run beside it is not a second run."""
    write(tmp_path / "run_5" / EVENTS, event_bytes(range(5)))
    outside = write(tmp_path.parent / f"{tmp_path.name}-out" / "far/metrics.jsonl", lines(range(3)))
    (tmp_path / "latest").symlink_to("run_5")
    (tmp_path / "run_5/up").symlink_to("..")
    (tmp_path / "self").symlink_to("self")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "gone.jsonl").symlink_to("nowhere.jsonl")
    (tmp_path / "far").symlink_to(outside.parent)
    live = Live(tmp_path)
    live.after(30)
    assert live.heard.runs() == {"far": ["far/metrics.jsonl"], "run_5": [f"run_5/{EVENTS}"]}
    assert all(problem.level == "info" for problem in live.heard.problems.values())


def test_named_like_a_log_but_no_file(tmp_path: Path) -> None:
    """D04: FIFOs, sockets, folders and links to devices with names of logs block nothing."""
    os.mkfifo(tmp_path / "events.out.tfevents.9.fifo")
    os.mkfifo(tmp_path / "metrics.jsonl")
    (tmp_path / "zero.jsonl").symlink_to("/dev/zero")
    (tmp_path / "events.out.tfevents.8.folder").mkdir()
    write(tmp_path / "run" / EVENTS, event_bytes(range(5)))
    here = Path.cwd()
    os.chdir(tmp_path)  # a socket's path may be 107 bytes long
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("progress.csv")
    finally:
        os.chdir(here)
    live = Live(tmp_path)
    live.after(30)
    assert live.heard.runs() == {"run": [f"run/{EVENTS}"]}
    assert {problem.code for problem in live.heard.told} == {"not-a-file"}
    assert len(live.heard.told) == 4


def test_log_replaced_by_a_fifo(tmp_path: Path) -> None:
    """D04: a log that turns into a FIFO while it is followed blocks nothing and is named once."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.look()
    log.unlink()
    os.mkfifo(log)
    live.after(60)
    assert "not-a-file" in live.heard.codes
    assert live.heard.points["metrics.jsonl"] == points(range(3))


def test_checkpoints_cost_nothing(tmp_path: Path, fault: Fault) -> None:
    """D05: checkpoint files beside a log are not looked at, checkpoint folders not entered."""
    for number in range(2000):
        (tmp_path / f"model_{number}.safetensors").touch()
    for number in range(20):
        write(tmp_path / f"checkpoint-{number}/trainer_state.json", "{}")
    write(tmp_path / ".git/metrics.jsonl", lines(range(3)))
    write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.look()
    touched = {path for name, path in fault.calls if name in ("open", "stat")}
    assert touched == {str(tmp_path), str(tmp_path / "metrics.jsonl")}
    assert live.heard.runs() == {".": ["metrics.jsonl"]}
    assert live.follower.status().pruned == 20


def test_unchanged_folders_are_not_listed_again(tmp_path: Path, fault: Fault) -> None:
    """D05: on a local disk a search asks only the time stamps of folders."""
    for number in range(20):
        log = write(tmp_path / f"run{number}/metrics.jsonl", lines(range(3)))
        os.utime(log.parent, (1000.0, 1000.0))
    os.utime(tmp_path, (1000.0, 1000.0))
    live = Live(tmp_path, wall=1e9)
    live.look()
    fault.calls.clear()
    live.after(100)
    assert not [path for name, path in fault.calls if name == "scandir"]
    write(tmp_path / "run3/events.out.tfevents.7.new", event_bytes(range(3)))
    live.after(5)
    assert live.heard.points["run3/events.out.tfevents.7.new"] == points(range(3))
    assert {path for name, path in fault.calls if name == "scandir"} == {str(tmp_path / "run3")}


def test_forty_levels(tmp_path: Path) -> None:
    """D05: a run forty levels down is found."""
    folder = "/".join(str(level) for level in range(40))
    write(tmp_path / folder / EVENTS, event_bytes(range(3)))
    live = Live(tmp_path)
    live.look()
    assert list(live.heard.runs()) == [folder]


# -- other points of the matrix


def test_reader_with_a_fault_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader that raises what nobody foresaw is named once as internal; other logs are read."""
    from rltui.logs import jsonl

    write(tmp_path / "bad/metrics.jsonl", lines(range(3)))
    write(tmp_path / "good" / EVENTS, event_bytes(range(3), scale=0.75))
    log = type(jsonl.FORMAT.open("x"))

    def read(*_: object) -> None:
        raise ZeroDivisionError("surprise")

    monkeypatch.setattr(log, "read", read)
    live = Live(tmp_path)
    live.after(100)
    assert live.heard.points[f"good/{EVENTS}"] == points(range(3), scale=0.75)
    assert [(problem.code, problem.path) for problem in live.heard.told] == [
        ("internal", "bad/metrics.jsonl")
    ]


def test_names_that_would_reach_the_terminal(tmp_path: Path) -> None:
    """S02: control characters and bytes that are not UTF-8 in names are spelled out, and the log is read."""
    write(tmp_path / "a\x1b]0;x\x07b" / EVENTS, event_bytes(range(3)))
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(raw)  # noqa: PTH102 - bytes
    with open(raw + b"/metrics.jsonl", "w") as file:  # noqa: PTH123 - bytes
        file.write(lines(range(2), scale=0.75))
    live = Live(tmp_path)
    live.look()
    assert sum(len(said) for said in live.heard.points.values()) == 5
    for source in live.heard.sources.values():
        assert source.path.isprintable()
        assert source.run.isprintable()


def test_empty_then_written(tmp_path: Path) -> None:
    """E06: a file without a byte is quiet until its writer flushes, and is read then."""
    log = write(tmp_path / EVENTS, b"")
    live = Live(tmp_path)
    live.after(300)
    assert live.heard.told == []
    append(log, event_bytes(range(3)))
    live.after(1)
    assert live.heard.points[EVENTS] == points(range(3))


def test_hidden_copies_of_rsync(tmp_path: Path) -> None:
    """E13: the unfinished hidden copy beside a file is no source."""
    write(tmp_path / EVENTS, event_bytes(range(9)))
    write(tmp_path / f".{EVENTS}.Xk3v9Q", event_bytes(range(5)))
    live = Live(tmp_path)
    live.look()
    assert list(live.heard.points) == [EVENTS]


def test_torn_line_at_a_rotation(tmp_path: Path) -> None:
    """L10: a last line without its newline in a rotated file is complete and counts."""
    log = write(tmp_path / "metrics.jsonl", lines([0]))
    live = Live(tmp_path)
    live.look()
    append(log, line(1, loss=0.75).rstrip("\n"))
    log.rename(tmp_path / "metrics.jsonl.1")
    write(log, lines([2]))
    live.after(5)
    assert live.heard.points["metrics.jsonl"] == points(range(3))


def test_weeks_of_rotation_leave_nothing_behind(tmp_path: Path) -> None:
    """Simulated weeks of appends and rotations: every point once, no descriptor, no growing state."""
    log = write(tmp_path / "metrics.jsonl", lines([0]))
    live = Live(tmp_path)
    live.look()
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208
    for step in range(1, 200):
        append(log, lines([step]))
        if step % 20 == 0:
            live.after(1)
            log.rename(tmp_path / "metrics.jsonl.1")
            write(log, lines([step], scale=0.75))
        live.now += 3600
        live.look()
    expected = []
    for step in range(200):
        expected += points([step])
        if step and step % 20 == 0:
            expected += points([step], scale=0.75)
    assert live.heard.points["metrics.jsonl"] == expected
    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208
    assert live.follower.status().files <= 2


def test_rotation_of_logs_that_are_followed_too(tmp_path: Path) -> None:
    """L10: when rotation shifts logs that were read at the start, none of them is read again."""
    write(tmp_path / "metrics.jsonl.1", lines(range(3)))
    log = write(tmp_path / "metrics.jsonl", lines(range(3, 6)))
    live = Live(tmp_path)
    live.look()
    for turn in range(3):
        for number in range(turn + 1, 0, -1):
            (tmp_path / f"metrics.jsonl.{number}").rename(tmp_path / f"metrics.jsonl.{number + 1}")
        append(log, lines([100 + turn]))
        log.rename(tmp_path / "metrics.jsonl.1")
        write(log, lines([200 + turn]))
        live.after(40)
    said = sorted(step for path in live.heard.points.values() for _, step, _ in path)
    assert said == [0, 1, 2, 3, 4, 5, 100, 101, 102, 200, 201, 202]


def test_two_rotations_between_looks(tmp_path: Path) -> None:
    """L10: even a log that was never seen under its own name is read, once."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.look()
    log.rename(tmp_path / "metrics.jsonl.2")
    write(tmp_path / "metrics.jsonl.1", lines(range(3, 6)))
    write(log, lines(range(6, 9)))
    live.after(40)
    said = sorted(step for path in live.heard.points.values() for _, step, _ in path)
    assert said == list(range(9))


def test_many_megabytes_at_once(tmp_path: Path) -> None:
    """A log that had been read and grows by megabytes is shown at its end first, then read in slices."""
    log = write(tmp_path / EVENTS, event_bytes(range(10)))
    live = Live(tmp_path)
    live.look()
    append(log, event_bytes(range(10, 40_000), head=False))
    live.after(1)
    assert live.heard.points[EVENTS] == points(range(40_000))
    assert live.heard.previews[EVENTS][-1] == points([39_999])[0]


@pytest.mark.parametrize("seed", range(12))
def test_random_lives_of_a_log(tmp_path: Path, seed: int) -> None:
    """Appends, torn lines, rotations, copies put in place, looks at any time: every line once, in order."""
    draw = random.Random(seed)
    log = write(tmp_path / "metrics.jsonl", "")
    live = Live(tmp_path, system=draw.choice([LOCAL, NFS]))
    step, turn, rest = 0, 0, ""
    for _ in range(120):
        match draw.randrange(6):
            case 0 | 1:
                more = lines(range(step, step + draw.randrange(1, 6)))
                step += more.count("\n")
                cut = draw.randrange(len(more) + 1)
                append(log, rest + more[:cut])
                rest = more[cut:]
            case 2:
                append(log, rest)
                rest = ""
            case 3 if not rest and log.stat().st_size:
                live.after(3)
                turn += 1
                log.rename(tmp_path / f"metrics.jsonl.{turn}")
                write(log, lines([step]))
                step += 1
            case 4:
                write(tmp_path / ".copy", log.read_bytes() + rest.encode()).rename(log)
                rest = ""
            case _:
                live.after(draw.random() * 5)
    append(log, rest)
    live.after(40)
    assert live.heard.points["metrics.jsonl"] == points(range(step))
    assert [path for path, said in live.heard.points.items() if said] == ["metrics.jsonl"]

"""Folders, links, permissions and odd files while a follower looks."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.logs.faulty_calls import Fault
from tests.support.logs.live_logs import Live, append, event_bytes, lines, points, write

EVENTS = "events.out.tfevents.1.host"


@pytest.fixture
def fault(monkeypatch: pytest.MonkeyPatch) -> Iterator[Fault]:
    """System calls that can fail."""
    yield Fault(monkeypatch)


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
    assert live.delivered.points["open/metrics.jsonl"] == points(range(4))
    assert [(told.code, told.path) for told in live.delivered.reported_problems] == [("unreadable", "shut")]
    fault.over()
    live.after(31)
    assert live.delivered.points["shut/metrics.jsonl"] == points(range(3))
    assert live.delivered.codes == []


def test_permission_lost_while_following(tmp_path: Path, fault: Fault) -> None:
    """D02, point 4: a run that loses its permission keeps what was read, and goes on when it is back."""
    log = write(tmp_path / "run/metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    fault.of(log, errno.EACCES)
    fault.of(log.parent, errno.EACCES)
    live.after(30)
    assert "unreadable" in live.delivered.codes
    append(log, lines([3]))
    fault.over()
    live.after(61)
    assert live.delivered.points["run/metrics.jsonl"] == points(range(4))
    assert live.delivered.codes == []


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
    assert live.delivered.runs() == {"far": ["far/metrics.jsonl"], "run_5": [f"run_5/{EVENTS}"]}
    assert all(problem.level == "info" for problem in live.delivered.problems.values())


def test_moved_link(tmp_path: Path) -> None:
    """L14: a link to a log outside that is put on another log is a log that restarts."""
    one = write(tmp_path / "out/one.jsonl", lines(range(5)))
    two = write(tmp_path / "out/two.jsonl", lines(range(9), scale=0.75))
    link = tmp_path / "logs/metrics.jsonl"
    link.parent.mkdir()
    link.symlink_to(one)
    live = Live(tmp_path / "logs")
    live.poll()
    link.unlink()
    link.symlink_to(two)
    live.after(5)
    assert live.delivered.points["metrics.jsonl"] == points(range(5)) + points(range(9), scale=0.75)
    assert live.delivered.kinds["metrics.jsonl"].count("restarted") == 1


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
    assert live.delivered.runs() == {"run": [f"run/{EVENTS}"]}
    assert {problem.code for problem in live.delivered.reported_problems} == {"not-a-file"}
    assert len(live.delivered.reported_problems) == 4


def test_log_replaced_by_a_fifo(tmp_path: Path) -> None:
    """D04: a log that turns into a FIFO while it is followed blocks nothing and is named once."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    log.unlink()
    os.mkfifo(log)
    live.after(60)
    assert "not-a-file" in live.delivered.codes
    assert live.delivered.points["metrics.jsonl"] == points(range(3))


def test_checkpoints_cost_nothing(tmp_path: Path, fault: Fault) -> None:
    """D05: checkpoint files beside a log are not looked at, checkpoint folders not entered."""
    for number in range(2000):
        (tmp_path / f"model_{number}.safetensors").touch()
    for number in range(20):
        write(tmp_path / f"checkpoint-{number}/trainer_state.json", "{}")
    write(tmp_path / ".git/metrics.jsonl", lines(range(3)))
    write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    own = str(tmp_path)
    touched = {path for name, path in fault.calls if name in ("open", "stat") and path.startswith(own)}
    assert touched == {str(tmp_path), str(tmp_path / "metrics.jsonl")}
    assert live.delivered.runs() == {".": ["metrics.jsonl"]}


def test_unchanged_folders_are_not_listed_again(tmp_path: Path, fault: Fault) -> None:
    """D05: on a local disk a search asks only the time stamps of folders."""
    for number in range(20):
        log = write(tmp_path / f"run{number}/metrics.jsonl", lines(range(3)))
        os.utime(log.parent, (1000.0, 1000.0))
    os.utime(tmp_path, (1000.0, 1000.0))
    live = Live(tmp_path, wall=1e9)
    live.poll()
    fault.calls.clear()
    live.after(100)
    own = str(tmp_path)
    assert not [path for name, path in fault.calls if name == "scandir" and path.startswith(own)]
    write(tmp_path / "run3/events.out.tfevents.7.new", event_bytes(range(3)))
    live.after(5)
    assert live.delivered.points["run3/events.out.tfevents.7.new"] == points(range(3))
    listed = {path for name, path in fault.calls if name == "scandir" and path.startswith(own)}
    assert listed == {str(tmp_path / "run3")}


def test_forty_levels(tmp_path: Path) -> None:
    """D05: a run forty levels down is found."""
    folder = "/".join(str(level) for level in range(40))
    write(tmp_path / folder / EVENTS, event_bytes(range(3)))
    live = Live(tmp_path)
    live.poll()
    assert list(live.delivered.runs()) == [folder]


def test_names_that_would_reach_the_terminal(tmp_path: Path) -> None:
    """S02: control characters and bytes that are not UTF-8 in names are spelled out, and the log is read."""
    write(tmp_path / "a\x1b]0;x\x07b" / EVENTS, event_bytes(range(3)))
    raw = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(raw)  # noqa: PTH102 - bytes
    with open(raw + b"/metrics.jsonl", "w") as file:  # noqa: PTH123 - bytes
        file.write(lines(range(2), scale=0.75))
    live = Live(tmp_path)
    live.poll()
    assert sum(len(said) for said in live.delivered.points.values()) == 5
    for source in live.delivered.sources.values():
        assert source.path.isprintable()
        assert source.run.isprintable()


def test_hidden_copies_of_rsync(tmp_path: Path) -> None:
    """E13: the unfinished hidden copy beside a file is no source."""
    write(tmp_path / EVENTS, event_bytes(range(9)))
    write(tmp_path / f".{EVENTS}.Xk3v9Q", event_bytes(range(5)))
    live = Live(tmp_path)
    live.poll()
    assert list(live.delivered.points) == [EVENTS]

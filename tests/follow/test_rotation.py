"""Logs that are cut, rotated, replaced and written again while a follower looks: every point once."""

from __future__ import annotations

import gzip
import os
import random
from pathlib import Path
from typing import Any

import pytest

from tests.support.logs.live_logs import LOCAL, NFS, Live, append, event_bytes, line, lines, points, write
from tests.support.logs.open_files import open_below

EVENTS = "events.out.tfevents.1.host"
SYSTEMS = pytest.mark.parametrize("system", [LOCAL, NFS], ids=["local", "nfs"])


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
    assert live.delivered.points["metrics.jsonl"] == points(range(8))
    assert live.delivered.kinds["metrics.jsonl"].count("restarted") == 1
    assert [path for path in live.delivered.points if live.delivered.points[path]] == ["metrics.jsonl"]


@SYSTEMS
def test_truncated_and_regrown_between_looks(tmp_path: Path, system: Any) -> None:
    """L09: cut and already longer than before at the next look: other bytes say that it is another log."""
    log = write(tmp_path / "metrics.jsonl", lines(range(5)))
    live = Live(tmp_path, system=system)
    live.after(3)
    log.write_text(lines(range(100, 130)))
    live.after(5)
    assert live.delivered.points["metrics.jsonl"] == points(range(5)) + points(range(100, 130))
    assert live.delivered.codes == ["restarted"]


@SYSTEMS
def test_same_beginning_other_end(tmp_path: Path, system: Any) -> None:
    """L09: rewritten with the same first bytes, and longer: the bytes before the offset betray it."""
    start = lines(range(300))
    log = write(tmp_path / "metrics.jsonl", start + lines(range(300, 310)))
    live = Live(tmp_path, system=system)
    live.after(3)
    log.write_text(start + lines(range(300, 330), scale=0.75))
    live.after(5)
    assert live.delivered.kinds["metrics.jsonl"].count("restarted") == 1
    expected = points(range(300)) + points(range(300, 330), scale=0.75)
    assert live.delivered.points["metrics.jsonl"][310:] == expected


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
    assert live.delivered.points["metrics.jsonl"] == points(range(9))
    assert live.delivered.runs() == {".": ["metrics.jsonl"]}


@SYSTEMS
@pytest.mark.parametrize("copied", [False, True], ids=["renamed", "copied"])
def test_last_lines_of_a_log_whose_heir_is_empty(tmp_path: Path, system: Any, copied: bool) -> None:
    """L08, L10: what was written just before a rotation is shown before the new file says its first word."""
    log, moved = tmp_path / "metrics.jsonl", tmp_path / "metrics.jsonl.1"
    live = Live(tmp_path, system=system)
    for turn in range(3):  # from the second turn on, the moved log takes a name that is known
        first = 10 * turn
        append(log, lines(range(first, first + 5)))
        live.after(40)
        append(log, lines(range(first + 5, first + 9)))
        write(moved, log.read_bytes()) if copied else log.rename(moved)
        write(log, "")
        live.after(3)
        assert live.delivered.points["metrics.jsonl"][-9:] == points(range(first, first + 9))
        if not copied:
            append(moved, lines([first + 9]))  # the writer has not noticed yet
            live.after(3)
            assert live.delivered.points["metrics.jsonl"][-1:] == points([first + 9])
    append(log, lines([30]))
    live.after(5)
    everything = [step for step in range(31) if not copied or step % 10 != 9]
    assert live.delivered.points["metrics.jsonl"] == points(everything)
    assert [path for path, said in live.delivered.points.items() if said] == ["metrics.jsonl"]


def test_rotated_logs_found_at_the_start(tmp_path: Path) -> None:
    """L10: logs that were rotated before we came belong to the same run and are read first."""
    write(tmp_path / "metrics.jsonl.2", lines(range(3)))
    write(tmp_path / "metrics.jsonl.1", lines(range(3, 6)))
    write(tmp_path / "metrics.jsonl", lines(range(6, 9)))
    live = Live(tmp_path)
    live.poll()
    assert live.delivered.runs() == {".": ["metrics.jsonl", "metrics.jsonl.1", "metrics.jsonl.2"]}
    read = [delivery.source.path for delivery in live.delivered.deliveries if delivery.kind == "points"]
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
    assert live.delivered.points[start] == points(range(30))
    assert live.delivered.reported_problems == []


@SYSTEMS
def test_cut_under_a_writer_that_keeps_its_place(tmp_path: Path, system: Any) -> None:
    """J10, L08: copytruncate without append mode leaves a hole of zeros before what is written next."""
    log = write(tmp_path / "metrics.jsonl", "")
    live = Live(tmp_path, system=system)
    with log.open("r+b") as writer:
        writer.write(lines(range(1000)).encode())
        writer.flush()
        live.after(3)
        write(tmp_path / "metrics.jsonl.1", log.read_bytes())
        os.truncate(log, 0)
        live.after(3)
        writer.write(lines(range(1000, 1200)).encode())
        writer.flush()
        live.after(20)
    assert live.delivered.points["metrics.jsonl"] == points(range(1200))
    afresh = Live(tmp_path, system=system)
    afresh.after(20)
    assert afresh.delivered.points["metrics.jsonl"] == points(range(1000, 1200))
    assert "zero-bytes" in afresh.delivered.codes


@SYSTEMS
def test_compressed_after_rotation(tmp_path: Path, system: Any) -> None:
    """L10, J12: a log that was read, rotated and compressed is not read again; one from before we came is."""
    log = write(tmp_path / "metrics.jsonl", lines(range(300, 600)))
    write(tmp_path / "metrics.jsonl.1.gz", gzip.compress(lines(range(300)).encode()))
    live = Live(tmp_path, system=system)
    live.after(3)
    assert live.delivered.points["metrics.jsonl.1.gz"] == points(range(300))
    (tmp_path / "metrics.jsonl.1.gz").rename(tmp_path / "metrics.jsonl.2.gz")
    moved = log.rename(tmp_path / "metrics.jsonl.1")
    write(log, lines(range(600, 700)))
    live.after(3)
    write(tmp_path / "metrics.jsonl.1.gz", gzip.compress(moved.read_bytes()))
    moved.unlink()
    live.after(60)
    said = sorted(point for path in live.delivered.points for point in live.delivered.points[path])
    assert said == points(range(700))
    assert live.delivered.codes == ["restarted"]


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
    assert live.delivered.points["metrics.jsonl"] == points(range(21))
    assert live.delivered.reported_problems == []


def test_progress_csv_with_a_new_column(tmp_path: Path) -> None:
    """L11: SB3 writes progress.csv anew when a key appears: the same log from its first byte, no restart."""
    log = write(tmp_path / "progress.csv", "time/total_timesteps,loss\n1,0.5\n2,0.25\n")
    live = Live(tmp_path)
    live.poll()
    write(log, "time/total_timesteps,loss,kl\n1,0.5,\n2,0.25,\n3,0.125,0.75\n")
    live.after(2)
    said = [point for point in live.delivered.points["progress.csv"] if point[0] in ("loss", "kl")]
    assert sorted(said) == [("kl", 3, 0.75), ("loss", 1, 0.5), ("loss", 2, 0.25), ("loss", 3, 0.125)]
    assert "rewritten" in live.delivered.kinds["progress.csv"]
    assert live.delivered.codes == []


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
    assert live.delivered.points["metrics.jsonl"] == points(range(10)) + again
    assert live.delivered.kinds["metrics.jsonl"].count("restarted") == 1


def test_torn_line_at_a_rotation(tmp_path: Path) -> None:
    """L10: a last line without its newline in a rotated file is complete and counts."""
    log = write(tmp_path / "metrics.jsonl", lines([0]))
    live = Live(tmp_path)
    live.poll()
    append(log, line(1, loss=0.75).rstrip("\n"))
    log.rename(tmp_path / "metrics.jsonl.1")
    write(log, lines([2]))
    live.after(5)
    assert live.delivered.points["metrics.jsonl"] == points(range(3))


def test_rotation_of_logs_that_are_followed_too(tmp_path: Path) -> None:
    """L10: when rotation shifts logs that were read at the start, none of them is read again."""
    write(tmp_path / "metrics.jsonl.1", lines(range(3)))
    log = write(tmp_path / "metrics.jsonl", lines(range(3, 6)))
    live = Live(tmp_path)
    live.poll()
    for turn in range(3):
        for number in range(turn + 1, 0, -1):
            (tmp_path / f"metrics.jsonl.{number}").rename(tmp_path / f"metrics.jsonl.{number + 1}")
        append(log, lines([100 + turn]))
        log.rename(tmp_path / "metrics.jsonl.1")
        write(log, lines([200 + turn]))
        live.after(40)
    said = sorted(step for path in live.delivered.points.values() for _, step, _ in path)
    assert said == [0, 1, 2, 3, 4, 5, 100, 101, 102, 200, 201, 202]


def test_two_rotations_between_looks(tmp_path: Path) -> None:
    """L10: even a log that was never seen under its own name is read, once."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    log.rename(tmp_path / "metrics.jsonl.2")
    write(tmp_path / "metrics.jsonl.1", lines(range(3, 6)))
    write(log, lines(range(6, 9)))
    live.after(40)
    said = sorted(step for path in live.delivered.points.values() for _, step, _ in path)
    assert said == list(range(9))


def test_weeks_of_rotation_leave_nothing_behind(tmp_path: Path) -> None:
    """Simulated weeks of appends and rotations: every point once, no descriptor, no growing state."""
    log = write(tmp_path / "metrics.jsonl", lines([0]))
    live = Live(tmp_path)
    live.poll()
    for step in range(1, 200):
        append(log, lines([step]))
        if step % 20 == 0:
            live.after(1)
            log.rename(tmp_path / "metrics.jsonl.1")
            write(log, lines([step], scale=0.75))
        live.now += 3600
        live.poll()
    expected = []
    for step in range(200):
        expected += points([step])
        if step and step % 20 == 0:
            expected += points([step], scale=0.75)
    assert live.delivered.points["metrics.jsonl"] == expected
    assert open_below(tmp_path) == 0
    assert live.follower.status().files <= 2


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
    assert live.delivered.points["metrics.jsonl"] == points(range(step))
    assert [path for path, said in live.delivered.points.items() if said] == ["metrics.jsonl"]

"""Following logs that grow: what is read when, in which order, and at what cost."""

from __future__ import annotations

import gzip
import os
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rltui.logs.follow.follower import Follower, MissingError
from rltui.logs.follow.read_all import read_all
from rltui.logs.formats.interface import BLOCK
from rltui.logs.run_names import RunFilter
from rltui.session.session import Session
from tests.support.logs import tfwriter
from tests.support.logs.live_logs import (
    LOCAL,
    NFS,
    Delivered,
    Live,
    append,
    delivered_once,
    event_bytes,
    lines,
    points,
    write,
)
from tests.support.logs.open_files import open_below


def test_everything_there_is_read_once(tmp_path: Path) -> None:
    """What a LOGDIR holds at the start is delivered, each point once, under the run of its folder."""
    write(tmp_path / "a/metrics.jsonl", lines(range(50)))
    write(tmp_path / "b/events.out.tfevents.1.host", event_bytes(range(30), scale=0.7))
    live = Live(tmp_path)
    live.poll()
    assert live.follower.caught_up
    assert live.delivered.points["a/metrics.jsonl"] == points(range(50))
    assert live.delivered.points["b/events.out.tfevents.1.host"] == [
        (tag, step, float(np.float32(value))) for tag, step, value in points(range(30), scale=0.7)
    ]
    assert live.delivered.runs() == {
        "a": ["a/metrics.jsonl"],
        "b": ["b/events.out.tfevents.1.host"],
    }
    assert live.after(60) == []


def test_new_lines_within_a_second(tmp_path: Path) -> None:
    """A line appended to a local log is delivered within one second, however long ago the last one was."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    for pause, step in ((0.3, 3), (7.0, 4), (120.0, 5), (5000.0, 6)):
        live.after(pause)
        append(log, lines([step]))
        live.after(1.0)
        assert live.delivered.points["metrics.jsonl"] == points(range(step + 1))
    assert live.delivered.runs() == {".": ["metrics.jsonl"]}


def test_half_a_line_waits_for_its_end(tmp_path: Path) -> None:
    """A torn line gives nothing early, and its rest is read within a second of being written."""
    log = write(tmp_path / "metrics.jsonl", lines([0]))
    live = Live(tmp_path)
    live.poll()
    text = lines([1])
    append(log, text[:9])
    live.after(100)
    assert live.delivered.points["metrics.jsonl"] == points([0])
    append(log, text[9:])
    live.after(1.0)
    assert live.delivered.points["metrics.jsonl"] == points([0, 1])
    assert live.delivered.codes == []


def test_bytes_that_dribble(tmp_path: Path) -> None:
    """Records that arrive byte by byte with looks in between are delivered whole, once, in order."""
    name = "events.out.tfevents.1.host"
    log = write(tmp_path / name, b"")
    live = Live(tmp_path)
    live.poll()
    for byte in event_bytes(range(3)):
        append(log, bytes([byte]))
        live.after(0.5)
    assert live.delivered.points[name] == points(range(3))


def test_new_files_and_runs_are_found(tmp_path: Path) -> None:
    """New runs and new files of known runs are read within one rescan; at once when a search is asked for."""
    write(tmp_path / "a/events.out.tfevents.1.host", event_bytes(range(3)))
    live = Live(tmp_path)
    live.poll()
    write(tmp_path / "a/events.out.tfevents.2.host", event_bytes(range(3, 6)))
    write(tmp_path / "deep/er/b/metrics.jsonl", lines(range(2)))
    live.after(live.follower.status().rescan)
    assert live.delivered.points["a/events.out.tfevents.2.host"] == points(range(3, 6))
    assert live.delivered.points["deep/er/b/metrics.jsonl"] == points(range(2))
    live.after(5.0)
    write(tmp_path / "c/progress.csv", "step,loss\n1,0.75\n")
    live.follower.search_now()
    live.after(0.3)
    assert live.delivered.points["c/progress.csv"] == [("loss", 1, 0.75)]


def test_logdir_that_does_not_exist_yet(tmp_path: Path) -> None:
    """A missing LOGDIR is waited for without a word, and read once it is there; a single file too."""
    live = Live(tmp_path / "later")
    assert live.after(30) == []
    assert live.follower.status().waiting == (str(tmp_path / "later"),)
    write(tmp_path / "later/x/metrics.jsonl", lines(range(4)))
    live.after(5)
    assert live.delivered.points["x/metrics.jsonl"] == points(range(4))
    assert live.follower.status().waiting == ()
    single = Live(tmp_path / "one/log.jsonl")
    assert single.after(10) == []
    write(tmp_path / "one/log.jsonl", lines(range(2)))
    write(tmp_path / "one/other.jsonl", lines(range(2)))
    single.after(5)
    assert single.delivered.runs() == {".": ["log.jsonl"]}


def test_missing_logdir_is_an_error_for_commands_that_read_once(tmp_path: Path) -> None:
    """`read_all` says which LOGDIR does not exist before it reads any other."""
    write(tmp_path / "a/metrics.jsonl", lines(range(2)))
    with pytest.raises(MissingError) as caught:
        list(read_all([tmp_path / "a", tmp_path / "nope"]))
    assert caught.value.problem.code == "missing"
    assert str(tmp_path / "nope") in caught.value.problem.path


def test_read_all_equals_following(tmp_path: Path) -> None:
    """Reading once and following give the same points; only the former takes an open last line."""
    write(tmp_path / "a/metrics.jsonl", lines(range(20)) + lines([20]).rstrip("\n"))
    write(tmp_path / "b/events.out.tfevents.1.host", event_bytes(range(30), scale=0.625))
    live, once = Live(tmp_path), Delivered()
    live.poll()
    once.take(read_all([tmp_path]))
    assert once.points["a/metrics.jsonl"] == points(range(21))
    assert live.delivered.points["a/metrics.jsonl"] == points(range(20))
    assert (
        once.points["b/events.out.tfevents.1.host"] == live.delivered.points["b/events.out.tfevents.1.host"]
    )
    assert once.runs() == live.delivered.runs()


@cache
def _events(steps: int) -> bytes:
    return event_bytes(range(steps))


def _large(path: Path, steps: int, modified: float) -> Path:
    write(path, _events(steps))
    os.utime(path, (modified, modified))
    return path


def test_newest_first(tmp_path: Path) -> None:
    """Before any history the ends of all large logs are delivered, most recently written first."""
    for number, name in enumerate(("old", "middle", "young")):
        _large(tmp_path / name / f"events.out.tfevents.1.{name}", 40_000, 1000.0 + number)
    live = Live(tmp_path)
    live.poll()
    kinds = [
        (delivery.kind, delivery.source.run) for delivery in live.delivered.deliveries if len(delivery.batch)
    ]
    assert kinds[:3] == [("newest", "young"), ("newest", "middle"), ("newest", "old")]
    assert [kind for kind, _ in kinds[3:]] == ["points"] * len(kinds[3:])
    histories = list(dict.fromkeys(run for _, run in kinds[3:]))
    assert histories == ["young", "middle", "old"]
    for path, said in live.delivered.points.items():
        assert said == points(range(40_000)), path
        assert live.delivered.previews[path][-1] == points([39_999])[0]


def test_focused_run_first(tmp_path: Path) -> None:
    """The history of the run that somebody looks at is read before that of more recent ones."""
    for number, name in enumerate(("old", "middle", "young")):
        _large(tmp_path / name / f"events.out.tfevents.1.{name}", 40_000, 1000.0 + number)
    live = Live(tmp_path)
    live.follower.focus("old")
    live.poll()
    runs = [delivery.source.run for delivery in live.delivered.deliveries if delivery.kind == "points"]
    assert runs[0] == "old"


def test_files_of_a_run_in_their_order(tmp_path: Path) -> None:
    """The event files of one run are read in the order in which they were begun, whatever their times say."""
    for number in (3, 1, 2):
        _large(tmp_path / f"events.out.tfevents.{number}.host", 10 * number, 9000.0 - number)
    live = Live(tmp_path)
    live.poll()
    read = [delivery.source.path[-6] for delivery in live.delivered.deliveries if delivery.kind == "points"]
    assert read == ["1", "2", "3"]


def test_progress_grows_to_the_whole(tmp_path: Path) -> None:
    """Progress counts consumed against known bytes, and ends with both equal."""
    log = _large(tmp_path / "events.out.tfevents.1.host", 60_000, 1000.0)
    live = Live(tmp_path)
    seen = []
    while not live.follower.caught_up:
        live.delivered.take(live.follower.poll())
        seen.append(live.follower.progress())
    assert seen[-1] == (log.stat().st_size, log.stat().st_size)
    assert all(consumed <= known for consumed, known in seen)
    assert [consumed for consumed, _ in seen] == sorted(consumed for consumed, _ in seen)


def test_idle_reads_nothing(tmp_path: Path) -> None:
    """While nothing changes no file is opened and no byte is read."""
    for number in range(40):
        write(tmp_path / f"run{number}/events.out.tfevents.1.host", event_bytes(range(20)))
    live = Live(tmp_path)
    live.poll()
    before = live.follower.status()
    live.after(60)
    after = live.follower.status()
    assert (after.opened, after.bytes_read) == (before.opened, before.bytes_read)


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    """However many logs are followed, none is held open between looks."""
    for number in range(100):
        write(tmp_path / f"run{number}/metrics.jsonl", lines(range(3)))
    live = Live(tmp_path)
    live.poll()
    most = 0
    for number in range(100):
        append(tmp_path / f"run{number}/metrics.jsonl", lines([3]))
    live.now += 1
    for _ in live.follower.poll():
        most = max(most, open_below(tmp_path))
    assert most <= 2
    assert open_below(tmp_path) == 0


def test_remote_growth_is_read_without_trust_in_attributes(tmp_path: Path) -> None:
    """On a network file system growth is noticed by opening and reading, within a few seconds."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path, system=NFS)
    live.poll()
    append(log, lines([3]))
    live.after(2.5)
    assert live.delivered.points["metrics.jsonl"] == points(range(4))


def test_run_glob(tmp_path: Path) -> None:
    """Only runs whose names match are opened."""
    for name in ("ppo_1", "ppo_2", "dqn_1"):
        write(tmp_path / name / "metrics.jsonl", lines(range(3)))
    live, once = Live(tmp_path, runs=RunFilter("ppo*")), Delivered()
    live.poll()
    once.take(read_all([tmp_path], run_glob="ppo*"))
    assert sorted(live.delivered.runs()) == sorted(once.runs()) == ["ppo_1", "ppo_2"]
    assert live.follower.status().files == 2


def test_several_logdirs(tmp_path: Path) -> None:
    """Of several LOGDIRs each puts its folder's name in front, so that equal runs stay apart."""
    for name in ("x", "y"):
        write(tmp_path / name / "run/metrics.jsonl", lines(range(2)))
        write(tmp_path / name / "metrics.jsonl", lines(range(2)))
    live = Live(tmp_path / "x", tmp_path / "y")
    live.poll()
    assert live.delivered.runs() == {
        "x": ["x/metrics.jsonl"],
        "x/run": ["x/run/metrics.jsonl"],
        "y": ["y/metrics.jsonl"],
        "y/run": ["y/run/metrics.jsonl"],
    }


def test_lag_is_measured(tmp_path: Path) -> None:
    """The status says how long after a write its points were read, by the file's own time."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    live = Live(tmp_path, wall=5000.75)
    live.poll()
    assert live.follower.status().lag is None
    append(log, lines([3]))
    os.utime(log, (5000.5, 5000.5))
    live.after(1)
    assert live.follower.status().lag == pytest.approx(0.25)


def test_total_of_an_unstarted_run(tmp_path: Path) -> None:
    """An event file without a byte is a run that begins: named, without points, without trouble."""
    write(tmp_path / "run/events.out.tfevents.1.host", b"")
    live, once = Live(tmp_path), Delivered()
    live.poll()
    once.take(read_all([tmp_path]))
    for delivered in (live.delivered, once):
        assert delivered.runs() == {"run": ["run/events.out.tfevents.1.host"]}
        assert delivered.codes == []


def test_files_that_are_no_logs_make_no_runs(tmp_path: Path) -> None:
    """Settings and data sets are neither runs nor troubles; a log that cannot be read is named once."""
    write(tmp_path / "metrics.jsonl", lines(range(3)))
    write(tmp_path / "extra.json", '{"a": "b"}')
    write(tmp_path / "strange.jsonl", "\x00\x01\x02 binary \xff" * 20)
    live = Live(tmp_path)
    write(tmp_path / "train.jsonl", '{"prompt": "one and one", "answer": "2"}\n' * 300)
    write(tmp_path / "train_long.jsonl", '{"prompt": "' + "word " * 2000)
    write(tmp_path / "data.csv", "prompt,answer\none and one,2\n")
    write(tmp_path / "questions.jsonl.gz", gzip.compress(b'{"prompt": "one and one"}\n' * 300))
    write(tmp_path / "broken.jsonl", "this was to be JSON\n")
    write(tmp_path / "a/metrics.csv", "prompt,answer\none and one,2\n")
    live.after(60)
    assert live.delivered.runs() == {".": ["metrics.jsonl"]}
    named = ["a/metrics.csv", "broken.jsonl", "strange.jsonl"]
    assert sorted(problem.path for problem in live.delivered.reported_problems) == named
    assert live.delivered.codes == ["unrecognised"] * 3


@pytest.mark.parametrize("name", ["log.csv", "metrics.jsonl"])
@pytest.mark.parametrize("written", [1, 2, 5, 9, 12, 20, 33])
def test_a_first_record_is_waited_for(tmp_path: Path, name: str, written: int) -> None:
    """However little of its first line is there, JSON lines are never called no log, nor read as a table."""
    text = "\ufeff\n" * (written == 33) + lines(range(3))
    log = write(tmp_path / name, text.encode()[:written])
    live = Live(tmp_path)
    live.after(10)
    assert live.delivered.codes in ([], ["torn-record"])
    append(log, text.encode()[written:])
    live.after(30)
    assert live.delivered.codes == []
    assert {each.code for each in live.delivered.reported_problems} <= {"torn-record"}
    assert live.delivered.points[name] == points(range(3))


def test_own_rank_is_known(tmp_path: Path) -> None:
    """Logs of single workers keep their own runs and say which rank wrote them."""
    name = "events.out.tfevents.1.host"
    write(tmp_path / "all" / name, event_bytes(range(3)))
    for rank in (0, 3):
        write(tmp_path / f"worker_logs/ActorGroup/rank_{rank}/tensorboard" / name, event_bytes(range(3)))
    write(tmp_path / f"joint/{name}.rank0", event_bytes(range(3)))
    write(tmp_path / f"joint/{name}.rank1", event_bytes(range(3)))
    live = Live(tmp_path)
    live.poll()
    ranks = {source.run: source.rank for source in live.delivered.sources.values()}
    assert ranks == {
        "all": None,
        "worker_logs/ActorGroup/rank_0/tensorboard": 0,
        "worker_logs/ActorGroup/rank_3/tensorboard": 3,
        "joint": 0,
        "joint/rank1": 1,
    }


def test_verify_reads_every_checksum(tmp_path: Path) -> None:
    """With `verify` a flipped byte in the middle of a large file is reported with its place."""
    data = bytearray(event_bytes(range(60_000)))
    data[len(event_bytes(range(30_000))) - 5] ^= 0x10  # the last byte of a value, before its checksum
    write(tmp_path / "events.out.tfevents.1.host", bytes(data))
    delivered = delivered_once([tmp_path], verify=True)
    assert delivered.codes == ["corrupt-record"]
    assert len(delivered.points["events.out.tfevents.1.host"]) == 59_999


def test_look_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A look stops after the block in which its time ran out, so that keys and other logs get their turn."""
    _large(tmp_path / "events.out.tfevents.1.host", 60_000, 1000.0)
    monkeypatch.setattr("rltui.logs.follow.follower.SLICE", 0.0)
    live = Live(tmp_path)
    largest = 0
    while not live.follower.caught_up:
        before = live.follower.progress()[0]
        live.delivered.take(live.follower.poll())
        largest = max(largest, live.follower.progress()[0] - before)
    assert largest <= BLOCK
    assert live.delivered.points["events.out.tfevents.1.host"] == points(range(60_000))


def test_a_torn_end_is_no_history(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When a look stopped before a torn line, the next one tells that all there is has been read."""
    write(tmp_path / "metrics.jsonl", lines(range(30)) + '{"step": 30, "lo')
    monkeypatch.setattr("rltui.logs.follow.follower.SLICE", 0.0)
    live = Live(tmp_path)
    for _ in range(4):
        live.poll()
    assert live.follower.caught_up
    (source,) = live.delivered.sources.values()
    assert source.caught_up
    assert source.read < source.size


def test_session_start_in_a_later_file(tmp_path: Path) -> None:
    """A restart that a writer declares comes through with its place among the points."""
    write(tmp_path / "events.out.tfevents.1.host", event_bytes(range(5)))
    again = tfwriter.version() + tfwriter.session_start(3) + event_bytes(range(3, 6), head=False)
    write(tmp_path / "events.out.tfevents.2.host", again)
    live = Live(tmp_path)
    live.poll()
    starts = [start for delivery in live.delivered.deliveries for start in delivery.batch.starts]
    assert [(start.index, start.step) for start in starts] == [(0, 3)]


def test_small_runs_are_shown_whole_one_by_one(tmp_path: Path) -> None:
    """Small runs come whole, the one written last first, files in order; then the ends of large ones."""
    big = write(tmp_path / "big/metrics.jsonl", lines(range(60_000), scale=0.3))
    for number in range(3):
        for part in range(2):
            name = f"run{number}/events.out.tfevents.{part}.host{number}"
            log = write(tmp_path / name, event_bytes(range(part * 5, part * 5 + 5)))
            os.utime(log, (2000.0 + number, 2000.0 + number - part))
    os.utime(big, (1000.0, 1000.0))
    delivered = Live(tmp_path)
    order = [(each.source.path, each.kind) for each in delivered.poll() if len(each.batch)]
    small = [(f"run{n}/events.out.tfevents.{part}.host{n}", "points") for n in (2, 1, 0) for part in (0, 1)]
    assert order[:7] == [*small, ("big/metrics.jsonl", "newest")]


def test_small_event_files_are_opened_once(tmp_path: Path) -> None:
    """New small event files cost one open each, and every point of them is delivered."""
    for number in range(20):
        write(tmp_path / f"run{number}/events.out.tfevents.1.host{number}", event_bytes(range(30)))
    live = Live(tmp_path)
    live.poll()
    assert live.follower.status().opened == 20
    expected = [(tag, step, float(np.float32(value))) for tag, step, value in points(range(30))]
    assert [
        live.delivered.points[f"run{number}/events.out.tfevents.1.host{number}"] for number in range(20)
    ] == [expected] * 20


def test_small_event_files_that_are_read_once_are_opened_once(tmp_path: Path) -> None:
    """Their end is read with what stands before it; one that is cut off is told all the same."""
    for number in range(20):
        run = tmp_path / f"run_{number:02}"
        run.mkdir()
        data = tfwriter.version() + tfwriter.event(1, tfwriter.simple("loss", 0.5))
        cut = b"" if number else tfwriter.event(2, tfwriter.simple("loss", 0.4))[:9]
        (run / f"events.out.tfevents.1.host{number}").write_bytes(data + cut)
    follower = Follower([tmp_path], once=True)
    found = []
    while not follower.done:
        found += follower.poll()
    assert sum(len(each.batch) for each in found) == 20
    assert [p.code for each in found for p in each.batch.problems] == ["torn-tail"]
    assert follower.status().opened == 20


def test_what_an_event_file_really_is(tmp_path: Path) -> None:
    """A file named like an event file is told of where its first bytes are none, and makes no log then."""
    write(tmp_path / "a/events.out.tfevents.1.host", gzip.compress(event_bytes(range(9))))
    write(tmp_path / "b/events.out.tfevents.1.host", b"no event file at all, whatever its name may be")
    for taken in (list(read_all([tmp_path])), Live(tmp_path).after(60)):
        told = {
            (each.source.run, each.source.format, problem.code)
            for each in taken
            for problem in each.batch.problems
        }
        assert told == {("a", "", "unrecognised"), ("b", "tfevents", "not-an-event-file")}
        assert not any(len(each.batch) for each in taken)


def test_a_log_that_went_quiet_is_read_on(tmp_path: Path) -> None:
    """What a log learned of its records is let go after a while; what comes later is read all the same."""
    log = write(tmp_path / "events.out.tfevents.1.host", event_bytes(range(600)))
    live = Live(tmp_path)
    live.poll()
    append(log, event_bytes(range(600, 700), tag="other", head=False))
    live.after(1.0)
    followed = live.follower.logs[str(log)]
    learned = followed.reader._templates
    live.after(2000)
    assert followed.reader._templates is not learned
    append(log, event_bytes(range(700, 1300), head=False))
    live.after(1.0)
    said = live.delivered.points["events.out.tfevents.1.host"]
    assert [(tag, step) for tag, step, _ in said] == [
        ("other" if 600 <= step < 700 else "loss", step) for step in range(1300)
    ]


def test_a_duplicate_of_a_duplicate_leaves_no_empty_run(tmp_path: Path) -> None:
    """A log that says what another one says goes with it when that one is a duplicate itself."""
    session, follower = Session(), Follower([tmp_path], system=LOCAL)
    table = "step,loss\n" + "".join(f"{step},{step * 0.5 + 0.25}\n" for step in range(60))
    written = (
        ("table/run.csv", table),
        ("jsonl/run.jsonl", lines(range(60))),
        ("events/events.out.tfevents.1.h.1.0", event_bytes(range(60))),
    )
    now = 0.0
    for name, content in written:
        write(tmp_path / name, content)
        for _ in range(4):
            session.apply(follower.poll(now))
            now += 10.0
    assert list(session.runs) == ["events"]

"""Threads round a follower: order, errors, calls that never return, and the way out."""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.delivery import Delivery
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.fs_events import FileSystemEvents
from rltui.logs.follow.reader_thread import ReaderThread
from tests.support.logs.hung_calls import HungCall
from tests.support.logs.listener import LONG, Listener
from tests.support.logs.live_logs import LOCAL, append, event_bytes, lines, points, write


@pytest.fixture
def listener() -> Listener:
    """Where deliveries go."""
    return Listener()


@pytest.fixture
def feed_of(listener: Listener) -> Iterator[Callable[..., ReaderThread]]:
    """Makes feeds that are stopped in the end."""
    made: list[ReaderThread] = []

    def make(*logdirs: Path, **options: Any) -> ReaderThread:
        options = {"fs_events": False, "give_up": 0.3} | options
        feed = ReaderThread(Follower(logdirs, poll=0.1, system=LOCAL), listener, **options)
        made.append(feed)
        return feed

    yield make
    for feed in made:
        feed.stop()


def test_reads_and_follows(tmp_path: Path, listener: Listener, feed_of: Callable[..., ReaderThread]) -> None:
    """What is there and what is written later arrives in order, from a thread of the feed."""
    log = write(tmp_path / "metrics.jsonl", lines(range(100)))
    feed_of(tmp_path).start()
    assert listener.until(lambda delivered: len(delivered.points["metrics.jsonl"]) == 100)
    for step in range(100, 110):
        append(log, lines([step]))
    assert listener.until(lambda delivered: len(delivered.points["metrics.jsonl"]) == 110)
    assert listener.delivered.points["metrics.jsonl"] == points(range(110))
    assert threading.get_ident() not in listener.threads


def test_starting_touches_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener
) -> None:
    """Making a follower and starting a feed does not wait for the file system, not even for a dead LOGDIR."""
    hung = HungCall(monkeypatch, "stat")
    hung.paths.add(str(tmp_path))
    began = time.monotonic()
    feed = ReaderThread(Follower([tmp_path], system=LOCAL), listener, fs_events=False, give_up=0.3)
    feed.start()
    feed.stop()
    assert time.monotonic() - began < LONG / 2
    hung.let_go.set()


def test_call_that_never_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """A file whose `open` hangs is named, the other run goes on, and stopping does not wait for it."""
    bad = write(tmp_path / "bad/metrics.jsonl", lines(range(3)))
    good = write(tmp_path / "good/events.out.tfevents.1.host", event_bytes(range(3), scale=0.75))
    hung = HungCall(monkeypatch)
    hung.paths.add(str(bad))
    feed = feed_of(tmp_path)
    feed.start()
    assert listener.until(lambda delivered: "not-answering" in delivered.codes)
    assert [problem.path for problem in listener.delivered.problems.values()] == ["bad/metrics.jsonl"]
    append(good, event_bytes([3], scale=0.75, head=False))
    path = "good/events.out.tfevents.1.host"
    assert listener.until(lambda delivered: delivered.points[path] == points(range(4), scale=0.75))
    assert feed.hung == 1
    began = time.monotonic()
    feed.stop()
    assert time.monotonic() - began < LONG / 2
    hung.let_go.set()


def test_call_that_returns_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """When a hanging call comes back, the trouble is withdrawn and the file read, each point once."""
    bad = write(tmp_path / "bad/metrics.jsonl", lines(range(3)))
    hung = HungCall(monkeypatch)
    feed = feed_of(tmp_path)
    feed.start()
    assert listener.until(lambda delivered: len(delivered.points["bad/metrics.jsonl"]) == 3)
    hung.paths.add(str(bad))
    append(bad, lines([3]))
    assert listener.until(lambda delivered: "not-answering" in delivered.codes)
    append(bad, lines([4]))
    hung.paths.clear()
    hung.let_go.set()
    assert listener.until(lambda delivered: len(delivered.points["bad/metrics.jsonl"]) == 5)
    assert listener.until(lambda delivered: delivered.codes == [])
    assert listener.delivered.points["bad/metrics.jsonl"] == points(range(5))


def test_folder_that_never_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """A folder whose listing hangs is named and left out of the search; runs beside it are found."""
    write(tmp_path / "bad/metrics.jsonl", lines(range(3)))
    write(tmp_path / "good/metrics.jsonl", lines(range(3)))
    hung = HungCall(monkeypatch, "scandir")
    hung.paths.add(str(tmp_path / "bad"))
    feed = feed_of(tmp_path)
    feed.start()
    assert listener.until(lambda delivered: len(delivered.points["good/metrics.jsonl"]) == 3)
    assert listener.until(lambda delivered: "not-answering" in delivered.codes)
    write(tmp_path / "later/metrics.jsonl", lines(range(2)))
    assert listener.until(lambda delivered: len(delivered.points["later/metrics.jsonl"]) == 2)
    hung.paths.clear()
    hung.let_go.set()
    assert listener.until(lambda delivered: len(delivered.points["bad/metrics.jsonl"]) == 3)
    assert listener.until(lambda delivered: delivered.codes == [])


def test_link_to_a_dead_mount(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """A link whose target hangs is named once and costs one thread, however often the search comes by."""
    write(tmp_path / "good/metrics.jsonl", lines(range(3)))
    (tmp_path / "far").symlink_to("good")
    hung = HungCall(monkeypatch, "stat")
    hung.paths.add(str(tmp_path / "far"))
    feed = feed_of(tmp_path)
    feed.start()
    assert listener.until(lambda delivered: "not-answering" in delivered.codes)
    write(tmp_path / "later/metrics.jsonl", lines(range(2)))
    assert listener.until(lambda delivered: len(delivered.points["later/metrics.jsonl"]) == 2)
    assert feed.hung == 1
    hung.let_go.set()


def test_mount_that_dies_under_many_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """When everything below a LOGDIR hangs, the number of hanging threads stays small."""
    logs = [write(tmp_path / f"run{n}/metrics.jsonl", lines(range(3))) for n in range(12)]
    hung = HungCall(monkeypatch)
    hung.paths.update(map(str, logs))
    feed = feed_of(tmp_path, give_up=0.1)
    feed.start()
    assert listener.until(lambda delivered: delivered.codes.count("not-answering") >= 3)
    assert feed.hung <= 4
    hung.paths.clear()
    hung.let_go.set()
    assert listener.until(lambda delivered: sum(len(said) for said in delivered.points.values()) == 36)


def test_first_values_do_not_wait_for_the_look(
    tmp_path: Path, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """The first values are handed over while the look that found them goes on; nothing is lost by that."""
    for name in ("a", "b"):
        write(tmp_path / name / "metrics.jsonl", lines(range(3)))
    feed = feed_of(tmp_path)
    look, early = feed.follower.poll, threading.Event()

    def slow(now: float | None = None) -> Iterator[Delivery]:
        for delivery in look(now):
            yield delivery
            if len(delivery.batch) and listener.until(lambda delivered: bool(delivered.points)):
                early.set()

    feed.follower.poll = slow
    feed.start()
    assert early.wait(LONG / 2)
    both = {"a/metrics.jsonl": points(range(3)), "b/metrics.jsonl": points(range(3))}
    assert listener.until(lambda delivered: delivered.points == both)


def test_consumer_that_raises(
    tmp_path: Path, listener: Listener, feed_of: Callable[..., ReaderThread]
) -> None:
    """An error in the consumer does not end the following."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    listener.error = ZeroDivisionError("surprise")
    feed_of(tmp_path).start()
    assert listener.until(lambda delivered: len(delivered.points["metrics.jsonl"]) == 3)
    append(log, lines([3]))
    assert listener.until(lambda delivered: len(delivered.points["metrics.jsonl"]) == 4)


def test_nothing_after_stop(tmp_path: Path, listener: Listener, feed_of: Callable[..., ReaderThread]) -> None:
    """After `stop` returned nothing is delivered any more."""
    log = write(tmp_path / "metrics.jsonl", lines(range(3)))
    feed = feed_of(tmp_path)
    feed.start()
    assert listener.until(lambda delivered: len(delivered.points["metrics.jsonl"]) == 3)
    feed.stop()
    append(log, lines([3]))
    worker = feed._worker
    assert worker is not None
    worker.join(LONG)
    assert not worker.is_alive()
    assert listener.delivered.points["metrics.jsonl"] == points(range(3))


def test_events_rings_for_new_runs(tmp_path: Path) -> None:
    """The events rings when a run folder or a log is made, and not for a checkpoint or a hidden file."""
    rung = threading.Event()
    events = FileSystemEvents([str(tmp_path)], rung.set, lambda name: name.endswith(".jsonl"))
    events.start()
    assert rung.wait(LONG)  # once when the watch stands
    rung.clear()
    (tmp_path / "model.safetensors").touch()
    (tmp_path / ".metrics.jsonl").touch()
    (tmp_path / "metrics.jsonl").touch()
    assert rung.wait(LONG)
    events.stop()
    assert events.state == "on"


def test_events_without_watches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the limit of watches is reached the events says so and stays silent; nothing else happens."""
    from watchdog.observers.api import BaseObserver

    told = threading.Event()

    def refuse(*_: object, **__: object) -> None:
        told.set()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(BaseObserver, "schedule", refuse)
    events = FileSystemEvents([str(tmp_path)], lambda: None, lambda _: True)
    events._run()
    assert told.is_set()
    assert events.state == "the limit of watches is reached"


@pytest.mark.parametrize(
    ("names", "folder", "rings"),
    [
        (("run_7", ""), True, True),
        (("metrics.jsonl", ""), False, True),
        (("tmp123", "metrics.jsonl"), False, True),
        (("model.pt", ""), False, False),
        ((".git", ""), True, False),
    ],
)
def test_what_rings(names: tuple[str, str], folder: bool, rings: bool) -> None:
    """Folders and files named like logs ring, also as the target of a move; nothing else does."""
    from watchdog.events import DirCreatedEvent, FileMovedEvent

    rung: list[bool] = []
    events = FileSystemEvents([], lambda: rung.append(True), lambda name: name.endswith(".jsonl"))
    paths = [f"/logs/{name}" if name else "" for name in names]
    events.handle(DirCreatedEvent(paths[0]) if folder else FileMovedEvent(paths[0], paths[1]))
    assert bool(rung) is rings


@pytest.mark.parametrize("size", [3, 30_000])
def test_call_that_hangs_among_others(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    listener: Listener,
    feed_of: Callable[..., ReaderThread],
    size: int,
) -> None:
    """One event file that does not answer costs none of the others."""
    hung, content = HungCall(monkeypatch), event_bytes(range(size))
    for number in range(6):
        log = write(tmp_path / f"run{number}/events.out.tfevents.1.host{number}", content)
        os.utime(log, (1.7e9 + number, 1.7e9 + number))
    hung.paths.add(str(tmp_path / "run3/events.out.tfevents.1.host3"))
    feed_of(tmp_path).start()
    good = [f"run{number}/events.out.tfevents.1.host{number}" for number in (0, 1, 2, 4, 5)]
    assert listener.until(
        lambda delivered: all(len(delivered.points[path]) == size for path in good) and delivered.codes
    )
    assert listener.delivered.codes == ["not-answering"]
    hung.paths.clear()
    hung.let_go.set()
    path = "run3/events.out.tfevents.1.host3"
    assert listener.until(lambda delivered: len(delivered.points[path]) == size and delivered.codes == [])

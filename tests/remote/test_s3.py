"""Remote folders on a server of S3: what a look costs, and what happens when the server fails."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.follow.follower import Follower
from rltui.logs.remote.mirror import Limits, Mirror, Sync
from rltui.logs.remote.object_store import StoreError
from rltui.logs.remote.remote_folders import REMOTE
from tests.support.commands.in_process import rltui
from tests.support.logs.live_logs import Delivered, lines, points
from tests.support.remote.mirrors import files_of, mirror_of, own_cache
from tests.support.remote.s3_server import S3Server, s3_server

__all__ = ["own_cache"]

pytestmark = pytest.mark.usefixtures("own_cache")
RUN = "bucket/runs/a/metrics.jsonl"


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server that answers."""
    with s3_server(monkeypatch) as running:
        yield running


def put(server: S3Server, content: str, key: str = RUN) -> None:
    """Write an object."""
    server.add([key], content.encode())


def test_many_runs_cost_one_request_a_look(server: S3Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two listings, here of 50 names, tell of 55 logs; nothing else is asked while nothing changes."""
    monkeypatch.setenv("MOTO_S3_DEFAULT_MAX_KEYS", "50")
    monkeypatch.setattr("rltui.logs.remote.object_store.PAGE", 50)
    names = [f"bucket/runs/{number:04}/metrics.jsonl" for number in range(55)]
    server.add(names, b"")
    mirror = mirror_of("s3://bucket/runs")
    for changed in (True, False):
        server.asked.clear()
        assert mirror.sync() == Sync(changed=changed, requests=2)
        assert server.asked == ["LIST", "LIST"]
    assert len(files_of(mirror)) == 55
    server.add(names[:10], lines(range(4)).encode())
    server.asked.clear()
    assert mirror.sync() == Sync(changed=True, requests=2 + 10)
    assert server.asked.count("GET") == 10
    assert files_of(mirror)["0000/metrics.jsonl"] == lines(range(4)).encode()


def test_a_growing_run_is_followed(server: S3Server) -> None:
    """Points of each look come in their order, once; a copy is read as any log that grows."""
    mirror = mirror_of("s3://bucket/runs")
    follower, found = Follower(["s3://bucket/runs"]), Delivered()
    follower.search.remote = ()
    for now, count in enumerate((0, 5, 6, 700, 701, 1500)):
        if count:
            put(server, lines(range(count)))
        mirror.sync()
        follower.search._walk = None
        follower.search.due = float("-inf")
        for step in range(3):
            found.take(follower.poll(now * 100.0 + step * 10))
        assert found.points["a/metrics.jsonl"] == points(range(count))


@pytest.mark.parametrize(
    ("mode", "words"),
    [
        ("busy", "is busy or out of order"),
        ("silent", "has not answered for"),
        ("refused", "cannot be reached"),
    ],
)
def test_a_failing_server_is_one_line_and_is_over_when_it_is_well(
    server: S3Server, mode: Any, words: str
) -> None:
    """What was read stays; the next look at a server that is well again brings what came meanwhile."""
    put(server, lines(range(50)))
    mirror = Mirror("s3://bucket/runs", Limits(100_000, 10**9, 20.0))
    mirror.sync()
    put(server, lines(range(60)))
    if mode == "refused":
        server.stop()
    else:
        server.mode = mode
    mirror.store.timeout = 0.3 if mode == "silent" else 20.0
    with pytest.raises(StoreError) as raised:
        mirror.sync()
    assert words in str(raised.value)
    (problem,) = mirror.problems()
    assert (problem.path, problem.message) == ("s3://bucket/runs", str(raised.value))
    assert "\n" not in problem.message
    assert files_of(mirror)["a/metrics.jsonl"] == lines(range(50)).encode()
    server.released.set()
    server.mode = "well"
    mirror.store.timeout = 20.0
    if mode == "refused":
        server.start()
    mirror.sync()
    assert not mirror.problems()
    assert files_of(mirror)["a/metrics.jsonl"] == lines(range(60)).encode()


def test_answers_that_are_cut_change_nothing(server: S3Server) -> None:
    """Half of an answer is none: the copy stays as it was until a whole one comes."""
    put(server, lines(range(50)))
    mirror = mirror_of("s3://bucket/runs")
    mirror.sync()
    put(server, lines(range(900)))
    server.mode = "cut"
    with pytest.raises(StoreError, match="1 objects wait for it"):
        mirror.sync()
    assert files_of(mirror)["a/metrics.jsonl"] == lines(range(50)).encode()
    server.mode = "well"
    mirror.sync()
    assert files_of(mirror)["a/metrics.jsonl"] == lines(range(900)).encode()


def test_an_object_that_vanishes_between_listing_and_reading(
    server: S3Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no error: the next look does not see it any more. The others are read."""
    put(server, lines(range(5)))
    put(server, lines(range(5)), "bucket/runs/b/metrics.jsonl")
    mirror = mirror_of("s3://bucket/runs")
    listed = mirror.store.objects()
    monkeypatch.setattr(mirror.store, "objects", lambda: listed)
    server.remove(RUN)
    mirror.sync()
    assert list(files_of(mirror)) == ["b/metrics.jsonl"]
    monkeypatch.undo()


def test_a_name_that_is_a_file_and_a_folder(server: S3Server) -> None:
    """A store may have both; the one that no local folder can hold is named, the others are read."""
    put(server, "x", "bucket/runs/c/metrics.jsonl")
    put(server, "x", "bucket/runs/metrics.jsonl")
    mirror = mirror_of("s3://bucket/runs")
    mirror.sync()
    put(server, "y", "bucket/runs/metrics.jsonl/more.jsonl")
    put(server, "xy", "bucket/runs/c/metrics.jsonl")
    mirror.sync()
    (problem,) = mirror.problems()
    assert problem.path == "metrics.jsonl/more.jsonl"
    assert files_of(mirror) == {"c/metrics.jsonl": b"xy", "metrics.jsonl": b"x"}


def test_a_missing_bucket_is_a_missing_folder(server: S3Server) -> None:
    """As for a local folder: exit code 2 and one line."""
    for url in ("s3://nowhere/runs", "s3://bucket/nothing"):
        done = rltui("check", url)
        assert (done.code, done.out) == (2, "")
        assert f"{url}: no such file or folder" in done.err
        assert done.err.count("\n") == 1


def test_a_command_says_why_a_store_cannot_be_read(server: S3Server) -> None:
    """Exit code 2, one line, and the same as JSON; no credential is in it."""
    put(server, lines(range(50)))
    assert rltui("check", "s3://bucket/runs").code == 0
    REMOTE.forget()
    server.mode = "busy"
    done = rltui("check", "--json", "s3://bucket/runs")
    assert done.code == 2
    assert done.err.count("\n") == 1
    assert "s3://bucket/runs: is busy or out of order" in done.err
    (diagnostic,) = done.json()["diagnostics"]
    assert (diagnostic["code"], diagnostic["path"]) == ("remote-unreadable", "s3://bucket/runs")
    assert "secret-of-the-user" not in done.out + done.err


def test_no_credential_is_kept(server: S3Server, own_cache: Path) -> None:
    """What the packages of the store use stays with them."""
    put(server, lines(range(50)))
    done = rltui("doctor", "--json", "s3://bucket/runs")
    kept = [path.read_bytes() for path in own_cache.rglob("*") if path.is_file()]
    assert b"secret-of-the-user" not in b"".join(kept) + done.out.encode() + done.err.encode()
    assert json.loads(done.out)["remote"][0]["requests_of_listing"] == 1


def test_a_silent_store_does_not_hold_a_look_at_the_screen(server: S3Server) -> None:
    """The reader of the monitor looks on while the first listing hangs, and says that it does not come."""
    put(server, lines(range(50)))
    server.mode = "silent"
    mirror = REMOTE.of("s3://bucket/runs").mirror
    mirror.store.timeout = 1.0
    follower, found = Follower(["s3://bucket/runs"]), Delivered()
    looks, began = 0, time.monotonic()
    while not found.problems and time.monotonic() - began < 20:
        found.take(follower.poll())
        looks += 1
    assert [one.code for one in found.problems.values()] == ["remote-unreadable"]
    assert follower.search.waiting == ()
    assert looks > 10

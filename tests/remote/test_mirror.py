"""The mirror of a remote folder: what is fetched, what is recognised, what it may take. All in memory."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rltui.logs.local_file import FETCHED_ENDS, LocalFile
from rltui.logs.remote import mirror as mirrors
from rltui.logs.remote import object_store, transfer
from rltui.logs.remote.mirror import Mirror, Sync
from rltui.logs.remote.object_store import ObjectStore, StoreError, without_password
from rltui.logs.remote.remote_folders import RemoteFolder
from tests.support.logs.live_logs import Delivered, event_bytes, lines, points, write
from tests.support.remote.mirrors import LIMITS, delivered, files_of, fsspec, memory, mirror_of, own_cache

__all__ = ["memory", "own_cache"]

pytestmark = pytest.mark.usefixtures("own_cache")

EVENTS = event_bytes(range(400))
JSONL = lines(range(3000)).encode()


def put(memory: Any, key: str, content: bytes | str) -> None:
    """Write an object as stores do: as a whole."""
    memory.pipe_file(f"/runs/{key}", content.encode() if isinstance(content, str) else content)


@settings(max_examples=20)
@given(cuts=st.lists(st.integers(0, 10_000), min_size=1, max_size=4))
def test_any_cut_at_any_look_gives_the_same_points(cuts: list[int]) -> None:
    """However an object was cut when it was looked at, the points are those of the whole log."""
    memory = fsspec.filesystem("memory")
    memory.store.clear()
    mirror = mirror_of("memory://runs")
    rewards = lines(range(3000), "reward", 0.125).encode()
    for content, name in ((EVENTS, "a/events.out.tfevents.1.h.1.0"), (rewards, "b/metrics.jsonl")):
        for cut in [*sorted(cuts), 10_000]:
            data = content[: len(content) * cut // 10_000]
            put(memory, name, data)
            mirror.sync()
            assert files_of(mirror)[name] == data
    found = delivered(mirror)
    assert found.points["a/events.out.tfevents.1.h.1.0"] == points(range(400))
    assert found.points["b/metrics.jsonl"] == points(range(3000), "reward", 0.125)
    memory.store.clear()


def test_only_what_is_new_is_asked_for(memory: Any) -> None:
    """One request lists all; nothing new costs no other; a log that grew costs two, a small one one."""
    for number in range(30):
        put(memory, f"{number}/metrics.jsonl", lines(range(5)))
    put(memory, "large/metrics.jsonl", JSONL)
    mirror = mirror_of("memory://runs")
    assert mirror.sync() == Sync(changed=True, requests=1 + 31)
    assert mirror.sync() == Sync(changed=False, requests=1)
    put(memory, "large/metrics.jsonl", JSONL + b'{"step": 3000, "loss": 1}\n')
    put(memory, "3/metrics.jsonl", lines(range(6)))
    asked: list[tuple[str, int, int]] = []
    read = mirror.store.read
    mirror.store.read = lambda ranges: (asked.extend(ranges), read(ranges))[1]
    assert mirror.sync() == Sync(changed=True, requests=1 + 2 + 1)
    assert sum(end - begin for _, begin, end in asked) < 10_000 < len(JSONL)
    assert files_of(mirror)["large/metrics.jsonl"].endswith(b'{"step": 3000, "loss": 1}\n')


@pytest.mark.parametrize("size", [200, 3000])
@pytest.mark.parametrize("changed", ["first bytes", "bytes before the end", "shorter", "empty"])
def test_another_object_under_the_same_name_is_read_anew(memory: Any, size: int, changed: str) -> None:
    """Replaced by a longer one or by a shorter one: the copy is what the store has, never a mixture."""
    before = lines(range(size)).encode()
    after = {
        "first bytes": lines(range(9, size + 50)).encode(),
        "bytes before the end": before[:-30] + lines(range(size + 90, size + 200)).encode(),
        "shorter": before[: len(before) // 3],
        "empty": b"",
    }[changed]
    put(memory, "metrics.jsonl", before)
    mirror = mirror_of("memory://runs")
    mirror.sync()
    put(memory, "metrics.jsonl", after)
    mirror.sync()
    assert files_of(mirror) == {"metrics.jsonl": after}
    assert not mirror.problems()


def test_a_rewritten_document_is_never_joined(memory: Any) -> None:
    """A file that is not one that only grows takes the place of its copy as a whole."""
    document = b'{"log_history": [' + b" " * 90_000
    put(memory, "trainer_state.json", document + b'{"step": 1, "loss": 2}]}')
    mirror = mirror_of("memory://runs")
    mirror.sync()
    longer = document[:50_000] + b'{"step": 0, "loss": 1},' + document[50_000:] + b'{"step": 1, "loss": 2}]}'
    put(memory, "trainer_state.json", longer)
    mirror.sync()
    assert files_of(mirror) == {"trainer_state.json": longer}


def test_a_vanished_object_takes_its_copy_with_it(memory: Any) -> None:
    """What is not in the store is not read; folders that are empty then go, too."""
    put(memory, "a/b/metrics.jsonl", "x")
    put(memory, "c/metrics.jsonl", "y")
    mirror = mirror_of("memory://runs")
    mirror.sync()
    memory.rm("/runs/a", recursive=True)
    assert mirror.sync().changed
    assert files_of(mirror) == {"c/metrics.jsonl": b"y"}
    assert not Path(mirror.place, "a").exists()


def test_only_what_may_be_read_is_fetched(memory: Any) -> None:
    """Weights, checkpoints, hidden and odd names stay where they are; settings and dumps' names come."""
    read = ("metrics.jsonl", "config.yaml", "wandb/run/files/wandb-metadata.json", "rltui.toml")
    left = ("checkpoint-5/trainer_state.json", "model.safetensors", ".hidden/metrics.jsonl", "plot.png")
    for key in (*read, *left):
        put(memory, key, "x")
    put(memory, "debug/rollout_data/0.pt", "a pickle")
    put(memory, "notes.xyz", b"x" * (mirrors.SMALL + 1))
    mirror = mirror_of("memory://runs")
    mirror.sync()
    assert files_of(mirror) == {**dict.fromkeys(read, b"x"), "debug/rollout_data/0.pt": b""}


def test_one_object_may_be_the_folder(memory: Any) -> None:
    """A URL may name one log."""
    put(memory, "a/metrics.jsonl", lines(range(4)))
    put(memory, "a/other.jsonl", lines(range(4)))
    mirror = mirror_of("memory://runs/a/metrics.jsonl")
    mirror.sync()
    assert Path(mirror.place).read_bytes() == lines(range(4)).encode()
    assert delivered(mirror).points == {"metrics.jsonl": points(range(4))}


def test_the_newest_values_of_a_large_log_come_first(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a large log is fetched its end can be read, and what lies between reads as not there yet."""
    for name, value in (("PIECE", 20_000), ("NEWEST", 5_000), ("BATCH", 20_000), ("WHOLE", 1_000)):
        monkeypatch.setattr(transfer, name, value)
    put(memory, "metrics.jsonl", JSONL)
    mirror = mirror_of("memory://runs")
    seen: list[tuple[int, bytes, bytes]] = []

    def look(fetched: int, total: int) -> None:
        with LocalFile(f"{mirror.place}/metrics.jsonl", "metrics.jsonl") as file:
            size = file.size()
            seen.append((size, file.read_at(size - 40, 40), file.read_at(len(JSONL) - 5_100, 90)))

    mirror.sync(look)
    assert seen[0] == (len(JSONL), JSONL[-40:], b"")
    assert seen[-1] == (len(JSONL), JSONL[-40:], JSONL[-5_100:][:90])
    assert not FETCHED_ENDS
    assert files_of(mirror) == {"metrics.jsonl": JSONL}


def test_memory_does_not_grow_with_the_objects(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """No request asks for more than a piece, and no batch for more than what may be held."""
    monkeypatch.setattr(transfer, "PIECE", 10_000)
    monkeypatch.setattr(transfer, "NEWEST", 5_000)
    monkeypatch.setattr(transfer, "BATCH", 30_000)
    for name in "abcdef":
        put(memory, f"{name}/metrics.jsonl", JSONL)
    mirror = mirror_of("memory://runs")
    batches: list[list[int]] = []
    read = mirror.store.read

    def counted(ranges: Any) -> Any:
        batches.append([end - begin for _, begin, end in ranges])
        return read(ranges)

    mirror.store.read = counted
    mirror.sync()
    assert max(map(max, batches)) <= 10_000
    assert max(map(sum, batches)) <= 30_000
    assert set(files_of(mirror).values()) == {JSONL}


def test_the_limit_of_requests_holds_and_goes_on_with_time(memory: Any) -> None:
    """At the limit the newest are there, one line says that others wait, and these come with time."""
    for number in range(30):
        put(memory, f"{number:02}/metrics.jsonl", lines(range(3)))
    clock = [1e9]
    limits = LIMITS._replace(requests_per_hour=20)
    mirror = mirror_of("memory://runs", limits, lambda: clock[0])
    last = mirror.sync()
    assert last.requests <= 20
    assert last.left == 30 - len(files_of(mirror)) > 0
    (problem,) = mirror.problems()
    assert "the limit of 20 requests an hour is reached" in problem.message
    again = mirror_of("memory://runs", limits, lambda: clock[0])  # another process has no other limit
    assert again.sync().requests == 0
    for _ in range(4):
        clock[0] += 1800
        last = mirror.sync()
    assert last.left == 0
    assert len(files_of(mirror)) == 30
    assert not mirror.problems()


def test_the_room_on_disk_is_bounded(memory: Any, own_cache: Path) -> None:
    """Mirrors that were not used for longest make room; what does not fit is left out, and said."""
    put(memory, "metrics.jsonl", b"x" * 600_000)
    memory.pipe_file("/other/metrics.jsonl", b"y" * 600_000)
    small = LIMITS._replace(disk=1_000_000)
    first = mirror_of("memory://runs", small)
    first.sync()
    second = mirror_of("memory://other", small)
    second.sync()
    assert not first.folder.exists()
    memory.pipe_file("/other/new.jsonl", b"z" * 700_000)
    second.sync()
    assert list(files_of(second)) == ["new.jsonl"]
    (problem,) = second.problems()
    assert "1 of 2 objects (600 kB, the oldest) are not read: mirrors may take 1.0 MB" in problem.message


def test_processes_share_a_mirror(memory: Any) -> None:
    """What one process fetched the next one has; a file that was deleted or cut meanwhile comes again."""
    put(memory, "a/metrics.jsonl", JSONL)
    put(memory, "b/metrics.jsonl", JSONL)
    mirror_of("memory://runs").sync()
    assert mirror_of("memory://runs").sync().requests == 1
    place = Path(mirror_of("memory://runs").place)
    (place / "a/metrics.jsonl").unlink()
    (place / "b/metrics.jsonl").write_bytes(JSONL[:100])
    mirror = mirror_of("memory://runs")
    mirror.sync()
    assert set(files_of(mirror).values()) == {JSONL}


@pytest.mark.parametrize("damage", [b"", b"{", b'{"schema": 99}', b'{"schema": 1, "objects": []}'])
def test_a_damaged_manifest_counts_as_none(memory: Any, damage: bytes) -> None:
    """Everything is fetched again, and nothing of another content stays behind the end."""
    put(memory, "metrics.jsonl", JSONL)
    mirror = mirror_of("memory://runs")
    mirror.sync()
    (mirror.folder / "manifest.json").write_bytes(damage)
    put(memory, "metrics.jsonl", lines(range(7)))
    again = mirror_of("memory://runs")
    again.sync()
    assert files_of(again) == {"metrics.jsonl": lines(range(7)).encode()}


def test_nothing_is_written_into_the_store(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Reading opens nothing for writing, makes nothing and removes nothing."""
    put(memory, "metrics.jsonl", JSONL)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("writes")

    for name in (
        "pipe_file",
        "pipe",
        "rm",
        "_rm",
        "rm_file",
        "mkdir",
        "makedirs",
        "touch",
        "cp_file",
        "put_file",
    ):
        monkeypatch.setattr(type(memory), name, refuse)
    mirror = mirror_of("memory://runs")
    mirror.sync()
    mirror.sync()
    assert files_of(mirror) == {"metrics.jsonl": JSONL}


# ---- errors


class SilentStore(fsspec.AbstractFileSystem):
    """A store that never answers."""

    protocol = "silent"
    released = threading.Event()

    def find(self, path: str, **_: object) -> dict[str, dict[str, object]]:
        """Nothing, at some time."""
        self.released.wait(60)
        return {}


def test_a_store_that_never_answers_costs_the_time_limit(own_cache: Path) -> None:
    """The call is left behind, one line says so; after some of them no other is begun."""
    fsspec.register_implementation("silent", SilentStore, clobber=True)
    store = ObjectStore("silent://runs", timeout=0.05)
    for _ in range(object_store.MAX_HUNG):
        with pytest.raises(StoreError, match=r"has not answered for 0.05 s; look at the network"):
            store.objects()
    threads = threading.active_count()
    with pytest.raises(StoreError, match="4 requests have not been answered"):
        store.objects()
    assert threading.active_count() == threads
    SilentStore.released.set()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (PermissionError("Access Denied"), "refuses access (Access Denied); look at the credentials"),
        (RuntimeError("Unable to locate credentials"), "refuses access (Unable to locate credentials)"),
        (OSError(16, "Please reduce your request rate: SlowDown"), "is busy or out of order"),
        (ConnectionRefusedError(111, "refused"), "cannot be reached"),
        (RuntimeError('Could not connect to the endpoint URL: "http://x"'), "cannot be reached"),
        (FileNotFoundError("The specified bucket does not exist"), "is not there"),
        (ValueError("first line\nsecond line \x1b[31m"), "cannot be read (first line)"),
        (KeyError(), "cannot be read (KeyError)"),
    ],
)
def test_errors_are_one_line_with_what_to_do(
    memory: Any, monkeypatch: pytest.MonkeyPatch, error: Exception, words: str
) -> None:
    """Whatever a store's package raises becomes one clean line."""

    def fails(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(type(memory), "find", fails)
    with pytest.raises(StoreError) as raised:
        ObjectStore("memory://runs", 20.0).objects()
    assert words in str(raised.value)
    assert "\n" not in str(raised.value)
    assert "\x1b" not in str(raised.value)


def test_a_connection_that_breaks_is_no_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A store that is walked folder by folder fails as a whole, its copies stay, and it is opened anew."""
    write(tmp_path / "runs/a/metrics.jsonl", "x")
    mirror = mirror_of(f"file://{tmp_path}/runs")
    mirror.sync()
    opened = mirror.store._system

    def broken(*_: object, **__: object) -> None:
        raise OSError("Socket is closed")

    with monkeypatch.context() as patch:
        patch.setattr(fsspec.get_filesystem_class("file"), "ls", broken)
        with pytest.raises(StoreError, match="Socket is closed"):
            mirror.sync()
    assert files_of(mirror) == {"a/metrics.jsonl": b"x"}
    mirror.sync()
    assert mirror.store._system is not opened


def test_one_object_of_a_store_that_is_walked(tmp_path: Path) -> None:
    """Its listing of one object says nothing of it: it is asked for."""
    place = write(tmp_path / "metrics.jsonl", lines(range(9)))
    mirror = mirror_of(f"file://{place}")
    mirror.sync()
    assert Path(mirror.place).read_bytes() == place.read_bytes()


def test_a_missing_package_is_said_with_its_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fsspec comes with an extra; the packages of the stores are the user's."""
    with pytest.raises(StoreError, match="fsspec knows no store named nonsense"):
        ObjectStore("nonsense://runs", 20.0).objects()
    monkeypatch.setitem(__import__("sys").modules, "gcsfs", None)
    with pytest.raises(StoreError, match="needs gcsfs: pip install gcsfs"):
        ObjectStore("gs://bucket/runs", 20.0).objects()
    monkeypatch.setattr(object_store.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(
        StoreError, match=r"needs fsspec, which is not installed: pip install 'rltui\[remote\]'"
    ):
        ObjectStore("memory://runs", 20.0).objects()


def test_a_password_is_not_kept_and_not_shown(memory: Any, own_cache: Path) -> None:
    """It is in no name, no problem and no file."""
    assert without_password("sftp://me:pw@host:22/runs") == "sftp://me@host:22/runs"
    assert without_password("sftp://me@host/a:b@c") == "sftp://me@host/a:b@c"
    assert without_password("s3://bucket/a:b") == "s3://bucket/a:b"
    memory.pipe_file("/me:hunter2@runs/metrics.jsonl", b"x")
    mirror = mirror_of("memory://me:hunter2@runs")
    mirror.sync()
    assert files_of(mirror) == {"metrics.jsonl": b"x"}
    assert mirror.url == "memory://me@runs"
    kept = [str(path) for path in own_cache.rglob("*")] + [(mirror.folder / "manifest.json").read_text()]
    assert "hunter2" not in "".join(kept)


def test_what_is_fetched_is_private(memory: Any, own_cache: Path) -> None:
    """Nobody else can read the mirrors."""
    put(memory, "a/metrics.jsonl", "x")
    mirror_of("memory://runs").sync()
    assert all(path.stat().st_mode & 0o077 == 0 for path in own_cache.rglob("*"))


# ---- how often


def test_looks_become_rarer_when_nothing_changes() -> None:
    """30 s, then ever longer up to 5 minutes; at once 30 s again; after an error at most a minute."""
    folder = RemoteFolder(Mirror("memory://runs", LIMITS), 30.0)
    waits = []
    for _ in range(8):
        folder.interval = folder.next_interval(Sync(changed=False, requests=1))
        waits.append(folder.interval)
    assert waits == sorted(waits)
    assert waits[0] == 45.0
    assert waits[-1] == 300.0
    assert folder.next_interval(Sync(changed=True, requests=3)) == 30.0
    assert folder.next_interval(None) == 60.0


def test_looks_that_cost_much_are_rare_enough_for_the_limit() -> None:
    """1,000 logs that grow take 2,001 requests a look: no more looks an hour than the limit allows."""
    folder = RemoteFolder(Mirror("memory://runs", LIMITS._replace(requests_per_hour=10_000)), 30.0)
    wait = folder.next_interval(Sync(changed=True, requests=2001))
    assert 3600 / wait * 2001 == pytest.approx(10_000)


def test_what_a_log_says_survives_its_replacement(memory: Any) -> None:
    """A follower that read the copy says that the log begins anew, as for any local log."""
    from rltui.logs.follow.follower import Follower
    from tests.support.logs.live_logs import LOCAL

    put(memory, "metrics.jsonl", lines(range(100)))
    mirror = mirror_of("memory://runs")
    mirror.sync()
    follower, found = Follower([mirror.place], system=LOCAL), Delivered()
    now = 0.0
    while not follower.caught_up or now < 3:
        found.take(follower.poll(now))
        now += 1.0
    put(memory, "metrics.jsonl", lines(range(500, 700)))
    mirror.sync()
    for _ in range(5):
        found.take(follower.poll(now))
        now += 20.0
    assert "restarted" in found.kinds["metrics.jsonl"]
    assert found.points["metrics.jsonl"][-200:] == points(range(500, 700))

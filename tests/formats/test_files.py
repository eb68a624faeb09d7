"""Files of this machine as formats see them."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rltui.logs import local_file
from rltui.logs.file_calls import Calls, GivenUpError
from rltui.logs.formats.interface import HEAD
from rltui.logs.local_file import MARKER, LocalFile, marker
from tests.support.logs.open_files import open_below


def test_reads_at_any_offset(tmp_path: Path) -> None:
    """Bytes come from where they were asked for, fewer only at the end, none behind it."""
    path = tmp_path / "log"
    path.write_bytes(bytes(range(100)))
    with LocalFile(str(path), "log") as file:
        assert file.size() == 100
        assert file.read_at(10, 5) == bytes(range(10, 15))
        assert file.read_at(95, 50) == bytes(range(95, 100))
        assert file.read_at(100, 50) == b""
        assert file.read_at(5000, 50) == b""
    assert file.path == "log"


def test_no_descriptor_outlives_its_visit(tmp_path: Path) -> None:
    """Nothing stays open after a visit, a single call, an error, or what is no regular file."""
    path = tmp_path / "log"
    path.write_bytes(b"abc")
    os.mkfifo(tmp_path / "fifo")
    file = LocalFile(str(path), "log")
    assert file.size() == 3
    assert file.read_at(1, 2) == b"bc"
    with pytest.raises(ZeroDivisionError), file:
        raise ZeroDivisionError
    for place in (tmp_path / "fifo", tmp_path, tmp_path / "nothing"):
        with pytest.raises(OSError), LocalFile(str(place), "x"):
            pass
    assert open_below(tmp_path) == 0


@pytest.mark.parametrize("place", ["/dev/zero", "/dev/full"])
def test_devices_are_refused(place: str) -> None:
    """A device is never read, whatever a link's name says."""
    with pytest.raises(OSError) as caught, LocalFile(place, "metrics.jsonl"):
        pass
    assert caught.value.errno == errno.ENOTSUP


def test_fifo_does_not_block(tmp_path: Path) -> None:
    """Opening a FIFO without a writer returns at once with an error."""
    os.mkfifo(tmp_path / "metrics.jsonl")
    with pytest.raises(OSError) as caught, LocalFile(str(tmp_path / "metrics.jsonl"), "x"):
        pass
    assert caught.value.errno == errno.ENOTSUP


def test_short_reads_are_continued(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system that gives fewer bytes than asked is asked again until the end."""
    path = tmp_path / "log"
    path.write_bytes(bytes(range(256)) * 4)
    real = os.pread
    monkeypatch.setattr(local_file.os, "pread", lambda fd, length, offset: real(fd, min(length, 7), offset))
    with LocalFile(str(path), "log") as file:
        assert file.read_at(3, 1000) == (bytes(range(256)) * 4)[3:1003]


def test_large_request_is_split(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A format may ask for far more than there is: no buffer of that size is made."""
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    late = b"y" * (5 << 20)
    asked: list[int] = []
    real = os.pread

    def pread(descriptor: int, length: int, offset: int) -> bytes:
        asked.append(length)
        return real(descriptor, length, offset)

    monkeypatch.setattr(local_file.os, "pread", pread)
    with LocalFile(str(path), "log") as file:
        assert file.read_at(0, 1 << 40) == b"x" * 100
        assert max(asked) < 1000
        with path.open("ab") as writer:
            writer.write(late)
        assert file.read_at(0, 1 << 40) == b"x" * 100 + late
    assert max(asked) == local_file.PIECE


def test_size_is_at_least_what_was_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where attributes lag, the size is what reading has shown."""
    path = tmp_path / "log"
    path.write_bytes(b"x" * 100)
    real = os.fstat

    def fstat(descriptor: int) -> os.stat_result:
        status = list(real(descriptor))
        status[6] = 40
        return os.stat_result(status)

    monkeypatch.setattr(local_file.os, "fstat", fstat)
    with LocalFile(str(path), "log") as file:
        assert file.size() == 40
        file.read_at(0, 70)
        assert file.size() == 70


def test_identity_and_marker(tmp_path: Path) -> None:
    """A file is known by its first bytes and by those before the offset."""
    path = tmp_path / "log"
    data = bytes(n % 251 for n in range(10_000))
    path.write_bytes(data)
    with LocalFile(str(path), "log") as file:
        assert file.read_at(0, HEAD) == data[:HEAD]
        assert file.read_at(0, 10) == data[:10]
        assert marker(file, 5000) == data[5000 - MARKER : 5000]
        assert marker(file, 3) == data[:3]
        assert marker(file, 0) == b""


def test_calls_tell_what_is_under_way() -> None:
    """A supervisor sees the path of a call and since when it runs, and nothing between calls."""
    calls = Calls(clock=lambda: 7.0)
    seen: list[tuple[str | None, float]] = []
    assert calls.run("a/b", lambda: seen.append((calls.path, calls.since))) is None
    assert seen == [("a/b", 7.0)]
    assert calls.path is None
    with pytest.raises(PermissionError):
        calls.run("a/b", _refuse)
    assert calls.path is None


def _refuse() -> None:
    raise PermissionError


def test_call_that_was_given_up(tmp_path: Path) -> None:
    """A call that comes back too late ends its worker's visit, and leaves no descriptor behind."""
    path = tmp_path / "log"
    path.write_bytes(b"x")
    calls = Calls()
    calls.given_up = True
    with pytest.raises(GivenUpError), LocalFile(str(path), "log", calls):
        pass
    with pytest.raises(GivenUpError):
        calls.run(str(tmp_path), os.scandir, str(tmp_path))
    assert open_below(tmp_path) == 0


def test_a_stream_reads_by_the_calls_of_its_file(tmp_path: Path) -> None:
    """What a library reads of it is given up like any other call that does not return."""
    path = tmp_path / "tables.zip"
    path.write_bytes(bytes(range(100)) * 1000)
    calls = Calls()
    with LocalFile(str(path), "tables.zip", calls) as file, file.stream() as stream:
        assert (stream.seek(-10, os.SEEK_END), stream.read()) == (99_990, bytes(range(90, 100)))
        assert (stream.seek(5), stream.read(3), stream.tell()) == (5, bytes([5, 6, 7]), 8)
        calls.given_up = True
        with pytest.raises(GivenUpError):
            stream.read()

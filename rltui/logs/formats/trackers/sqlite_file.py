"""Reading an SQLite database so that nothing is created or changed beside it.

`mode=ro` on a closed WAL database creates `-wal` and `-shm` files and leaves them there; `immutable=1`
creates nothing but does not see what a live `-wal` holds. So a database without a `-wal` is opened as
immutable, and read again when its header changed meanwhile; of one with a `-wal`, both files are copied into
a private folder, where the copy is opened. While a rollback journal is there, the database is not read.
https://www.sqlite.org/uri.html#uriimmutable, https://www.sqlite.org/fileformat2.html#the_database_header
"""

from __future__ import annotations

import errno
import os
import shutil
import sqlite3
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar
from urllib.parse import quote

T = TypeVar("T")

COPY_CAP = 2 << 30  # bytes of database and WAL that are copied at most
_TRIES = 3
_REST = 20.0  # times as long as copying took, a copy is used before the next one is made
_KEPT = 4  # copies that are kept for the next part of the same database
_MAGIC = b"SQLite format 3\0"
_HOT_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


def stamp_of(place: str) -> tuple[int, ...]:
    """Sizes, times and inodes of a database, its WAL and its journal. Raises OSError without a database."""
    status = os.stat(place)  # noqa: PTH116 - a string is what is kept
    found = [status.st_size, status.st_mtime_ns, status.st_ino]
    for ending in ("-wal", "-journal"):
        try:
            status = os.stat(place + ending)  # noqa: PTH116
        except OSError:
            found += [-1, -1, -1]
        else:
            found += [status.st_size, status.st_mtime_ns, status.st_ino]
    return tuple(found)


def readable_stamp(place: str) -> tuple[int, ...]:
    """The same as far as it can be read now: that of the copy, while no newer one is made. Raises OSError."""
    return _COPIES.resting_stamp(place) or stamp_of(place)


def modified_of(place: str) -> float:
    """When the database or its WAL was written last, seconds since 1970. Raises OSError."""
    stamp = stamp_of(place)
    return max(stamp[1], stamp[4]) / 1e9


def is_database(place: str) -> bool:
    """Whether a file begins like an SQLite database. Raises OSError."""
    return _head(place)[:16] == _MAGIC


def read_database(place: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """What `work` makes of the database; None when a writer is at work and it cannot be read now.

    Raises OSError, also for what is no database, is damaged, or is too large to be copied.
    """
    try:
        for _ in range(_TRIES):
            if _is_journal_hot(place):
                return None
            if _size(place + "-wal") > 0:
                copy = _COPIES.of(place)
                if copy is None:
                    continue
                return _with(f"file:{quote(str(copy))}", work)
            before = _head(place), _size(place)
            failure: sqlite3.Error | None = None
            result: T | None = None
            try:
                result = _with(f"file:{quote(place)}?mode=ro&immutable=1", work)
            except sqlite3.Error as error:  # perhaps because it was written meanwhile
                failure = error
            still = (_head(place), _size(place)) == before
            if still and _size(place + "-wal") <= 0 and not _is_journal_hot(place):
                if failure is not None:
                    raise failure
                return result
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"SQLite says: {error}", place) from error
    return None


def _with(uri: str, work: Callable[[sqlite3.Connection], T]) -> T:
    connection = sqlite3.connect(uri, uri=True)
    try:
        return work(connection)
    finally:
        connection.close()


def _head(place: str) -> bytes:
    """The header: bytes 24..27 are the change counter."""
    with open(place, "rb") as file:  # noqa: PTH123
        return file.read(100)


def _size(place: str) -> int:
    try:
        return os.stat(place).st_size  # noqa: PTH116
    except OSError:
        return -1


def _is_journal_hot(place: str) -> bool:
    """Whether a transaction is under way, or was when its writer died. A journal kept for later is not."""
    try:
        with open(place + "-journal", "rb") as file:  # noqa: PTH123
            return file.read(8) == _HOT_JOURNAL
    except OSError:
        return False


@dataclass(slots=True)
class _Copy:
    stamp: tuple[int, ...]
    folder: tempfile.TemporaryDirectory[str]
    path: Path
    until: float  # monotonic time at which a newer copy may be made


class _Copies:
    """Private copies of live databases, the newest of each; all parts of one database share a copy.

    A database that takes long to copy is copied seldom: a twentieth of the time at most goes into it.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Copy] = {}
        self._lock = threading.Lock()

    def resting_stamp(self, place: str) -> tuple[int, ...] | None:
        """The stamp of the copy that is used until its time is up; None where the next look makes one."""
        with self._lock:
            kept = self._kept.get(place)
            return kept.stamp if kept is not None and time.monotonic() < kept.until else None

    def of(self, place: str) -> Path | None:
        """A copy of the database and its WAL as they are now; None if they changed while being copied."""
        stamp = stamp_of(place)
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and (kept.stamp == stamp or time.monotonic() < kept.until):
                return kept.path
        size = stamp[0] + max(stamp[3], 0)
        if size > COPY_CAP:
            limit = f"{size:,} bytes with a live WAL; no more than {COPY_CAP:,} are copied to be read"
            raise OSError(errno.EFBIG, limit, place)
        began = time.monotonic()
        wal_head = _head(place + "-wal")[:32]
        folder = tempfile.TemporaryDirectory(prefix="rltui-", ignore_cleanup_errors=True)
        path = Path(folder.name) / "copy.db"
        shutil.copyfile(place, path)
        shutil.copyfile(place + "-wal", f"{path}-wal")
        # A checkpoint writes pages into the database and begins the WAL anew; growth of the WAL does no harm:
        # a frame that was copied in part fails its checksum and is left out.
        if stamp_of(place)[:3] != stamp[:3] or _head(place + "-wal")[:32] != wal_head:
            folder.cleanup()
            return None
        with self._lock:
            old = self._kept.pop(place, None)
            ended = time.monotonic()
            self._kept[place] = _Copy(stamp, folder, path, ended + _REST * (ended - began))
            dropped = [old] if old is not None else []
            if len(self._kept) > _KEPT:
                dropped.append(self._kept.pop(next(iter(self._kept))))
        for copy in dropped:
            copy.folder.cleanup()
        return path


_COPIES = _Copies()

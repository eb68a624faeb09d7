"""Reading an SQLite database so that nothing is created or changed beside it.

`mode=ro` on a closed WAL database creates `-wal` and `-shm` files and leaves them there; `immutable=1`
creates nothing but does not see what a live `-wal` holds. So a database without a `-wal` is opened as
immutable, and read again when its header changed meanwhile; of one with a `-wal`, both files are copied into
a private folder, where the copy is opened. While a rollback journal is there, the database is not read.
https://www.sqlite.org/uri.html#uriimmutable, https://www.sqlite.org/fileformat2.html#the_database_header
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.text import quote as quoted
from rltui.logs.formats.container import close_after_visit

if TYPE_CHECKING:
    import sqlite3
    import tempfile

T = TypeVar("T")

COPY_CAP = 2 << 30  # bytes of database and WAL that are copied at most
_TRIES = 3
_REST = 20.0  # times as long as copying took, a copy is used before the next one is made
_KEPT = 4  # copies that are kept for the next part of the same database
_MAGIC = b"SQLite format 3\0"
_HOT_JOURNAL = b"\xd9\xd5\x05\xf9\x20\xa1\x63\xd7"


def file_stamps(place: str) -> tuple[int, ...]:
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


def files_of(place: str) -> tuple[str, ...]:
    """A database, its WAL and its journal, as far as they are there."""
    return (place, *(path for path in (f"{place}-wal", f"{place}-journal") if _size(path) >= 0))


def readable_stamp(place: str) -> tuple[int, ...]:
    """The same as far as it can be read now: that of the copy, while no newer one is made. Raises OSError."""
    return _COPIES.resting_stamp(place) or file_stamps(place)


def modified_of(place: str) -> float:
    """When the database or its WAL was written last, seconds since 1970. Raises OSError."""
    stamp = file_stamps(place)
    return max(stamp[1], stamp[4]) / 1e9


def is_database(place: str) -> bool:
    """Whether a file begins like an SQLite database. Raises OSError."""
    return _head(place)[:16] == _MAGIC


def read_database(place: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """What `work` makes of the database; None when a writer is at work and it cannot be read now.

    Raises OSError, also for what is no database, is damaged, or is too large to be copied.
    """
    import sqlite3  # and below shutil and tempfile: 17 ms, which only databases need

    try:
        for _ in range(_TRIES):
            before = _CONNECTIONS.state(place)
            if before is None:
                if _is_journal_hot(place):
                    return None
                before = _state(place)
            if before.wal > 0:
                copy = _COPIES.of(place)
                if copy is None:
                    continue
                with _CONNECTIONS.to(place, f"file:{quote(str(copy))}", before) as base:
                    return run_on(base, work)
            failure: sqlite3.Error | None = None
            result: T | None = None
            try:
                with _CONNECTIONS.to(place, f"file:{quote(place)}?mode=ro&immutable=1", before) as base:
                    result = run_on(base, work)
            except sqlite3.Error as error:  # perhaps because it was written meanwhile
                failure = error
            if _state(place) == before and not _is_journal_hot(place):
                if failure is not None:
                    raise failure
                return result
            _CONNECTIONS.close(place)
    except sqlite3.Error as error:
        raise OSError(errno.EIO, f"SQLite says: {error}", place) from error
    return None


class _State(NamedTuple):
    """What differs once a database was written: its header holds a counter of changes."""

    head: bytes
    size: int
    wal: int  # bytes; -1 without a WAL


def _state(place: str) -> _State:
    return _State(_head(place), _size(place), _size(place + "-wal"))


class _Connections(threading.local):
    """This thread's connections to databases, by path: one for all parts that are looked at in one look.

    64 runs of one database opened it 128 times for each step. A connection is kept as long as the database
    is what it was when it was opened: this is checked after each use.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[str, _State, sqlite3.Connection]] = {}

    def state(self, place: str) -> _State | None:
        """What a database without a WAL was when it was opened; None where it is not open."""
        kept = self._kept.get(place)
        return kept[1] if kept is not None and kept[1].wal <= 0 else None

    @contextlib.contextmanager
    def to(self, place: str, uri: str, state: _State) -> Iterator[sqlite3.Connection]:
        """The connection that is kept, or a new one. Raises sqlite3.Error."""
        kept = self._kept.get(place)
        if kept is not None and kept[0] == uri and (kept[1] == state or state.wal > 0):
            yield kept[2]
            return
        self.close(place)
        import sqlite3

        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        held = self._kept

        def let_go() -> None:  # perhaps in another thread, when nobody consumes the look to its end
            held.pop(place, None)
            connection.close()

        if close_after_visit(let_go):
            held[place] = uri, state, connection
            yield connection
            return
        try:
            yield connection
        finally:
            connection.close()

    def close(self, place: str) -> None:
        """Close the connection to a database, if there is one."""
        kept = self._kept.pop(place, None)
        if kept is not None:
            kept[2].close()


_CONNECTIONS = _Connections()


def run_on(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """What `work` makes of an open database. Raises sqlite3.Error, also for what damage makes of it.

    A damaged page may claim a row of gigabytes, and a damaged schema is quoted in a message that is no UTF-8.
    """
    try:
        return work(connection)
    except (UnicodeError, MemoryError, OverflowError) as error:
        import sqlite3

        raise sqlite3.DatabaseError(f"the database is damaged: {quoted(str(error))}") from error


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
        stamp = file_stamps(place)
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and (kept.stamp == stamp or time.monotonic() < kept.until):
                return kept.path
        size = stamp[0] + max(stamp[3], 0)
        if size > COPY_CAP:
            limit = f"{size:,} bytes with a live WAL; no more than {COPY_CAP:,} are copied to be read"
            raise OSError(errno.EFBIG, limit, place)
        import shutil
        import tempfile

        began = time.monotonic()
        wal_head = _head(place + "-wal")[:32]
        folder = tempfile.TemporaryDirectory(prefix="rltui-", ignore_cleanup_errors=True)
        path = Path(folder.name) / "copy.db"
        shutil.copyfile(place, path)
        shutil.copyfile(place + "-wal", f"{path}-wal")
        # A checkpoint writes pages into the database and begins the WAL anew; growth of the WAL does no harm:
        # a frame that was copied in part fails its checksum and is left out.
        if file_stamps(place)[:3] != stamp[:3] or _head(place + "-wal")[:32] != wal_head:
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

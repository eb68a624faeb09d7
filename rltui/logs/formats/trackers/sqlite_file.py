"""Reads SQLite databases without creating or changing files next to them.

`mode=ro` on a closed WAL database creates `-wal` and `-shm` files and leaves them; `immutable=1` creates
nothing but ignores the content of a live `-wal`. So a database without a `-wal` is opened as immutable, and
read again if its header changed meanwhile; if there is a `-wal`, both files are copied to a private folder
and the copy is opened. A database with a hot rollback journal is not read.
https://www.sqlite.org/uri.html#uriimmutable, https://www.sqlite.org/fileformat2.html#the_database_header
"""

from __future__ import annotations

import contextlib
import errno
import os
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import quote

from rltui.common.display_text import quote as quoted
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.formats.container import Container, Parts, close_after_visit

if TYPE_CHECKING:
    import sqlite3
    import tempfile

T = TypeVar("T")

COPY_CAP = 2 << 30  # bytes of database and WAL that are copied at most
_TRIES = 3
_MIN_AGE = 20.0  # of a copy before it is replaced, as a multiple of the time of copying
_MAX_COPIES = 4  # that are kept for other parts of the same databases
_NAME = regex(r"\.(db|sqlite3?)\Z")
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
    """A database, its WAL and its journal, if they exist."""
    return (place, *(path for path in (f"{place}-wal", f"{place}-journal") if _size(path) >= 0))


def readable_stamp(place: str) -> tuple[int, ...]:
    """The stamp of the state that can be read now, perhaps that of an older copy. Raises OSError."""
    return _COPIES.current_stamp(place) or file_stamps(place)


def modified_of(place: str) -> float:
    """When the database or its WAL was last written, seconds since 1970. Raises OSError."""
    stamp = file_stamps(place)
    return max(stamp[1], stamp[4]) / 1e9


def is_database(place: str) -> bool:
    """Whether a file starts like an SQLite database. Raises OSError."""
    return _head(place)[:16] == _MAGIC


def database(*known: Callable[[str, sqlite3.Connection], Parts | None]) -> Container:
    """Databases of trackers, recognised by their tables. known: the parts in a database of each tracker."""

    def parts(place: str) -> Parts | None:
        """The runs in a database. None for any other file, and while it cannot be read."""
        if not is_database(place):
            return None

        def runs(base: sqlite3.Connection) -> Parts | None:
            return next((found for each in known if (found := each(place, base))), None)

        return read_database(place, runs)

    return Container(lambda place: bool(_NAME.search(place)), parts)


def read_database(place: str, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """Call `work` with a connection and return its result; None if a writer prevents reading now.

    Raises OSError, also for a file that is no database, is damaged, or is too large to be copied.
    """
    import sqlite3  # like shutil and tempfile below: 17 ms, only needed for databases

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
            except sqlite3.Error as error:  # perhaps because of a concurrent write
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
    """Changes whenever a database is written: its header has a change counter."""

    head: bytes
    size: int
    wal: int  # bytes; -1 without a WAL


def _state(place: str) -> _State:
    return _State(_head(place), _size(place), _size(place + "-wal"))


class _Connections(threading.local):
    """This thread's connections to databases, by path, shared within `shared_resources`.

    Without sharing, 64 runs of one database opened it 128 times for each step. A connection is used as long
    as the database is unchanged since it was opened, which is checked after each use.
    """

    def __init__(self) -> None:
        self._open: dict[str, tuple[str, _State, sqlite3.Connection]] = {}

    def state(self, place: str) -> _State | None:
        """The state of a database without a WAL when it was opened; None if it is not open."""
        opened = self._open.get(place)
        return opened[1] if opened is not None and opened[1].wal <= 0 else None

    @contextlib.contextmanager
    def to(self, place: str, uri: str, state: _State) -> Iterator[sqlite3.Connection]:
        """The open connection, or a new one. Raises sqlite3.Error."""
        opened = self._open.get(place)
        if opened is not None and opened[0] == uri and (opened[1] == state or state.wal > 0):
            yield opened[2]
            return
        self.close(place)
        import sqlite3  # as above

        connection = sqlite3.connect(uri, uri=True, check_same_thread=False)
        connections = self._open

        def close() -> None:  # perhaps in another thread, if a generator is not exhausted
            connections.pop(place, None)
            connection.close()

        if close_after_visit(close):
            connections[place] = uri, state, connection
            yield connection
            return
        try:
            yield connection
        finally:
            connection.close()

    def close(self, place: str) -> None:
        """Close the connection to a database, if there is one."""
        opened = self._open.pop(place, None)
        if opened is not None:
            opened[2].close()


_CONNECTIONS = _Connections()


def run_on(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    """Call `work` with an open database and return its result. Raises sqlite3.Error, also for damage.

    A damaged page may declare a row of gigabytes, and a damaged schema is quoted in a message that is no
    UTF-8.
    """
    try:
        return work(connection)
    except (UnicodeError, MemoryError, OverflowError) as error:
        import sqlite3  # as above

        raise sqlite3.DatabaseError(f"the database is damaged: {quoted(str(error))}") from error


def _head(place: str) -> bytes:
    """The header, whose bytes 24..27 are the change counter."""
    with open(place, "rb") as file:  # noqa: PTH123
        return file.read(100)


def _size(place: str) -> int:
    try:
        return os.stat(place).st_size  # noqa: PTH116
    except OSError:
        return -1


def _is_journal_hot(place: str) -> bool:
    """Whether a transaction is in progress, or was when its writer died. A persistent journal is not hot."""
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
    """The latest private copy of each live database, shared by all of its parts.

    At most a twentieth of the time is spent on copying a database.
    """

    def __init__(self) -> None:
        self._kept: dict[str, _Copy] = {}
        self._lock = threading.Lock()

    def current_stamp(self, place: str) -> tuple[int, ...] | None:
        """The stamp of the copy if it is not to be replaced yet, else None."""
        with self._lock:
            kept = self._kept.get(place)
            return kept.stamp if kept is not None and time.monotonic() < kept.until else None

    def of(self, place: str) -> Path | None:
        """A copy of the database and its WAL; None if they changed while being copied."""
        stamp = file_stamps(place)
        with self._lock:
            kept = self._kept.get(place)
            if kept is not None and (kept.stamp == stamp or time.monotonic() < kept.until):
                return kept.path
        size = stamp[0] + max(stamp[3], 0)
        if size > COPY_CAP:
            limit = f"{size:,} bytes with a live WAL; no more than {COPY_CAP:,} are copied to be read"
            raise OSError(errno.EFBIG, limit, place)
        import shutil  # as above
        import tempfile

        began = time.monotonic()
        wal_head = _head(place + "-wal")[:32]
        folder = tempfile.TemporaryDirectory(prefix="rltui-", ignore_cleanup_errors=True)
        path = Path(folder.name) / "copy.db"
        shutil.copyfile(place, path)
        shutil.copyfile(place + "-wal", f"{path}-wal")
        # A checkpoint writes pages to the database and restarts the WAL. Growth of the WAL is harmless: a
        # frame that was copied in part fails its checksum and is ignored.
        if file_stamps(place)[:3] != stamp[:3] or _head(place + "-wal")[:32] != wal_head:
            folder.cleanup()
            return None
        with self._lock:
            old = self._kept.pop(place, None)
            ended = time.monotonic()
            self._kept[place] = _Copy(stamp, folder, path, ended + _MIN_AGE * (ended - began))
            dropped = [old] if old is not None else []
            if len(self._kept) > _MAX_COPIES:
                dropped.append(self._kept.pop(next(iter(self._kept))))
        for copy in dropped:
            copy.folder.cleanup()
        return path


_COPIES = _Copies()

"""Whether a file is still the one that was read: by its content, never by inode or time.

Inodes are reused at once, change under migration, and copies that rsync puts in place bring new ones with
the same content. So the first bytes are compared, and the bytes before the offset: a file that was rewritten
to a larger size betrays itself there.
"""

from __future__ import annotations

import os
from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.logs import log_file_names
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import HEAD, File
from rltui.logs.local_file import LocalFile, identity, marker

Verdict = Literal["same", "wait", "replaced"]

SETTLING = 1.0  # seconds that a shrunk file may take to grow again before it counts as a new one
_LOOKS = {True: 2, False: 3}  # looks that must agree on it, with and without trust in attributes


class Past(NamedTuple):
    """What was read of a file that is another one now."""

    head: bytes
    mark: bytes
    settled: int

    def begins(self, content: bytes) -> bool:
        """Whether it begins as `content`, the first HEAD bytes of a copy that was compressed since."""
        return bool(self.head) and (
            content.startswith(self.head) if len(self.head) == HEAD else content == self.head
        )

    def is_in(self, file: File) -> bool:
        """Whether the file holds it. Raises OSError."""
        return bool(self.head) and (
            identity(file, len(self.head)) == self.head and marker(file, self.settled) == self.mark
        )


class FileIdentity:
    """What is remembered of a file up to the offset that was settled."""

    __slots__ = ("head", "mark", "shrinks", "shrunk_at")

    def __init__(self) -> None:
        self.head = b""  # first bytes, as far as they are settled: what is not may still arrive
        self.mark = b""
        self.shrinks = 0
        self.shrunk_at = 0.0

    def remember(self, file: File, settled: int) -> None:
        """Take in the file as it is, up to `settled`. Raises OSError."""
        if len(self.head) < HEAD:
            self.head = identity(file, min(HEAD, settled))
        self.mark = marker(file, settled)

    def past(self, settled: int) -> Past:
        """What was read up to `settled`, to find it again in another file."""
        return Past(self.head, self.mark, settled)

    def compare(self, file: File, settled: int, now: float, *, trust: bool) -> Verdict:
        """Whether what was settled still stands there. Raises OSError.

        A file that is shorter, but the same as far as it goes, is about to be written again (waited for),
        or was cut by a restart: believed when several looks agree. On some network file systems sizes go
        back for a while. An empty file says nothing yet.
        """
        if not settled:
            return "same"
        head = identity(file, len(self.head))
        if not self.head.startswith(head):
            return "replaced"
        if len(head) == len(self.head):
            mark = marker(file, settled)
            if mark == self.mark:
                self.shrinks = 0
                return "same"
            if len(mark) == len(self.mark):
                return "replaced"
        if not self.shrinks:
            self.shrunk_at = now
        self.shrinks += 1
        if not head or self.shrinks < _LOOKS[trust] or now - self.shrunk_at < SETTLING:
            return "wait"
        return "replaced"


def moved_to(place: str, past: Past, calls: Calls) -> str | None:
    """The path of the file that holds what was read from `place` (renamed or copied away), or None.

    Raises OSError of the folder.
    """
    folder, _, name = place.rpartition("/")
    with calls.run(folder, os.scandir, folder or "/") as entries:
        names = [entry.name for entry in entries if entry.name.startswith(name) and entry.name != name]
    known = log_file_names.names()
    for candidate in sorted(names):
        if candidate[len(name)] not in known.rotated_joints or candidate.endswith(known.compressed):
            continue
        path = f"{folder}/{candidate}"
        if holds(path, past, calls):
            return path
    return None


def holds(path: str, past: Past, calls: Calls) -> bool:
    """Whether the file begins and goes on as what was read. Raises OSError, unless there is no file."""
    try:
        with LocalFile(path, path, calls) as file:
            return past.is_in(file)
    except FileNotFoundError:
        return False

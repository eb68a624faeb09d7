"""Whether a file is still the one that was read, by its content and not by inode or time.

Inodes are reused at once, change in a migration, and rsync replaces files by copies with the same content. So
the first bytes are compared, and the bytes before the offset, which differ in a file that was rewritten to a
larger size.
"""

from __future__ import annotations

import os
from typing import Literal

from rltui.common.named_tuple import NamedTuple
from rltui.logs import log_file_names
from rltui.logs.file_calls import Calls
from rltui.logs.formats.interface import HEAD, File
from rltui.logs.local_file import LocalFile, marker

FileChange = Literal["same", "wait", "replaced"]

SHRINK_SECONDS = 1.0  # that a truncated file may take to grow again before it counts as replaced
_SHRINK_CHECKS = {True: 2, False: 3}  # checks that must agree, with and without trust in attributes


class EarlierContent(NamedTuple):
    """Content that was read before its file was replaced, by its head and the bytes before `consumed`."""

    head: bytes
    mark: bytes
    consumed: int

    def begins_with(self, content: bytes) -> bool:
        """Whether `content`, the first HEAD bytes of a decompressed copy, are its head."""
        return bool(self.head) and (
            content.startswith(self.head) if len(self.head) == HEAD else content == self.head
        )

    def is_in(self, file: File) -> bool:
        """Whether a file has this content. Raises OSError."""
        return bool(self.head) and (
            file.read_at(0, len(self.head)) == self.head and marker(file, self.consumed) == self.mark
        )


class FileIdentity:
    """What identifies the content of a file up to the offset `consumed`."""

    __slots__ = ("head", "mark", "shrinks", "shrunk_at")

    def __init__(self) -> None:
        self.head = b""  # first bytes, up to the consumed offset: later ones may still change
        self.mark = b""
        self.shrinks = 0
        self.shrunk_at = 0.0

    def remember(self, file: File, consumed: int) -> None:
        """Record the present content up to `consumed`. Raises OSError."""
        if len(self.head) < HEAD:
            self.head = file.read_at(0, min(HEAD, consumed))
        self.mark = marker(file, consumed)

    def content(self, consumed: int) -> EarlierContent:
        """The content up to `consumed`, to find it again in another file."""
        return EarlierContent(self.head, self.mark, consumed)

    def compare(self, file: File, consumed: int, now: float, *, trust: bool) -> FileChange:
        """Whether the file still has the content up to `consumed`. Raises OSError.

        A file that is shorter but otherwise equal is about to be rewritten ("wait"), or was truncated by a
        restart ("replaced", if several checks agree): on some network file systems sizes go back for a while.
        An empty file is waited for.
        """
        if not consumed:
            return "same"
        head = file.read_at(0, len(self.head))
        if not self.head.startswith(head):
            return "replaced"
        if len(head) == len(self.head):
            mark = marker(file, consumed)
            if mark == self.mark:
                self.shrinks = 0
                return "same"
            if len(mark) == len(self.mark):
                return "replaced"
        if not self.shrinks:
            self.shrunk_at = now
        self.shrinks += 1
        if not head or self.shrinks < _SHRINK_CHECKS[trust] or now - self.shrunk_at < SHRINK_SECONDS:
            return "wait"
        return "replaced"


def moved_to(place: str, content: EarlierContent, calls: Calls) -> str | None:
    """The path to which the content of `place` was renamed or copied, or None.

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
        if has_content(path, content, calls):
            return path
    return None


def has_content(path: str, content: EarlierContent, calls: Calls) -> bool:
    """Whether a file has this content; false if it does not exist. Raises OSError."""
    try:
        with LocalFile(path, path, calls) as file:
            return content.is_in(file)
    except FileNotFoundError:
        return False

"""Detects the format of a file: presumed from its name, recognised by its first bytes, or none."""

from __future__ import annotations

import os
import stat
from dataclasses import replace

from rltui.common.display_text import quote
from rltui.common.problem import Problem
from rltui.logs.formats.interface import BLOCK, HEAD, File, Format
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.log_contents import begins_with_object, cut_keys, from_first_record, is_foreign
from rltui.logs.log_file_names import is_events, is_telling, names

SEARCHED = 16 << 20  # bytes of a console that are searched for its first line of metrics
SEARCHED_EXPLICIT = 256 << 20  # the same if LOGDIR is that file
_OVERLAP = 1024  # bytes that two blocks of the search share
# Bytes by which a JSON document is recognised: its records may be longer than HEAD.
_DOCUMENT_HEAD = 64 << 10


class FormatDetection:
    """The format of one file, and the problem that was reported about it."""

    __slots__ = ("_explicit", "_formats", "_name", "_path", "_searched", "_unknown", "presumed")

    def __init__(self, name: str, path: str, formats: FormatRegistry, *, explicit: bool) -> None:
        self._name, self._path = name, path
        self._explicit = explicit  # LOGDIR is this file: it may have any name
        self._searched = 0  # bytes without a line of metrics
        self._formats = formats
        self._unknown: Problem | None = None
        self.presumed: Format | None = None  # by the name, before the file was opened

    def presume(self, status: os.stat_result) -> Format | None:
        """The format by the name, of a file that need not be opened before it is read."""
        if not (is_events(self._name) and status.st_size and stat.S_ISREG(status.st_mode)):
            return None
        self.presumed = self._formats.recognise(self._name, b"")
        return self.presumed

    def of(self, head: bytes, presumed: Format | None, file: File) -> tuple[Format | None, Problem | None]:
        """The format of a file that begins with `head`, and the problem to report or withdraw.

        Raises OSError while a console is searched for its first line of metrics.
        """
        if presumed is not None and head and presumed.matches(self._name, head):
            return presumed, None
        before = self._unknown
        if before is None and head and (why := self._formats.why_unread(self._name)):
            self._unknown = Problem("info", "not-read", self._path, why)
            return None, self._unknown
        known = self._recognise(head, file) if head else None
        if known is not None:
            self._unknown = None
            if before is None:
                return known, None
            return known, replace(before, message="is a log now", healed=True)
        expected = not self._name.endswith(names().ambiguous_endings) and not is_foreign(self._name, head)
        first = from_first_record(head)
        if before is not None and before.code == "torn-record" and b"\n" in first:
            self._unknown = None
            return None, replace(before, message="its first record is complete now", healed=True)
        if before is not None or not first or not expected:
            return None, None
        cut = len(head) < HEAD and b"\n" not in first and not first.rstrip().endswith(b"}")
        if cut and (begins_with_object(first) or cut_keys(first)):
            message = (
                f"its only record is incomplete ({len(head)} bytes): the writer stopped or has not flushed"
            )
            self._unknown = Problem("warning", "torn-record", self._path, message)
        else:
            message = f"not a log that rltui can read: begins with {quote(repr(head[:24]))}"
            self._unknown = Problem("warning", "unrecognised", self._path, message)
        return None, self._unknown

    def _recognise(self, head: bytes, file: File) -> Format | None:
        """By name and head; a console also by a later line of metrics, reading each byte once."""
        if (samples := self._formats.of_samples(self._path, head)) is not None:
            return samples
        by_head = self._formats.recognise_asked if self._explicit else self._formats.recognise
        known = by_head(self._name, head)
        if (
            # Of a record that is cut, more keys may follow, even if an object in it is complete.
            (known is None or known.name != "document")
            and len(head) >= HEAD
            and self._name.lower().endswith(".json")
            and (self._explicit or is_telling(self._name))
        ):
            known = by_head(self._name, file.read_at(0, _DOCUMENT_HEAD))
        if known is not None and known.name in names().printed_formats and file.size() > HEAD:
            # A program may print such lines before its trainer begins.
            return self._formats.holds_metrics(file.read_at(0, BLOCK)) or known
        if known is not None or not (self._explicit or names().may_print_metrics.search(self._name)):
            return known
        size = min(file.size(), SEARCHED_EXPLICIT if self._explicit else SEARCHED)
        if size < self._searched:  # the file was replaced
            self._searched = 0
        while known is None and max(self._searched, HEAD) < size:
            begin = max(self._searched - _OVERLAP, 0)
            data = file.read_at(begin, min(BLOCK, size - begin))
            if begin + len(data) <= self._searched:
                break
            known = self._formats.holds_metrics(data)
            self._searched = begin + len(data)
        return known

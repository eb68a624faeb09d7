"""Spans of steps in files beside the logs: what ran when, read when somebody asks for it.

Looked for from the folders of the logs upwards, the nearest first: `timing_spans.jsonl`, the tables of
Telescope, and traces of torch and Ray, also in folders named for traces and profiles.
"""

from __future__ import annotations

import io
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.common.text import clean
from rltui.logs.local_file import LocalFile
from rltui.run_context.hparams.hparam_files import Folder, folders_of
from rltui.run_context.spans import chrome_trace, span_lines, telescope_events
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans

LINES = "timing_spans.jsonl"
# Where Telescope's tables lie in W&B's folder of a run; the newest whole block before what is under way.
TABLES = ("files/events/block_live.zip", "files/events/tail.zip", "events/block_live.zip", "events/tail.zip")
END = 1 << 20  # bytes of the end of a file of lines that are read
PIECE = 1 << 20
LIMIT = 512 << 20  # bytes of a trace, unpacked; of one whose events are all looked at less
LIMIT_EVENTS = 64 << 20
LISTED = 2000  # entries of a folder that are looked at
TRACES = 3  # that are tried
TOGETHER = 600.0  # seconds in which the ranks of a job write their traces
_TRACE = regex(r"(?:trace|timeline|prof).*\.json(?:\.gz)?$", re.IGNORECASE)
_FOLDER = regex(r"trace|timeline|prof", re.IGNORECASE)
_RANK = regex(r"(?:rank|trace|worker)[-_]?(\d+)", re.IGNORECASE)


_Parse = Callable[[LocalFile, str], LoggedSpans]


class _Trace(NamedTuple):
    """A file that may be a trace: where it is, how messages call it, when it was written."""

    place: str
    name: str
    modified: float

    @property
    def rank(self) -> int:
        """The rank that wrote it, where the name says so."""
        found = _RANK.search(self.name)
        return int(found[1]) if found is not None else 0


def spans_beside(
    paths: Iterable[str], logdirs: Sequence[str | os.PathLike[str]], known: LoggedSpans = NO_SPANS
) -> LoggedSpans:
    """The newest spans beside logs with these paths, from the nearest folder that has some.

    `known` is returned where its file has not changed. Blocks as long as the file system does.
    """
    for folder in folders_of(paths, logdirs):
        for name, parse in ((LINES, _lines), *((table, _tables) for table in TABLES)):
            found = _read(str(folder.place / name), name, parse, known)
            if found or found.notes:
                return found
        for trace in _traces(folder):
            found = _read(trace.place, trace.name, _trace, known)
            if found:
                return found
    return NO_SPANS


def _read(place: str, name: str, parse: _Parse, known: LoggedSpans) -> LoggedSpans:
    """The spans of a file; none where it is not there or cannot be read."""
    try:
        with LocalFile(place, name) as file:
            stamp = (place, *file.stamp())
            return known if known.stamp == stamp else replace(parse(file, clean(name)), stamp=stamp)
    except (OSError, zlib.error, zipfile.BadZipFile):
        return NO_SPANS
    except ImportError:
        return LoggedSpans(notes=(f"{clean(name)} needs pyarrow: pip install 'rltui[parquet]'",))


def _lines(file: LocalFile, name: str) -> LoggedSpans:
    size = file.size()
    begin = max(0, size - END)
    lines = file.read_at(begin, size - begin).split(b"\n")
    return LoggedSpans(span_lines.parse(lines[1 if begin else 0 :]), source=name)


def _tables(file: LocalFile, name: str) -> LoggedSpans:
    return telescope_events.parse(io.BufferedReader(_Seekable(file)), name)


def _trace(file: LocalFile, name: str) -> LoggedSpans:
    trace, read = chrome_trace.ChromeTrace(), 0
    for piece in _pieces(file, packed=name.lower().endswith(".gz")):
        if read > (LIMIT if trace.annotated else LIMIT_EVENTS):
            found = trace.close(name)
            return replace(found, notes=(*found.notes, f"the first {read >> 20} MB of {name} are read"))
        trace.feed(piece)
        read += len(piece)
    return trace.close(name)


def _pieces(file: LocalFile, *, packed: bool) -> Iterator[bytes]:
    """A file piece by piece, unpacked; a torn one as far as it goes."""
    unpack = zlib.decompressobj(zlib.MAX_WBITS | 16) if packed else None
    offset = 0
    while data := file.read_at(offset, PIECE):
        offset += len(data)
        if unpack is None:
            yield data
            continue
        while data and not unpack.eof:
            yield unpack.decompress(data, PIECE)
            data = unpack.unconsumed_tail


def _traces(folder: Folder) -> list[_Trace]:
    """Files of a folder that may be traces, and of folders in it named for them; of ranks the first."""
    found: list[_Trace] = []
    for place in (folder.place, *_folders(folder.place)):
        for entry in _entries(place):
            try:
                if _TRACE.search(entry.name) and entry.is_file():
                    found.append(_Trace(entry.path, entry.name, entry.stat().st_mtime))
            except OSError:
                continue  # it is gone
    newest = max((one.modified for one in found), default=0.0)
    found.sort(key=lambda one: (one.modified < newest - TOGETHER, one.rank, -one.modified, one.name))
    return found[:TRACES]


def _folders(place: Path) -> list[Path]:
    names = (entry.name for entry in _entries(place) if _FOLDER.search(entry.name) and entry.is_dir())
    return [place / name for name in sorted(names)][:8]


def _entries(place: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as entries:
            return [entry for _, entry in zip(range(LISTED), entries, strict=False)]
    except OSError:
        return []


class _Seekable(io.RawIOBase):
    """A file that a reader of archives can seek in."""

    def __init__(self, file: LocalFile) -> None:
        self._file = file
        self._at = 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """Yes."""
        return True

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset."""
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self._file.size()}[whence]
        self._at = max(base + offset, 0)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Read from where it stands."""
        data = self._file.read_at(self._at, len(buffer))
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)

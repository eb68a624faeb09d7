"""Finds and reads the files of spans near the logs.

They are searched for in the folders of the logs and those above, the nearest first: `timing_spans.jsonl`, the
tables of Telescope, and traces of torch and Ray, also in folders named after traces and profiles.
"""

from __future__ import annotations

import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path

from rltui.common.display_text import clean
from rltui.common.extras import install_hint
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.draw.numbers import format_bytes
from rltui.logs.local_file import LocalFile
from rltui.run_context.nearby_folders import Folder, folders_near
from rltui.run_context.spans import chrome_trace, span_lines, telescope_events
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans

LINES = "timing_spans.jsonl"
# Paths of Telescope's tables in W&B's folder of a run; the newest complete block before the current one.
TABLES = ("files/events/block_live.zip", "files/events/tail.zip", "events/block_live.zip", "events/tail.zip")
LINES_END = 1 << 20  # bytes at the end of a file of lines that are read
PIECE = 1 << 20  # bytes
ANNOTATIONS_LIMIT = 512_000_000  # decompressed bytes of a trace of which only annotations are read
EVENTS_LIMIT = 64_000_000  # the same where all events are read
MAX_ENTRIES = 2000  # of a folder
MAX_TRACES = 3  # files that are tried
RANKS_WRITE = 600.0  # seconds within which the ranks of a job write their traces
_TRACE = regex(r"(?:trace|timeline|prof).*\.json(?:\.gz)?$", re.IGNORECASE)
_FOLDER = regex(r"trace|timeline|prof", re.IGNORECASE)
_RANK = regex(r"(?:rank|trace|worker)[-_]?(\d+)", re.IGNORECASE)


_Parse = Callable[[LocalFile, str], LoggedSpans]


class _Trace(NamedTuple):
    """A file that may be a trace: absolute path, base name, modification time."""

    place: str
    name: str
    modified: float

    @property
    def rank(self) -> int:
        """The rank in its name; 0 without one."""
        found = _RANK.search(self.name)
        return int(found[1]) if found is not None else 0


def spans_near(
    paths: Iterable[str], logdirs: Sequence[str | os.PathLike[str]], known: LoggedSpans = NO_SPANS
) -> LoggedSpans:
    """The newest spans near logs with these paths, from the nearest folder that has some.

    Returns `known` if its file has not changed. Blocks as long as the file system does.
    """
    for folder in folders_near(paths, logdirs):
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
    """The spans of a file; none if it is missing or cannot be read."""
    try:
        with LocalFile(place, name) as file:
            stamp = (place, *file.stamp())
            return known if known.stamp == stamp else replace(parse(file, clean(name)), stamp=stamp)
    except (OSError, zlib.error, zipfile.BadZipFile):
        return NO_SPANS
    except ImportError:
        return LoggedSpans(notes=(f"{clean(name)} {install_hint('parquet')}",))


def _lines(file: LocalFile, name: str) -> LoggedSpans:
    size = file.size()
    begin = max(0, size - LINES_END)
    lines = file.read_at(begin, size - begin).split(b"\n")
    return LoggedSpans(span_lines.parse(lines[1 if begin else 0 :]), source=name)


def _tables(file: LocalFile, name: str) -> LoggedSpans:
    with file.stream() as stream:
        return telescope_events.parse(stream, name)


def _trace(file: LocalFile, name: str) -> LoggedSpans:
    trace, read = chrome_trace.ChromeTrace(), 0
    for piece in _pieces(file, compressed=name.lower().endswith(".gz")):
        if read > (ANNOTATIONS_LIMIT if trace.annotated else EVENTS_LIMIT):
            found = trace.close(name)
            return replace(found, notes=(*found.notes, f"the first {format_bytes(read)} of {name} are read"))
        trace.feed(piece)
        read += len(piece)
    return trace.close(name)


def _pieces(file: LocalFile, *, compressed: bool) -> Iterator[bytes]:
    """The decompressed pieces of a file; of a torn one those before its end."""
    gzip = zlib.decompressobj(zlib.MAX_WBITS | 16) if compressed else None
    offset = 0
    while data := file.read_at(offset, PIECE):
        offset += len(data)
        if gzip is None:
            yield data
            continue
        while data and not gzip.eof:
            yield gzip.decompress(data, PIECE)
            data = gzip.unconsumed_tail


def _traces(folder: Folder) -> list[_Trace]:
    """Files that may be traces, newest first, in a folder and its trace folders; of ranks the first."""
    found: list[_Trace] = []
    entries = _entries(folder.place)
    named = sorted(entry.name for entry in entries if _FOLDER.search(entry.name) and entry.is_dir())
    for place in (folder.place, *(folder.place / name for name in named[:8])):
        for entry in _entries(place):
            try:
                if _TRACE.search(entry.name) and entry.is_file():
                    found.append(_Trace(entry.path, entry.name, entry.stat().st_mtime))
            except OSError:
                continue  # it was deleted meanwhile
    newest = max((trace.modified for trace in found), default=0.0)
    found.sort(
        key=lambda trace: (trace.modified < newest - RANKS_WRITE, trace.rank, -trace.modified, trace.name)
    )
    return found[:MAX_TRACES]


def _entries(place: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(place) as entries:
            return list(islice(entries, MAX_ENTRIES))
    except OSError:
        return []

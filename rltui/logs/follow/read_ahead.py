"""Logs read ahead and decoded together: a thousand short runs cost little more than one long.

So are the ends of long logs, which are shown first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from rltui.logs.files import Calls, Copy, GivenUpError, LocalFile
from rltui.logs.formats.interface import BLOCK, JointReader, LogReader
from rltui.logs.log_file.log_file import LogFile

SMALL = 256 << 10  # bytes of a log that is worth it
ROOM = 2 << 20  # bytes read ahead
MOST = 256  # logs looked at


def fits(track: LogFile) -> bool:
    """Whether the log is new, small, and of a format that gains by it."""
    return track.size <= SMALL and track.copy is None and _is_new(track)


def fits_with_end(track: LogFile) -> bool:
    """Whether the log is new, long, and of such a format."""
    return track.size > BLOCK and track.ending is None and _is_new(track)


def _is_new(track: LogFile) -> bool:
    return track.presumed is not None and track.readable and not track.previewed


def fill(tracks: Iterable[LogFile], calls: Calls, over: Callable[[], bool] = lambda: False) -> None:
    """Read those of the next logs that fit, until there is no more room, or `over`. Raises GivenUpError."""
    chosen = (track for track in islice(tracks, MOST) if fits(track))
    for form, (logs, contents) in _read(chosen, SMALL, calls, over, end=False).items():
        form.begin(logs, contents)


def fill_with_ends(tracks: Iterable[LogFile], length: int, calls: Calls, over: Callable[[], bool]) -> None:
    """The same for the last `length` bytes of those that fit with their ends."""
    chosen = (track for track in islice(tracks, MOST) if fits_with_end(track))
    for form, (logs, contents) in _read(chosen, length, calls, over, end=True).items():
        form.preview(logs, contents)


def _read(
    tracks: Iterable[LogFile], length: int, calls: Calls, over: Callable[[], bool], *, end: bool
) -> dict[JointReader, tuple[list[LogReader], list[bytes]]]:
    read: dict[JointReader, tuple[list[LogReader], list[bytes]]] = {}
    room = ROOM
    for track in tracks:
        if room < min(track.size, length) or (read and over()):
            break
        copy = _copy(track, length, calls, end=end)
        if end:
            track.ending = copy
        else:
            track.copy = copy
        if copy is not None and track.log is not None and track.presumed is not None:
            room -= len(copy.content)
            logs, contents = read.setdefault(track.presumed, ([], []))
            logs.append(track.log)
            contents.append(copy.content)
    return read


def _copy(track: LogFile, length: int, calls: Calls, *, end: bool) -> Copy | None:
    """The file of a log if it has `length` bytes at most, or the `end` of it. Raises GivenUpError.

    What is wrong with the file, its visit tells.
    """
    calls.subject = track
    try:
        with LocalFile(track.found.place, track.found.path, calls) as file:
            status = file.status
            if status is None or not (end or status.st_size <= length):
                return None
            start = max(0, status.st_size - length)
            content = file.read_at(start, status.st_size - start)
            whole = start + len(content) == status.st_size
            return Copy(track.found.path, calls, status, content, start) if whole else None
    except GivenUpError:
        raise
    except OSError:
        return None

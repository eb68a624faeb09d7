"""Small logs read ahead, whole, and begun together: a thousand short runs cost little more than one long."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

from rltui.logs.base import Log, Together
from rltui.logs.files import Calls
from rltui.logs.tracked import Tracked

SMALL = 256 << 10  # bytes of a log that is worth it
ROOM = 2 << 20  # bytes of logs read ahead
MOST = 256  # logs looked at


def fits(track: Tracked) -> bool:
    """Whether the log is new, small, and of a format that gains by it."""
    return (
        track.presumed is not None
        and track.copy is None
        and track.size <= SMALL
        and track.readable
        and not track.previewed
    )


def fill(tracks: Iterable[Tracked], calls: Calls, over: Callable[[], bool] = lambda: False) -> None:
    """Read those of the next logs that fit, until there is no more room, or `over`. Raises GivenUpError."""
    begun: dict[Together, tuple[list[Log], list[bytes]]] = {}
    room = ROOM
    for track in islice(tracks, MOST):
        if not fits(track):
            continue
        if room < track.size or (room < ROOM and over()):
            break
        if track.copy_ahead(calls, SMALL) and track.copy and track.log and track.presumed:
            room -= len(track.copy.content)
            logs, contents = begun.setdefault(track.presumed, ([], []))
            logs.append(track.log)
            contents.append(track.copy.content)
    for form, (logs, contents) in begun.items():
        form.begin(logs, contents)

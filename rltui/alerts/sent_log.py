"""Which alerts were sent for a LOGDIR, kept in the user's state folder.

So a restart repeats none, and of several monitors of the same LOGDIRs one sends each.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rltui.common import paths
from rltui.common.named_tuple import NamedTuple

MAX_ENTRIES = 500  # entries, the latest
MAX_AGE = 30 * 86400.0  # seconds after which an entry is dropped
_LIMIT = 1 << 20  # bytes; a larger file is not ours
_TRIES, _PAUSE = 5, 0.01  # to get the lock, and seconds between: another monitor writes for a millisecond


class SentAlert(NamedTuple):
    """The latest alert of one finding id in one run."""

    since_step: int  # of the episode
    rank: int
    at: float  # seconds since 1970


class SentLog:
    """The latest alert that was sent, by (run, finding id).

    Nothing here raises: without a file that can be read nothing was sent, without one that can be written
    nothing is kept. What another monitor of the same folder wrote meanwhile is kept, too.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.entries: dict[tuple[str, str], SentAlert] = {} if path is None else _read(path)

    @classmethod
    def of_logdirs(cls, logdirs: Sequence[str | os.PathLike[str]]) -> SentLog:
        """The log of these LOGDIRs, whatever they are called this time."""
        return cls(paths.file_for_logdirs("alerts", logdirs))

    def add(self, run: str, finding_id: str, alert: SentAlert, repeat_interval: float = 0.0) -> bool:
        """Take an alert in, and write at once: the next moment may be the last.

        False when another monitor has sent it: the same episode, or any one in the last `repeat_interval`
        seconds, with at least the same rank.
        """
        key = (run, finding_id)
        if self.path is None:
            self.entries[key] = alert
            return True
        with _locked(self.path):
            merged = _read(self.path)
            other = merged.get(key)
            sent = (
                other is not None
                and other != self.entries.get(key)
                and other.rank >= alert.rank
                and (other.since_step == alert.since_step or alert.at - other.at < repeat_interval)
            )
            if not sent:
                self.entries[key] = alert
            for each, one in self.entries.items():
                if each not in merged or merged[each].at <= one.at:
                    merged[each] = one
            newest = sorted(merged.items(), key=lambda item: item[1].at)[-MAX_ENTRIES:]
            self.entries = {each: one for each, one in newest if alert.at - one.at < MAX_AGE}
            if not sent:
                _write(self.path, self.entries)
        return not sent


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Keep other monitors from reading and writing for a moment, where the file system has locks."""
    try:
        paths.make_private(path.parent)
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        for _ in range(_TRIES):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_PAUSE)
            except OSError:
                break
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[tuple[str, str], SentAlert]:
    try:
        if path.stat().st_size > _LIMIT:
            return {}
        table: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = table if isinstance(table, list) else []
    return dict(found for entry in entries if (found := _entry(entry)) is not None)


def _entry(entry: object) -> tuple[tuple[str, str], SentAlert] | None:
    """One line of the file; None when it is none of ours."""
    if not isinstance(entry, list) or [type(part) for part in entry[:4]] != [str, str, int, int]:
        return None
    run, name, since, rank, *rest = entry
    if len(rest) != 1 or not isinstance(rest[0], float) or not math.isfinite(rest[0]):
        return None
    return (run, name), SentAlert(since, rank, rest[0])


def _write(path: Path, entries: dict[tuple[str, str], SentAlert]) -> None:
    """Whole or not at all."""
    table = [[run, name, one.since_step, one.rank, float(one.at)] for (run, name), one in entries.items()]
    with contextlib.suppress(OSError):
        paths.write_atomically(path, json.dumps(table, indent=0).encode())

"""The log of alerts sent for LOGDIRs, in the user's state folder.

It prevents duplicates after a restart and from several monitors of the same LOGDIRs.
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

from rltui.common import writable_paths
from rltui.common.named_tuple import NamedTuple

MAX_ENTRIES = 500
MAX_AGE = 30 * 86400.0  # seconds
_MAX_BYTES = 1 << 20  # a larger file was not written by rltui
_LOCK_ATTEMPTS, _LOCK_PAUSE = 5, 0.01  # seconds; another monitor holds the lock for a millisecond


class SentAlert(NamedTuple):
    """The latest alert of a finding id in a run."""

    since_step: int  # of the period
    rank: int
    at: float  # seconds since 1970


class SentLog:
    """The latest alert that was sent, by (run, finding id). Without a path, only in memory.

    Errors in reading or writing the file are ignored. Entries that other monitors write are preserved.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self.entries: dict[tuple[str, str], SentAlert] = {} if path is None else _read(path)

    @classmethod
    def of_logdirs(cls, logdirs: Sequence[str | os.PathLike[str]]) -> SentLog:
        """The log of these LOGDIRs, independent of their spelling and order."""
        return cls(writable_paths.file_for_logdirs("alerts", logdirs))

    def add(self, run: str, finding_id: str, alert: SentAlert, repeat_interval: float = 0.0) -> bool:
        """Add an alert and write the file immediately.

        False if another monitor has sent an alert with at least the same rank for the same period, or for
        any period in the last `repeat_interval` seconds.
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
            for entry_key, entry in self.entries.items():
                if entry_key not in merged or merged[entry_key].at <= entry.at:
                    merged[entry_key] = entry
            newest = sorted(merged.items(), key=lambda item: item[1].at)[-MAX_ENTRIES:]
            self.entries = {key: entry for key, entry in newest if alert.at - entry.at < MAX_AGE}
            if not sent:
                _write(self.path, self.entries)
        return not sent


@contextlib.contextmanager
def _locked(path: Path) -> Iterator[None]:
    """Lock the file against other monitors, if the file system supports locks."""
    try:
        writable_paths.make_private(path.parent)
        descriptor = os.open(path.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        yield
        return
    try:
        for _ in range(_LOCK_ATTEMPTS):
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                time.sleep(_LOCK_PAUSE)
            except OSError:
                break
        yield
    finally:
        os.close(descriptor)


def _read(path: Path) -> dict[tuple[str, str], SentAlert]:
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        table: Any = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    rows = table if isinstance(table, list) else []
    return dict(entry for row in rows if (entry := _entry(row)) is not None)


def _entry(row: object) -> tuple[tuple[str, str], SentAlert] | None:
    """The entry of a row of the file; None if it is invalid."""
    if not isinstance(row, list) or [type(cell) for cell in row] != [str, str, int, int, float]:
        return None
    run, finding_id, since_step, rank, at = row
    return ((run, finding_id), SentAlert(since_step, rank, at)) if math.isfinite(at) else None


def _write(path: Path, entries: dict[tuple[str, str], SentAlert]) -> None:
    table = [[*key, entry.since_step, entry.rank, float(entry.at)] for key, entry in entries.items()]
    with contextlib.suppress(OSError):
        writable_paths.write_atomically(path, json.dumps(table, indent=0).encode())

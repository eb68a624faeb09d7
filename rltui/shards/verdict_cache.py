"""Verdicts that are remembered, so that runs whose files did not change are not read again.

A verdict is taken from the cache only where nothing speaks against it: every log and console of its run has
the size, times, inode, first and last bytes that it had before it was read; nothing was written so shortly
before that a later write could bear the same time; program, configuration and time zone are the same; and
the run is still as live, stalled or ended as it was.
"""

from __future__ import annotations

import contextlib
import os
import stat
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

import orjson

import rltui
from rltui import paths
from rltui.config import Config
from rltui.shards.plan import RunPlan
from rltui.shards.verdict import TagSets, Verdict, as_plain, from_plain

MARK = 512  # first and last bytes of a file that are compared
YOUNG = 3.0  # seconds after a write in which another one may bear the same time (2 s on FAT)
MOST_FILES = 64  # LOGDIRs whose verdicts are kept, those judged last


class VerdictCache:
    """The verdicts that were remembered for some LOGDIRs. Reads and writes one private file."""

    def __init__(self, logdirs: Sequence[str], config: Config) -> None:
        self._path = paths.of_logdirs("verdicts", logdirs, cached=True)
        zone = [*time.tzname, os.environ.get("TZ", "")]
        self._about = paths.digest(repr((rltui.__version__, _program(), zone, config)))
        self._known: dict[str, tuple[str, Verdict]] = {}  # by run: key, verdict
        self._keys: dict[str, str] = {}

    def read(self, runs: Iterable[RunPlan], now: float) -> dict[str, Verdict]:
        """The verdicts of these runs that still hold, by run. now: seconds since 1970."""
        self._load()
        found = {}
        for run in runs:
            key = _key(run, now)
            if key is None:
                continue
            self._keys[run.name] = key
            known = self._known.get(run.name)
            if known is None or known[0] != key:
                continue
            verdict = known[1]
            if verdict.pace.at(now).state == verdict.liveness.state:
                found[run.name] = replace(verdict, now=now)
        return found

    def write(self, verdicts: Iterable[Verdict], runs: Iterable[str] | None) -> None:
        """Remember verdicts of runs that `read` was asked for. runs: those that are left; None: all."""
        changed = {
            verdict.run: (key, verdict)
            for verdict in verdicts
            if (key := self._keys.get(verdict.run)) is not None
            # Without points the silence of its consoles decides, from one minute to the next.
            and (verdict.points or not verdict.consoles)
            and self._known.get(verdict.run, ("",))[0] != key
        }
        kept = self._known if runs is None else {run: self._known[run] for run in runs if run in self._known}
        if self._path is None or not (changed or len(kept) < len(self._known)):
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: they are judged again
            paths.make_private(self._path.parent)
            with paths.atomic_file(self._path, mode=0o600, sync=False) as file:
                file.writelines(self._lines({**kept, **changed}))
            _remove_oldest(self._path.parent)

    def _lines(self, known: Mapping[str, tuple[str, Verdict]]) -> Iterator[bytes]:
        sets = TagSets()
        for _, verdict in known.values():
            if verdict.life is not None:
                sets.number(verdict.life.tags)
        yield orjson.dumps([self._about, sets.as_plain()], option=orjson.OPT_APPEND_NEWLINE)
        for key, verdict in known.values():
            yield orjson.dumps(
                [key, as_plain(verdict, sets)], option=orjson.OPT_SERIALIZE_NUMPY | orjson.OPT_APPEND_NEWLINE
            )

    def _load(self) -> None:
        if self._path is None:
            return
        try:
            with self._path.open("rb") as file:
                if not _is_private(os.fstat(file.fileno())):
                    return
                about, tags = orjson.loads(file.readline())
                if about != self._about:
                    return
                sets = TagSets(tags)
                for line in file:
                    key, plain = orjson.loads(line)
                    self._known[plain["run"]] = (key, from_plain(plain, sets))
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            self._known.clear()  # not there, or not whole: as good as none


def _key(run: RunPlan, now: float) -> str | None:
    """What changes when the run may have changed; None where that cannot be told."""
    if run.deliveries or any(log.found.part is not None for log in run.logs):
        return None  # trackers' databases have more files than one, and times of their own
    seen: list[object] = [run.namesakes]
    seen += [
        (log.run, log.also_of, repr(log.tag_map) if log.tag_map else "", log.found.path) for log in run.logs
    ]
    for place in [*(log.found.place for log in run.logs), *(each.place for each in run.consoles)]:
        mark = _mark(place, now)
        if mark is None:
            return None
        seen.append((place, mark))
    return paths.digest(repr(seen), 40)


def _mark(place: str, now: float) -> tuple[object, ...] | None:
    """Attributes and some bytes of a file as it is now; None where they are in doubt."""
    try:
        descriptor = os.open(place, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY)
    except OSError:
        return None
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode) or not max(status.st_mtime, status.st_ctime) < now - YOUNG:
            return None
        size = status.st_size
        head, tail = os.pread(descriptor, MARK, 0), os.pread(descriptor, MARK, max(size - MARK, 0))
        return (size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino, status.st_dev, head, tail)
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_private(status: os.stat_result) -> bool:
    """Whether only the user can have written a file."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


@cache
def _program() -> str:
    """What changes with the program's own files."""
    folder = Path(rltui.__file__).parent
    files = sorted(path for path in folder.rglob("*") if path.suffix in (".py", ".toml"))
    stamps = [(str(path), (status := path.stat()).st_size, status.st_mtime_ns) for path in files]
    return paths.digest(repr(stamps), 40)


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[MOST_FILES:]:
        path.unlink(missing_ok=True)

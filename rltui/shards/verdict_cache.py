"""Verdicts that are remembered, so that runs whose files did not change are not read again.

A verdict is taken from the cache only where nothing speaks against it: every log and console of its run has
the size, times, inode, first and last bytes that it had before it was read; nothing was written so shortly
before that a later write could bear the same time; program, configuration and time zone are the same; and
the run is still as live, stalled or ended as it was. Where that holds of all runs, and no folder has changed,
the plan of the runs is not made again either.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

import orjson

import rltui
from rltui import paths
from rltui.config import Config
from rltui.shards.file_marks import mark_of_all
from rltui.shards.plan import Plan, RunPlan
from rltui.shards.remembered_plan import read_plan, write_plan
from rltui.shards.verdict import TagSets, Verdict, as_plain, from_plain

MOST_FILES = 64  # LOGDIRs whose verdicts are kept, those judged last


class VerdictCache:
    """The verdicts that were remembered for some LOGDIRs. Reads and writes one private file."""

    def __init__(self, logdirs: Sequence[str], config: Config) -> None:
        self._path = paths.of_logdirs("verdicts", logdirs, cached=True)
        zone = [*time.tzname, os.environ.get("TZ", "")]
        self._about = paths.digest(repr((rltui.__version__, _program(), zone, config)))
        self._logdirs = tuple(logdirs)
        self._known: dict[str, tuple[str, Verdict]] = {}  # by run: key, verdict
        self._keys: dict[str, str] = {}
        self._plan = b"null"
        self._planned: dict[str, str] = {}  # the keys of the runs of that plan
        self._load()

    def plan(self, now: float) -> Plan | None:
        """The plan of all runs where nothing at all has changed since. now: seconds since 1970."""
        plan = read_plan(self._plan, self._logdirs, now) if self._planned else None
        if plan is None:
            return None
        for run in plan.runs:
            key = _key(run, now)
            if key is None or self._planned.get(run.name) != key:
                self._keys.clear()
                return None
            self._keys[run.name] = key
        return plan

    def read(self, runs: Iterable[RunPlan], now: float) -> dict[str, Verdict]:
        """The verdicts of these runs that still hold, by run. now: seconds since 1970."""
        found = {}
        for run in runs:
            key = self._keys.get(run.name) or _key(run, now)
            if key is None:
                continue
            self._keys[run.name] = key
            known = self._known.get(run.name)
            if known is None or known[0] != key:
                continue
            verdict = known[1]
            if verdict.pace.at(now).state == verdict.liveness.state:
                found[run.name] = verdict._replace(now=now)
        return found

    def write(self, verdicts: Iterable[Verdict], plan: Plan | None, now: float) -> None:
        """Remember verdicts of runs that `read` was asked for.

        plan: of all runs that are left; None: of some. now: before it was made, seconds since 1970.
        """
        changed = {
            verdict.run: (key, verdict)
            for verdict in verdicts
            if (key := self._keys.get(verdict.run)) is not None
            # Without points the silence of its consoles decides, from one minute to the next.
            and (verdict.points or not verdict.consoles)
            and self._known.get(verdict.run, ("",))[0] != key
        }
        kept, new = self._known, False
        if plan is not None:
            kept = {run.name: self._known[run.name] for run in plan.runs if run.name in self._known}
            new = self._take(plan, now)
        if self._path is None or not (changed or new or len(kept) < len(self._known)):
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: they are judged again
            paths.make_private(self._path.parent)
            with paths.atomic_file(self._path, mode=0o600, sync=False) as file:
                file.writelines(self._lines({**kept, **changed}))
            _remove_oldest(self._path.parent)

    def _take(self, plan: Plan, now: float) -> bool:
        """Remember a plan, if it will be known whether it still holds; whether it is another one."""
        if self._keys == self._planned or any(run.name not in self._keys for run in plan.runs):
            return False
        data = write_plan(plan, self._logdirs, now)
        if data is None:
            return False
        self._plan, self._planned = data, dict(self._keys)
        return True

    def _lines(self, known: Mapping[str, tuple[str, Verdict]]) -> Iterator[bytes]:
        sets = TagSets()
        for _, verdict in known.values():
            if verdict.life is not None:
                sets.number(verdict.life.tags)
        yield orjson.dumps([self._about, sets.as_plain(), self._planned], option=orjson.OPT_APPEND_NEWLINE)
        yield self._plan + b"\n"
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
                about, tags, planned = orjson.loads(file.readline())
                if about != self._about:
                    return
                sets, plan = TagSets(tags), file.readline()
                for line in file:
                    key, plain = orjson.loads(line)
                    self._known[plain["run"]] = (key, from_plain(plain, sets))
            self._plan, self._planned = plan.rstrip(), planned
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            self._known.clear()  # not there, or not whole: as good as none


def _key(run: RunPlan, now: float) -> str | None:
    """What changes when the run may have changed; None where that cannot be told."""
    if run.deliveries:
        return None
    mark = mark_of_all(run.files(), now)
    if mark is None:
        return None
    logs = [
        (log.run, log.also_of, repr(log.tag_map) if log.tag_map else "", log.found.path) for log in run.logs
    ]
    return paths.digest(repr((run.namesakes, logs, mark)), 40)


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

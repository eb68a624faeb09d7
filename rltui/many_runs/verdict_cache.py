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
from rltui.common import paths
from rltui.config import Config
from rltui.many_runs.file_marks import Mark, mark_of
from rltui.many_runs.plan import Plan, RunPlan
from rltui.many_runs.remembered_plan import read_plan, write_plan
from rltui.many_runs.verdict import TagSets, Verdict, as_plain, from_plain
from rltui.schema.value_cache import file_stamps

MAX_CACHE_FILES = 64  # LOGDIRs whose verdicts are kept, those judged last


class VerdictCache:
    """The verdicts that were remembered for some LOGDIRs. Reads and writes one private file.

    now: before anything is asked of the LOGDIRs, seconds since 1970; verdicts are those of then.
    """

    def __init__(self, logdirs: Sequence[str], config: Config, now: float) -> None:
        self._path = paths.file_for_logdirs("verdicts", logdirs, cached=True)
        zone = [*time.tzname, os.environ.get("TZ", "")]
        self._about = paths.digest(repr((rltui.__version__, _program(), zone, config)))
        self._logdirs = tuple(logdirs)
        self._now = now
        self._known: dict[str, tuple[str, Verdict]] = {}  # by run: key, verdict
        self._keys: dict[str, Mark] = {}
        self._plan = b"null"
        self._planned: dict[str, str] = {}  # the keys of the runs of that plan
        self.compared = False  # whether all sisters were compared with each other when it was written
        self._load()

    def plan(self) -> Plan | None:
        """The plan of all runs where nothing at all has changed since."""
        plan = read_plan(self._plan, self._logdirs, self._now) if self._planned else None
        if plan is None:
            return None
        for run in plan.runs:
            key = _key(run)
            if key is None or self._planned.get(run.name) != key.digest:
                self._keys.clear()
                return None
            self._keys[run.name] = key
        return plan

    def read(self, runs: Iterable[RunPlan]) -> dict[str, Verdict]:
        """The verdicts of these runs that still hold, by run."""
        found = {}
        for run in runs:
            key = self._keys.get(run.name) or _key(run)
            if key is None:
                continue
            self._keys[run.name] = key
            digest, verdict = self._known.get(run.name, ("", None))
            if verdict is not None and digest == key.digest:
                found[run.name] = verdict
        return found

    def write(self, verdicts: Sequence[Verdict], plan: Plan | None) -> None:
        """Remember verdicts of runs that `read` was asked for.

        plan: of all runs that are left; None: of some.
        """
        changed = {
            verdict.run: (key.digest, verdict)
            for verdict in verdicts
            if (key := self._keys.get(verdict.run)) is not None
            # Without points the silence of its consoles decides, from one minute to the next.
            and (verdict.points or not verdict.consoles)
            and self._known.get(verdict.run, ("",))[0] != key.digest
        }
        kept, new = self._known, False
        if plan is not None:
            told = {verdict.run: verdict for verdict in verdicts}  # beside all of their sisters
            kept = {name: (key, told[name]) for name, (key, _) in self._known.items() if name in told}
            new = self._take(plan) or not self.compared
        self.compared = plan is not None
        if self._path is None or not (changed or new or len(kept) < len(self._known)):
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: they are judged again
            paths.make_private(self._path.parent)
            with paths.atomic_file(self._path, mode=0o600, sync=False) as file:
                file.writelines(self._lines({**kept, **changed}))
            _remove_oldest(self._path.parent)

    def _take(self, plan: Plan) -> bool:
        """Remember a plan, if it will be known whether it still holds; whether it is another one."""
        planned = {name: key.digest for name, key in self._keys.items() if key.is_before(self._now)}
        if planned == self._planned or any(run.name not in planned for run in plan.runs):
            return False
        data = write_plan(plan, self._logdirs, self._now)
        if data is None:
            return False
        self._plan, self._planned = data, planned
        return True

    def _lines(self, known: Mapping[str, tuple[str, Verdict]]) -> Iterator[bytes]:
        sets = TagSets()
        for _, verdict in known.values():
            if verdict.life is not None:
                sets.number(verdict.life.tags)
        head = [self._about, sets.as_plain(), self._planned, self.compared]
        yield orjson.dumps(head, option=orjson.OPT_APPEND_NEWLINE)
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
                about, tags, planned, self.compared = orjson.loads(file.readline())
                if about != self._about:
                    return
                sets, plan = TagSets(tags), file.readline()
                for line in file:
                    key, plain = orjson.loads(line)
                    verdict = from_plain(plain, sets)
                    if verdict.pace.at(self._now).state == verdict.liveness.state:
                        self._known[verdict.run] = (key, verdict._replace(now=self._now))
            self._plan, self._planned = plan.rstrip(), planned
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            self._known.clear()  # not there, or not whole: as good as none


def _key(run: RunPlan) -> Mark | None:
    """What changes when the run may have changed; None where that cannot be told."""
    if run.deliveries:
        return None
    logs = [
        (log.run, log.duplicate_of, repr(log.tag_map) if log.tag_map else "", log.found.path)
        for log in run.logs
    ]
    return mark_of(run.files(), repr((run.namesakes, logs)))


def _is_private(status: os.stat_result) -> bool:
    """Whether only the user can have written a file."""
    return status.st_uid == os.geteuid() and not status.st_mode & 0o022


@cache
def _program() -> str:
    """What changes with the program's own files."""
    folders = sorted(folder for folder, _, _ in os.walk(Path(rltui.__file__).parent))
    return paths.digest(repr([(folder, file_stamps(Path(folder))) for folder in folders]), 40)


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[MAX_CACHE_FILES:]:
        path.unlink(missing_ok=True)

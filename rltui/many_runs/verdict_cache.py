"""A cache of verdicts, so that runs whose files did not change are not read again.

A verdict is valid if every file behind it has the size, times, inode, first and last bytes that it had
before it was read; none was written so recently that a later write could have the same time stamp; program,
configuration and time zone are the same; and the run still has the same state (live, stalled, ended, over).
If all verdicts are valid and no folder has changed, the plan of the runs is valid, too.
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
from rltui.common import writable_paths
from rltui.common.digest import digest
from rltui.config import Config
from rltui.many_runs.cached_plan import read_plan, write_plan
from rltui.many_runs.file_marks import Mark, mark_of
from rltui.many_runs.plan import Plan, RunPlan
from rltui.many_runs.verdict import TagSets, Verdict, as_plain, from_plain
from rltui.schema.value_cache import file_stamps

MAX_CACHE_FILES = 64  # of the LOGDIRs evaluated last


class VerdictCache:
    """The cached verdicts of some LOGDIRs. Reads and writes one private file.

    now: seconds since 1970, before the LOGDIRs are searched; the verdicts are as of then.
    """

    def __init__(self, logdirs: Sequence[str], config: Config, now: float) -> None:
        self._path = writable_paths.file_for_logdirs("verdicts", logdirs, cached=True)
        zone = [*time.tzname, os.environ.get("TZ", "")]
        self._about = digest(repr((rltui.__version__, _program(), zone, config)))
        self._logdirs = tuple(logdirs)
        self._now = now
        self._known: dict[str, tuple[str, Verdict]] = {}  # by run: key, verdict
        self._keys: dict[str, Mark] = {}
        self._plan = b"null"
        self._planned: dict[str, str] = {}  # the keys of its runs
        self.compared = False  # whether the findings include those of the comparison of all sister runs
        self._load()

    def plan(self) -> Plan | None:
        """The plan of all runs if nothing has changed since."""
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
        """The valid verdicts of these runs, by run."""
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
        """Cache verdicts of runs that were passed to `read`.

        plan: of all runs; None if these are only some.
        """
        changed = {
            verdict.run: (key.digest, verdict)
            for verdict in verdicts
            if (key := self._keys.get(verdict.run)) is not None
            # Without points the state depends on how long its consoles have been silent.
            and (verdict.points or not verdict.consoles)
            and self._known.get(verdict.run, ("",))[0] != key.digest
        }
        kept, new = self._known, False
        if plan is not None:
            latest = {verdict.run: verdict for verdict in verdicts}  # compared with all their sisters
            kept = {name: (key, latest[name]) for name, (key, _) in self._known.items() if name in latest}
            new = self._keep_plan(plan) or not self.compared
        self.compared = plan is not None
        if self._path is None or not (changed or new or len(kept) < len(self._known)):
            return
        with contextlib.suppress(OSError):  # a full or read-only disk: the runs are evaluated again
            writable_paths.make_private(self._path.parent)
            with writable_paths.atomic_file(self._path, mode=0o600, sync=False) as file:
                file.writelines(self._lines({**kept, **changed}))
            _remove_oldest(self._path.parent)

    def _keep_plan(self, plan: Plan) -> bool:
        """Keep a plan, if its validity can be checked later. True if it is a new one."""
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
                    now, then = verdict.pace.at(self._now), verdict.liveness
                    if (now.state, now.over) == (then.state, then.over):
                        self._known[verdict.run] = (key, verdict._replace(now=self._now))
            self._plan, self._planned = plan.rstrip(), planned
        except (OSError, ValueError, KeyError, TypeError, IndexError):
            self._known.clear()  # missing or damaged: as if it were empty


def _key(run: RunPlan) -> Mark | None:
    """The mark of the files of a run; None if it is unreliable."""
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
    """A digest of the program's own files."""
    folders = sorted(folder for folder, _, _ in os.walk(Path(rltui.__file__).parent))
    return digest(repr([(folder, file_stamps(Path(folder))) for folder in folders]), 40)


def _remove_oldest(folder: Path) -> None:
    files = sorted(folder.glob("*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[MAX_CACHE_FILES:]:
        path.unlink(missing_ok=True)

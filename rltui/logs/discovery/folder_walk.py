"""Walks the folders below the LOGDIRs to find log files by their names."""

from __future__ import annotations

import errno
import os
import posixpath
import stat
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from rltui.common.display_text import clean, quote
from rltui.common.problem import Problem
from rltui.logs.discovery.logdir_roots import Root
from rltui.logs.file_calls import Calls
from rltui.logs.formats.container import Part
from rltui.logs.formats.interface import HEAD
from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.found_file import FoundFile, VisitedPaths
from rltui.logs.log_file_names import (
    CHECKPOINT,
    TRAINER_STATE,
    has_no_ending,
    is_entered,
    is_metrics_log,
    is_telling,
    names,
)
from rltui.logs.run_names import RunName, run_name

DEEPEST = 48  # levels of folders below LOGDIR
_MAX_CHECKPOINTS = 4  # folders of the newest checkpoints that are searched for a history
# Files without an ending that are opened to see whether they are logs: of a folder, and below all LOGDIRs. A
# program leaves one or two in a folder; in larger numbers they are objects of a store.
MAX_OPENED_IN_FOLDER, MAX_OPENED = 8, 128
PAUSE_EVERY = 256  # directory entries between two points at which a walk can stop
YOUNG = 2.0  # seconds in which a folder may change without a new time stamp (ticks, 2 s on FAT)


Item = FoundFile | Problem | None  # what a walk yields; None is a point at which it can stop for a while


@dataclass(slots=True)
class _Folder:
    place: str
    shown: str  # relative to LOGDIR with the root's prefix, not cleaned
    root: Root
    real: str  # without links
    depth: int
    device: int = 0
    changed_ns: int = -1  # time stamp at the last listing; -1: list again
    found: dict[str, FoundFile] = field(default_factory=dict)
    folders: list[str] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    containers: dict[str, tuple[int, ...]] = field(default_factory=dict)  # name: stamp when it was listed
    opened: dict[str, tuple[int, bool]] = field(default_factory=dict)  # name: size when opened, whether a log
    claimed: set[str] = field(default_factory=set)  # names of containers
    contained: set[str] = field(default_factory=set)  # folders that belong to containers
    entered: list[_Folder] | None = None  # of `folders`, the last one first; None: unknown
    names: int | None = None  # hash of the names of its entries at the last listing
    files: int = 0  # number of its entries that are no folders
    key: str = field(init=False)

    def __post_init__(self) -> None:
        self.key = _key(self.place, self.root)


@dataclass(slots=True)
class _WalkState:
    """The folders that one walk still has to visit, and what it has found."""

    stack: list[_Folder]
    links: list[tuple[_Folder, str]] = field(default_factory=list)  # the folder and the link's name
    seen: set[tuple[int, int]] = field(default_factory=set)  # device and inode of folders
    visited: list[_Folder] = field(default_factory=list)
    reals: set[str] = field(default_factory=set)  # paths without links of logs, of folders visited before
    present: set[str] = field(default_factory=set)
    waiting: list[str] = field(default_factory=list)

    def descend(self, folder: _Folder) -> None:
        """Continue with the sub-folders of a folder; links are followed at the end of the walk."""
        self.links += [(folder, name) for name in folder.links]
        if folder.entered is None:
            walked = [name for name in reversed(folder.folders) if name not in folder.contained]
            folder.entered = [
                _below(folder, name, f"{folder.real}/{name}")
                for name in walked
                if is_entered(name, folder.place if folder.depth else "")
            ]
        self.stack += folder.entered

    def real_logs(self) -> set[str]:
        """The paths without links of logs found so far, to which links may lead."""
        for folder in self.visited:
            self.reals.update(f"{folder.real}/{name}" for name in folder.found)
        self.visited.clear()
        return self.reals


class FolderWalker:
    """Repeated walks over the LOGDIRs. A walk after the first lists only folders that changed.

    wanted: whether a file with that base name is searched for. formats: for logs, which are also in
    containers and in checkpoints of a Trainer; None for other files.
    """

    def __init__(
        self,
        roots: Sequence[Root],
        wanted: Callable[[str], bool],
        formats: FormatRegistry | None = None,
        *,
        trust_times: bool = True,
        wall: Callable[[], float] = time.time,
    ) -> None:
        self.roots = tuple(roots)
        self._is_wanted = wanted
        self._formats = formats
        self._trust = trust_times  # false on network file systems, which cache attributes of folders
        self._wall = wall
        self._known: dict[str, _Folder] = {}
        self._problems: dict[str, Problem] = {}
        self.skipped: set[str] = set()  # folders whose listing has not returned
        self.changes = 0  # number of walks after which there may have been other files than before
        self._changed = False
        self._targets: dict[str, tuple[int, int] | None] = {}  # device and inode, by path of a link
        self.waiting: tuple[str, ...] = ()
        self.counts: tuple[int, int] | None = None  # of files and folders in the last walk
        self._opened = 0  # files without an ending

    def visited_paths(self) -> VisitedPaths:
        """The known folders and the containers in them."""
        known = self._known.values()
        # The target of a link may change without its folder; what cannot be read may become readable.
        certain = not (any(each.links for each in known) or self._problems or self.skipped or self.waiting)
        containers = [f"{each.place}/{name}" for each in known for name in each.containers]
        # What is no log now may become one.
        opened = [
            f"{each.place}/{name}"
            for each in known
            for name, (_, is_log) in each.opened.items()
            if not is_log
        ]
        return VisitedPaths(tuple(each.place for each in known), (*containers, *opened), certain)

    def walk(self, calls: Calls, *, full: bool = False) -> Iterator[Item]:
        """One walk: the logs in folders that changed (in all, if `full`), and each problem once.

        None is a point at which the walk can stop for a while; a resolved problem is repeated as `healed`.
        Each folder is visited once. Links are followed last, so that a log has its path without links. Raises
        GivenUpError only.
        """
        state = _WalkState(self._starts(calls))
        while state.stack or state.links:
            if state.stack:
                folder: _Folder | None = state.stack.pop()
            else:
                folder = yield from self._resolve(*state.links.pop(0), state.real_logs(), calls)
            known = (yield from self._enter(folder, state, calls, full)) if folder is not None else None
            if known is None:
                continue
            state.visited.append(known)
            self._changed = self._changed or bool(known.contained)  # folders of containers are not walked
            yield None
            if known.root.only is None:
                state.descend(known)
        gone = self._known.keys() - state.present
        for key in gone:
            folder = self._known.pop(key)
            folder.changed_ns, folder.names = -1, None
        self.waiting = tuple(state.waiting)
        self.counts = (sum(each.files for each in self._known.values()), len(self._known))
        if self._changed or gone or self.skipped:
            self.changes += 1
            self._changed = False

    def all_found(self) -> list[FoundFile]:
        """Walk, and return all known files in the order of their paths."""
        for _ in self.walk(Calls()):
            pass
        folders = reversed(self._known.values())  # of a file in two LOGDIRs, the first path counts
        found = {each.place: each for known in folders for each in known.found.values()}
        return sorted(found.values(), key=lambda each: each.path)

    def _starts(self, calls: Calls) -> list[_Folder]:
        """The folders of the LOGDIRs, the last one first."""
        return [
            self._known.get(_key(root.place, root))
            or _Folder(
                root.place,
                root.prefix.rstrip("/"),
                root,
                calls.run(root.place, os.path.realpath, root.place),
                0,
            )
            for root in reversed(self.roots)
            if root.place not in self.skipped
        ]

    def _enter(
        self, folder: _Folder, state: _WalkState, calls: Calls, full: bool
    ) -> Generator[Item, None, _Folder | None]:
        """Visit a folder, and list it if it changed. Returns the folder.

        Returns None if it is too deep, was visited before, or cannot be read.
        """
        root = folder.root
        if folder.depth > DEEPEST or folder.place in self.skipped:
            return None
        try:
            status = calls.run(folder.place, os.stat, folder.place)
        except OSError as error:
            if folder.depth == 0 and error.errno in (errno.ENOENT, errno.ENOTDIR):
                state.waiting.append(root.given)
            else:
                yield from self._failed(folder.place, folder.shown, error)
            return None
        number = (status.st_dev, status.st_ino)
        if root.only is None:
            if number in state.seen:
                return None
            state.seen.add(number)
        state.present.add(folder.key)
        known = self._known.setdefault(folder.key, folder)
        known.device = status.st_dev
        if full or not self._trust or known.changed_ns != status.st_mtime_ns:
            young = self._wall() - status.st_mtime < YOUNG
            complete = yield from self._list(known, calls)
            known.changed_ns = status.st_mtime_ns if complete and not young else -1
        elif known.containers:
            yield from self._relist_containers(known, calls)
        return known

    def _list(self, folder: _Folder, calls: Calls) -> Generator[Item, None, bool]:
        """List one folder again; returns whether the listing is complete."""
        names: set[str] = set()
        folders: list[str] = []
        links: list[str] = []
        without_ending: list[str] = []
        found: dict[str, FoundFile] = {}
        only = folder.root.only
        entries = yield from self._entries(folder, calls)
        if entries is None:
            return False
        for entry in entries:
            name, is_folder = entry.name, entry.is_dir(follow_symlinks=False)
            names.add(f"{name}/" if is_folder else name)
            if (only is not None and name != only) or (name[:1] == "." and not is_entered(name)):
                continue
            is_file = entry.is_file(follow_symlinks=False)
            if (is_folder or is_file) and (yield from self._list_parts(folder, name, found, calls)):
                continue
            if entry.is_symlink():
                links.append(name)
                if only is not None:
                    yield self._found(folder, name, found)
            elif is_folder:
                folders.append(name)
            elif self._wanted(folder, name):
                if is_file:
                    yield self._found(folder, name, found)
                else:
                    yield from self._not_a_file(folder, name)
            elif is_file and only is None and has_no_ending(name):
                without_ending.append(name)
        yield from self._look_into(folder, without_ending, found, calls)
        complete = True
        if self._formats is not None and only is None and not any(map(is_metrics_log, found)):
            complete = yield from self._list_newest_state(folder, folders, found, calls)
        folder.found, folder.links = found, links
        folder.folders, folder.entered = sorted(folders), None
        known, folder.names = folder.names, hash(frozenset(names))
        folder.files = sum(not name.endswith("/") for name in names if only in (None, name))
        self._changed = self._changed or known != folder.names
        yield from self._healed(folder.place)
        return complete

    def _entries(self, folder: _Folder, calls: Calls) -> Generator[Item, None, list[os.DirEntry[str]] | None]:
        """The entries of a folder; None if it cannot be listed."""
        found: list[os.DirEntry[str]] = []
        try:
            with calls.run(folder.place, os.scandir, folder.place) as entries:
                while some := calls.run(folder.place, lambda: list(islice(entries, PAUSE_EVERY))):
                    found += some
                    yield None
        except OSError as error:
            yield from self._failed(folder.place, folder.shown, error)
            return None
        return found

    def _list_newest_state(
        self, folder: _Folder, folders: Sequence[str], found: dict[str, FoundFile], calls: Calls
    ) -> Generator[Item, None, bool]:
        """The newest `checkpoint-<step>/trainer_state.json`, which has the history of the run so far.

        Only for a folder without another log. Returns False if a newer checkpoint has none yet: a Trainer
        writes it last. An empty one, as a full disk leaves it, is taken only if there is no other.
        """
        by_step = sorted(
            ((int(match[1]), name) for name in folders if (match := CHECKPOINT.fullmatch(name))), reverse=True
        )
        chosen = ""
        for _, name in by_step[:_MAX_CHECKPOINTS]:
            place = f"{folder.place}/{name}/{TRAINER_STATE}"
            try:
                size = calls.run(place, os.stat, place).st_size
            except OSError:
                continue
            if size:
                chosen = name
                break
            chosen = chosen or name
        if not chosen:
            return True
        yield self._found(folder, f"{chosen}/{TRAINER_STATE}", found, run_name(folder.shown, TRAINER_STATE))
        return chosen == by_step[0][1]

    def _wanted(self, folder: _Folder, name: str) -> bool:
        """Whether a file is searched for: LOGDIR itself, or a file that may be a log of a training."""
        if name == folder.root.only:
            return True
        return self._is_wanted(name) and not names().no_runs.search(_shown(folder, name))

    def _look_into(
        self, folder: _Folder, names: Sequence[str], found: dict[str, FoundFile], calls: Calls
    ) -> Iterator[Item]:
        """The logs among the files without an ending, by their first bytes: those of telling names first."""
        if self._formats is None or not names:
            return
        folder.opened = {name: known for name, known in folder.opened.items() if name in names}
        for name in sorted(names, key=lambda name: (not is_telling(name), name)):
            size, is_log = folder.opened.get(name, (-1, False))
            if size < 0 and (len(folder.opened) >= MAX_OPENED_IN_FOLDER or self._opened >= MAX_OPENED):
                yield from self._not_opened(folder)
                break
            if not is_log and size < HEAD:
                self._opened += size < 0
                head = self._head_of(f"{folder.place}/{name}", calls)
                is_log = self._formats.recognise_content(head) is not None
                folder.opened[name] = len(head), is_log
            if is_log:
                yield self._found(folder, name, found, by_content=True)

    def _head_of(self, place: str, calls: Calls) -> bytes:
        """The first bytes of a file; empty if it cannot be read, which is no problem: it may be anything."""
        try:
            return calls.run(place, _read_head, place)
        except OSError:
            return b""

    def _not_opened(self, folder: _Folder) -> Iterator[Problem]:
        place = f"{folder.place}/*"
        if place not in self._problems:
            message = (
                "has more files without an ending than are opened in search of logs; name one to read it"
            )
            self._problems[place] = Problem("info", "not-opened", clean(folder.shown) or ".", message)
            yield self._problems[place]

    def _list_parts(
        self, folder: _Folder, name: str, found: dict[str, FoundFile], calls: Calls
    ) -> Generator[Item, None, bool]:
        """The runs of a container; returns whether it is one."""
        place = f"{folder.place}/{name}"
        if self._formats is None or not self._formats.could_be_container(place):
            return False
        try:
            stamp = calls.run(place, _container_stamp, place)
            listed = calls.run(place, self._formats.parts, place)
        except OSError as error:
            yield from self._failed(place, _shown(folder, name), error)
            return True
        folder.containers[name] = stamp
        if listed is None or (listed.includes_neighbours and folder.root.only is not None):
            folder.claimed.discard(name)
            return False
        folder.claimed.add(name)
        yield from self._healed(place)
        folder.contained.update(listed.folders)
        folder.entered = None
        for part in listed.parts:
            yield self._found_part(folder, name, part, found)
        return True

    def _relist_containers(self, folder: _Folder, calls: Calls) -> Iterator[Item]:
        """List containers that changed again, since they may have new runs."""
        for name, seen in list(folder.containers.items()):
            place = f"{folder.place}/{name}"
            try:
                changed = calls.run(place, _container_stamp, place) != seen
            except OSError:
                continue  # it was deleted: its folder will be listed
            if not changed:
                continue
            self._changed = True
            before = name in folder.claimed
            if before != (yield from self._list_parts(folder, name, folder.found, calls)):
                yield from self._list(folder, calls)  # it became an ordinary file, or a container
                return

    def _found_part(
        self, folder: _Folder, name: str, part: Part[Any], found: dict[str, FoundFile]
    ) -> FoundFile:
        run = posixpath.normpath(posixpath.join(folder.shown, part.run))
        while run.startswith("../"):
            run = run[3:]
        shown = f"{name}[{part.key}]" if part.key else name
        return self._found(folder, shown, found, RunName(clean(run) or ".", None), part)

    def _found(
        self,
        folder: _Folder,
        name: str,
        found: dict[str, FoundFile],
        run: RunName | None = None,
        part: Part[Any] | None = None,
        *,
        by_content: bool = False,
    ) -> FoundFile:
        """The file in a folder, as it was found before or new. run: None for the one by its name."""
        log = folder.found.get(name)
        if log is None:
            below, _, base = name.rpartition("/") if part is None else ("", "", name)
            by_name = run or run_name(folder.shown, name)
            log = FoundFile(
                place=f"{folder.place}/{name}",
                path=clean(_shown(folder, name)),
                folder=clean(_shown(folder, below) if below else folder.shown),
                name=base,
                run=by_name.run,
                rank=by_name.rank,
                device=folder.device,
                explicit=by_content or (part is None and folder.root.only == name),
                part=part,
            )
        found[name] = log
        return log

    def _resolve(
        self, parent: _Folder, name: str, reals: set[str], calls: Calls
    ) -> Generator[Item, None, _Folder | None]:
        """Follow a link: returns a folder to visit, or None."""
        place = f"{parent.place}/{name}"
        if place in self.skipped:
            return None
        before, self._targets[place] = self._targets.get(place), None
        try:
            status = calls.run(place, os.stat, place)
            real = calls.run(place, os.path.realpath, place)
        except OSError as error:
            self._changed = self._changed or before is not None
            if self._wanted(parent, name):
                yield from self._failed(place, _shown(parent, name), error)
            return None
        mode, self._targets[place] = status.st_mode, (status.st_dev, status.st_ino)
        self._changed = self._changed or before != self._targets[place]
        if stat.S_ISDIR(mode):
            return _below(parent, name, real) if is_entered(name) else None
        if self._wanted(parent, name) and real not in reals:
            reals.add(real)
            if stat.S_ISREG(mode):
                yield from self._healed(place)
                yield self._found(parent, name, parent.found)
            else:
                yield from self._not_a_file(parent, name)
        return None

    def _not_a_file(self, folder: _Folder, name: str) -> Iterator[Problem]:
        place = f"{folder.place}/{name}"
        if place not in self._problems:
            path = clean(_shown(folder, name))
            what = "named like a log, but not a regular file (a FIFO, socket or device): not read"
            self._problems[place] = Problem("info", "not-a-file", path, what)
            yield self._problems[place]

    def _failed(self, place: str, shown: str, error: OSError) -> Iterator[Problem]:
        if place in self._problems:
            return
        path = clean(shown) or "."
        if error.errno == errno.ENOENT:
            problem = Problem("info", "dangling-link", path, "is a link to something that does not exist")
        else:
            reason = quote(error.strerror or str(error))
            problem = Problem(
                "warning", "unreadable", path, f"cannot be read: {reason}; nothing else is affected"
            )
        self._problems[place] = problem
        yield problem

    def _healed(self, place: str) -> Iterator[Problem]:
        problem = self._problems.pop(place, None)
        if problem is not None:
            yield Problem(problem.level, problem.code, problem.path, "can be read again", healed=True)


def _read_head(place: str) -> bytes:
    """The first bytes of a file. Raises OSError."""
    with open(place, "rb", buffering=0) as file:  # noqa: PTH123 - a string is what is kept
        return file.read(HEAD)


def _container_stamp(place: str) -> tuple[int, ...]:
    """Size and modification time of a container, and of the WAL of a database. Raises OSError."""
    status = os.stat(place)  # noqa: PTH116 - a string is what is kept
    try:
        wal = os.stat(f"{place}-wal")  # noqa: PTH116
    except OSError:
        return (status.st_size, status.st_mtime_ns)
    return (status.st_size, status.st_mtime_ns, wal.st_size, wal.st_mtime_ns)


def _key(place: str, root: Root) -> str:
    return f"{place}\0{root.only or ''}"


def _shown(folder: _Folder, name: str) -> str:
    return f"{folder.shown}/{name}" if folder.shown else name


def _below(parent: _Folder, name: str, real: str) -> _Folder:
    return _Folder(f"{parent.place}/{name}", _shown(parent, name), parent.root, real, parent.depth + 1)

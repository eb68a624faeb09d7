"""The local mirror of a remote folder: new content is fetched into files that readers follow.

An object that grew is read from the end of its copy, after its first bytes and those before that offset were
compared. The copy grows in place, as the file of a trainer does; it is replaced when another object with the
same name has been fetched completely, and deleted with its object. So readers follow a remote run like a
local one.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from pathlib import Path

from rltui.common import writable_paths
from rltui.common.display_text import clean, quote
from rltui.common.named_tuple import NamedTuple
from rltui.common.problem import Problem
from rltui.draw.numbers import format_bytes
from rltui.logs import local_file
from rltui.logs.formats.registry import REGISTRY
from rltui.logs.log_file_names import is_entered, names
from rltui.logs.remote.manifest import Manifest
from rltui.logs.remote.object_store import MissingObjectError, ObjectStore, StoredObject, StoreError
from rltui.logs.remote.transfer import Transfer, next_transfers
from rltui.logs.sample_layouts.layouts import match_layout, unread_reason

SMALL = 1 << 20  # bytes up to which other files than logs are fetched: settings, notes, parts of containers
FEW = 3  # objects that are reported one by one
UNUSED = 30 * 86_400.0  # seconds after which an unused mirror is removed
EXTRA_SECONDS = 5.0  # seconds beyond the timeout after which another process counts as hanging
_SAVE_INTERVAL = 2.0  # seconds between two manifests during a long update


class Limits(NamedTuple):
    """Limits of mirrors. See `[remote]` of the configuration."""

    requests_per_hour: int
    disk: int  # bytes, of all mirrors together
    timeout: float  # seconds for one response


class Sync(NamedTuple):
    """The result of one update."""

    changed: bool = False  # whether the mirror changed
    requests: int = 0
    left: int = 0  # objects that are not up to date yet
    wait: float = 0.0  # seconds until the next request is allowed


class MirrorBusyError(StoreError):
    """Another process updates the mirror without progress."""


class Mirror:
    """The mirror of one URL. `sync` is called by one thread at a time, all else from any thread."""

    def __init__(self, url: str, limits: Limits, *, wall: Callable[[], float] = time.time) -> None:
        self.store = ObjectStore(url, limits.timeout)
        self.url = self.store.url
        self.limits = limits
        self.place = writable_paths.local_path(self.url)
        self.objects = 0  # number in the store, as of the last listing
        self.size = 0  # bytes of those that are mirrored
        self.synced = 0.0  # wall time of the last successful update
        self._wall = wall
        folder = writable_paths.mirror_folder(self.url)
        self._folder = folder if folder is not None else Path(os.devnull)
        self._manifest = Manifest(self._folder, self.url)
        self._problems: dict[tuple[str, str, int | None], Problem] = {}
        self._made: set[str] = set()  # folders that are known to exist
        self._pages = 1  # requests of the last listing
        self._checked = -1  # bytes for which disk space was freed

    @property
    def folder(self) -> Path:
        """Folder of the mirror and its manifest."""
        return self._folder

    @property
    def copied(self) -> int:
        """Bytes in the mirror."""
        return self._manifest.copied

    @property
    def requests_of_listing(self) -> int:
        """Number of requests of the last listing."""
        return self._pages

    def problems(self) -> tuple[Problem, ...]:
        """The problems of the last update."""
        return tuple(self._problems.values())

    def sync(self, progress: Callable[[int, int], object] | None = None) -> Sync:
        """List the store once, and fetch what changed. Raises StoreError if it cannot be read at all.

        progress: called with bytes fetched and bytes to fetch. Errors of single objects are in `problems`.
        """
        try:
            done = self._sync(progress)
        except StoreError as error:
            self._set_problems([self._problem("remote-unreadable", str(error))])
            raise
        except OSError as error:
            reason = quote(error.strerror or str(error))
            unwritable = StoreError(f"its mirror {self._folder} cannot be written: {reason}")
            self._set_problems([self._problem("remote-unreadable", str(unwritable))])
            raise unwritable from error
        self.synced = self._wall()
        return done

    # -- one update

    def _sync(self, progress: Callable[[int, int], object] | None) -> Sync:
        manifest, store, most = self._manifest, self.store, self.limits.requests_per_hour
        begun = store.requests
        with self._locked():
            if manifest.allowance.now(most, self._wall()) < min(self._pages, most):
                return self._limited(0, 0, self._pages)
        # Without the lock, so that no process waits for this one while it waits for the store.
        try:
            listed = store.objects()
        except MissingObjectError:
            listed = []
        finally:
            self._pages = max(1, store.requests - begun)
        with self._locked():
            manifest.allowance.left -= self._pages
            self.objects = len(listed)
            if any(each.key for each in listed):
                self._make_folder(self.place)
            problems: list[Problem] = []
            chosen = self._chosen(listed, problems)
            changed = self._remove({each.key for each in chosen})
            queue = deque(self._transfers(chosen))
            changed |= bool(queue)
            try:
                left, wait = self._fetch(queue, problems, progress)
            finally:
                manifest.write()
        requests = store.requests - begun
        if wait:
            return self._limited(requests, left, self._pages + 2, changed=changed, others=problems)
        self._set_problems(problems)
        return Sync(changed, requests, left)

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        """Hold the lock, with the present manifest. Raises MirrorBusyError if another process keeps it."""
        # Another process may itself wait for a response until the timeout.
        with self._manifest.locked(self.limits.timeout + EXTRA_SECONDS) as acquired:
            if not acquired:
                raise MirrorBusyError("another rltui fetches it and does not get on; look at that one")
            if self._manifest.read():
                self._forget_missing()
            yield

    def _limited(
        self, requests: int, left: int, wanted: int, *, changed: bool = False, others: Sequence[Problem] = ()
    ) -> Sync:
        most = self.limits.requests_per_hour
        wait = max(1.0, self._manifest.allowance.wait(wanted, most))
        what = f"{left:,} objects wait: " if left else ""
        message = f"{what}the limit of {most:,} requests an hour is reached; raise requests_per_hour for more"
        self._set_problems([*others, self._problem("remote-limit", message)])
        return Sync(changed, requests, left, wait)

    def _chosen(self, listed: Sequence[StoredObject], problems: list[Problem]) -> list[StoredObject]:
        """The objects to mirror, the newest first: those that rltui reads, within the limit of disk space."""
        read = [
            # Files that are never opened are only mirrored as empty files.
            each if unread_reason(each.key) is None else each._replace(size=0)
            for each in listed
            if not each.key or is_read(each.key, each.size)
        ]
        read.sort(key=lambda each: (-each.modified, each.key))
        needed = sum(each.size for each in read)
        if needed > self._checked:
            self._checked = needed
            self._make_room(needed)
        room = self.limits.disk - sum(_bytes_of(other) for other in self._others())
        chosen: list[StoredObject] = []
        for each in read:
            room -= each.size
            if room >= 0:
                chosen.append(each)
            else:
                room += each.size
        self.size = sum(each.size for each in chosen)
        if len(chosen) < len(read):
            rest, size = len(read) - len(chosen), needed - self.size
            message = (
                f"{rest:,} of {len(read):,} objects ({format_bytes(size)}, the oldest) are not read: mirrors "
                f"may take {format_bytes(self.limits.disk)}; raise disk_megabytes or name a folder below"
            )
            problems.append(self._problem("remote-disk", message))
        return chosen

    def _transfers(self, chosen: Sequence[StoredObject]) -> Iterator[Transfer]:
        for each in chosen:
            known = self._manifest.objects.get(each.key)
            if known is not None and (known.tag, known.have) == (each.tag, each.size):
                if known.modified != each.modified:  # written again with the same content
                    known.modified = each.modified
                    with contextlib.suppress(OSError):
                        os.utime(self._place_of(each.key), (each.modified, each.modified))
            else:
                yield Transfer(each, self._place_of(each.key), known, self._folder / "incoming")

    def _fetch(
        self,
        queue: deque[Transfer],
        problems: list[Problem],
        progress: Callable[[int, int], object] | None,
    ) -> tuple[int, float]:
        """Fetch all; returns the number of objects left, and the seconds to wait if a limit is reached.

        Small objects come first, large ones in pieces by turns. Raises StoreError if all requests fail.
        """
        manifest = self._manifest
        total = sum(each.left for each in queue)
        fetched = taken = 0
        refused: list[tuple[Transfer, StoreError]] = []
        saved = time.monotonic()
        try:
            while queue:
                allowed = manifest.allowance.now(self.limits.requests_per_hour, self._wall())
                batch = next_transfers(queue, int(allowed))
                if not batch:
                    return len(queue) + len(refused), 1.0
                failed = []
                for transfer, answer in self._request(batch, queue):
                    if not isinstance(answer, StoreError):
                        fetched += sum(map(len, answer))
                        taken += 1
                        self._take(transfer, answer, queue, problems)
                        continue
                    transfer.end()
                    if not isinstance(answer, MissingObjectError):  # which the next listing will lack
                        failed.append((transfer, answer))
                refused += failed
                if len(failed) == len(batch) and (len(batch) >= FEW or not taken):
                    raise StoreError(f"{failed[-1][1]}; {len(queue) + len(refused):,} objects wait for it")
                if progress is not None:
                    progress(fetched, max(total, fetched))
                if time.monotonic() - saved > _SAVE_INTERVAL:
                    manifest.write()
                    saved = time.monotonic()
        finally:
            for transfer in queue:
                transfer.end()
        problems += self._unread(refused)
        return len(refused), 0.0

    def _request(
        self, batch: Sequence[tuple[Transfer, Sequence[tuple[int, int]]]], queue: deque[Transfer]
    ) -> Iterator[tuple[Transfer, list[bytes] | StoreError]]:
        """Read the ranges of each transfer: their bytes, or the first error. Raises StoreError."""
        ranges = [(one.object.key, begin, end) for one, asked in batch for begin, end in asked]
        self._manifest.allowance.left -= len(ranges)
        queue.extendleft(one for one, _ in reversed(batch))  # in case that the store fails
        answers = iter(self.store.read(ranges))
        for _ in batch:
            queue.popleft()
        for transfer, asked in batch:
            own = list(islice(answers, len(asked)))
            error = next((each for each in own if isinstance(each, StoreError)), None)
            yield transfer, error or [each for each in own if isinstance(each, bytes)]

    def _take(
        self, transfer: Transfer, data: Sequence[bytes], queue: deque[Transfer], problems: list[Problem]
    ) -> None:
        try:
            self._make_folder(transfer.place.rpartition("/")[0])
            self._make_folder(str(self._folder / "incoming"))
            copied = transfer.take(data)
        except (NotADirectoryError, IsADirectoryError, FileExistsError, ValueError) as error:
            transfer.end()
            reason = quote(getattr(error, "strerror", None) or str(error))
            path = clean(transfer.object.key)
            message = f"has no local copy, for its name is that of another one's folder ({reason}); not read"
            problems.append(Problem("warning", "unreadable", path, message))
            return
        if copied is not None:
            self._manifest.objects[transfer.object.key] = copied
        if transfer.left:
            queue.append(transfer)

    def _unread(self, refused: Sequence[tuple[Transfer, StoreError]]) -> Iterator[Problem]:
        """One problem for each object that could not be read, or one for all if there are many."""
        if len(refused) > FEW:
            path, error = refused[0][0].object.key, refused[0][1]
            message = f"{len(refused):,} objects cannot be read now, such as {clean(path)}: {error}"
            yield self._problem("remote-unreadable", message)
            return
        for transfer, error in refused:
            path = clean(transfer.object.key) or clean(self.url)
            yield Problem("warning", "io-error", path, f"{error}; trying again")

    # -- files

    def _place_of(self, key: str) -> str:
        return f"{self.place}/{key}" if key else self.place

    def _make_folder(self, folder: str) -> None:
        if folder not in self._made:
            writable_paths.make_private(Path(folder))
            self._made.add(folder)

    def _forget_missing(self) -> None:
        """Remove files that are missing or shorter from the manifest."""
        objects = self._manifest.objects
        for key, known in list(objects.items()):
            try:
                there = os.stat(self._place_of(key)).st_size >= known.have  # noqa: PTH116
            except OSError:
                there = False
            if not there:
                del objects[key]
        self._made.clear()

    def _remove(self, kept: set[str]) -> bool:
        """Delete the copies of deleted objects, and folders that are empty then; whether there were any."""
        gone = self._manifest.objects.keys() - kept
        for key in gone:
            place = self._place_of(key)
            with contextlib.suppress(FileNotFoundError, NotADirectoryError):
                os.unlink(place)  # noqa: PTH108 - a string is what is kept
            local_file.FETCHED_ENDS.pop(place, None)
            del self._manifest.objects[key]
            folder = place.rpartition("/")[0]
            with contextlib.suppress(OSError):  # until one is not empty
                while folder.startswith(self.place):
                    os.rmdir(folder)  # noqa: PTH106
                    self._made.discard(folder)
                    folder = folder.rpartition("/")[0]
        return bool(gone)

    # -- other mirrors

    def _others(self) -> list[Path]:
        return [each for each in self._folder.parent.glob("*/manifest.json") if each.parent != self._folder]

    def _make_room(self, needed: int) -> None:
        """Remove mirrors that have been unused for long, and others if their disk space is needed."""
        oldest = sorted(self._others(), key=_last_use)
        taken = sum(map(_bytes_of, oldest))
        for manifest in oldest:
            if taken + needed <= self.limits.disk and self._wall() - _last_use(manifest) < UNUSED:
                continue
            size = _bytes_of(manifest)
            with contextlib.suppress(OSError), Manifest(manifest.parent, "").locked(0.0) as acquired:
                if acquired:
                    manifest.unlink()
                    shutil.rmtree(manifest.parent, ignore_errors=True)
                    taken -= size

    # -- problems

    def _problem(self, code: str, message: str) -> Problem:
        return Problem("warning", code, clean(self.url), message)

    def _set_problems(self, problems: Sequence[Problem]) -> None:
        self._problems = {problem.key: problem for problem in problems}


def is_read(key: str, size: int) -> bool:
    """Whether rltui may read a file with that path and size, so that it is fetched."""
    *folders, name = key.split("/")
    known = names()
    if any(part in ("", ".", "..") for part in (*folders, name)) or name.startswith("."):
        return False
    if not all(map(is_entered, folders)):
        return False
    if REGISTRY.could_be_log(name) or REGISTRY.could_be_container(key):
        return True
    if match_layout(key) is not None or unread_reason(key) is not None:
        return True
    return size <= SMALL and not name.lower().endswith(known.unread_endings)


def _last_use(manifest: Path) -> float:
    try:
        return manifest.stat().st_mtime
    except OSError:
        return 0.0


def _bytes_of(manifest: Path) -> int:
    """Bytes of another mirror, from the beginning of its manifest."""
    try:
        with manifest.open("rb") as file:
            head = file.read(4096)
        return int(head.partition(b'"bytes":')[2].partition(b",")[0])
    except (OSError, ValueError):
        return 0

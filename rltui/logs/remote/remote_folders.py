"""The remote folders of this process, each with a mirror that is updated once or repeatedly."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from rltui.common.worker_thread import WorkerThread
from rltui.config import load_config
from rltui.logs.remote.mirror import Limits, Mirror, Sync
from rltui.logs.remote.object_store import StoreError, without_password

MAX_INTERVAL = 300.0  # seconds between two updates of a folder that does not change
SLOWER = 1.5  # factor between two such intervals
MAX_INTERVAL_AFTER_ERROR = 60.0  # seconds, so that a store that is available again is soon detected


class RemoteFolder:
    """One remote folder, updated in a thread. poll: seconds between two updates while it changes."""

    def __init__(self, mirror: Mirror, poll: float) -> None:
        self.thread = WorkerThread("rltui-mirror", self.step, lambda: self.begun)
        self.mirror = mirror
        self.poll = self.interval = poll
        self.begun = False  # whether a first update has ended, successfully or not
        self._rested = False
        self._last = Sync()
        self._seconds = 0.0

    def sync(self, progress: Callable[[int, int], object] | None = None) -> Sync:
        """Update the mirror once. Raises StoreError."""
        began = time.monotonic()
        try:
            self._last = self.mirror.sync(progress)
        finally:
            self._seconds = time.monotonic() - began
            self.begun = True
        return self._last

    def step(self) -> float:
        """Update once, except for the first time if a command has just done so."""
        rested, self._rested = self._rested, True
        if rested or not self.begun:
            try:
                last: Sync | None = self.sync()
            except StoreError:
                last = None  # reported by the mirror
            self.interval = self.next_interval(last)
        return self.interval

    def next_interval(self, last: Sync | None) -> float:
        """Seconds until the next update. last: result of the last one; None if it failed."""
        if last is None:
            return min(max(MAX_INTERVAL_AFTER_ERROR, self.poll), self.interval * 2)
        if last.wait:
            return max(last.wait, self.poll)
        longest = max(MAX_INTERVAL, self.poll)
        usual = self.poll if last.changed or last.left else min(longest, self.interval * SLOWER)
        # More frequent updates would exceed the limit of requests.
        return max(usual, last.requests * 3600 / self.mirror.limits.requests_per_hour)

    def status(self) -> dict[str, str | float]:
        """The state of the folder for doctor, as JSON."""
        mirror = self.mirror
        return {
            "url": mirror.url,
            "mirror": str(mirror.folder),
            "objects": mirror.objects,
            "bytes": mirror.size,
            "bytes_copied": mirror.copied,
            "requests": mirror.store.requests,
            "seconds": self._seconds,  # of the last update
            "requests_of_listing": mirror.requests_of_listing,
            "poll": self.poll,
            # For listings alone; each log that grew needs one or two requests more.
            "requests_per_hour": mirror.requests_of_listing * 3600 / self.poll,
            "idle_per_hour": mirror.requests_of_listing * 3600 / max(MAX_INTERVAL, self.poll),
            "limit": mirror.limits.requests_per_hour,
            "disk": mirror.limits.disk,
        }


class RemoteFolders:
    """The remote folders that this process reads, by their URLs without passwords."""

    def __init__(self) -> None:
        self.requests_per_hour: int | None = None  # from the command line; None: from the configuration
        self.poll: float | None = None  # seconds, the same
        self._urls: dict[str, str] = {}  # with passwords
        self._folders: dict[str, RemoteFolder] = {}
        self._lock = threading.Lock()

    def shown(self, url: str) -> str:
        """The URL without its password, which is kept in memory only."""
        shown = without_password(url)
        if shown != url:
            self._urls[shown] = url
        return shown

    def of(self, url: str) -> RemoteFolder:
        """The remote folder of a URL without password."""
        with self._lock:
            folder = self._folders.get(url)
            if folder is None:
                # Only the user's configuration: a file near the logs must not raise costs.
                wanted = load_config().remote
                limits = Limits(
                    self.requests_per_hour or wanted.requests_per_hour,
                    wanted.disk_megabytes * 1_000_000,
                    wanted.timeout,
                )
                mirror = Mirror(self._urls.get(url, url), limits)
                folder = self._folders[url] = RemoteFolder(mirror, self.poll or wanted.poll)
            return folder

    def forget(self) -> None:
        """Stop and remove all."""
        with self._lock:
            for folder in self._folders.values():
                folder.thread.stop()
            self._folders.clear()
            self.requests_per_hour = self.poll = None


REMOTE = RemoteFolders()

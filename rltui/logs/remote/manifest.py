"""The manifest of a mirror: the tag and the copied bytes of each object, and the allowance of requests.

Several processes may use one mirror: the one with the lock may change it, and reads the manifest again if
another process has written it.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from rltui.common import writable_paths

_SCHEMA = 1
_LOCK_INTERVAL = 0.1  # seconds between two tries to get the lock


@dataclass(slots=True)
class Copied:
    """The copy of an object: the first `have` bytes of the content with this tag."""

    tag: str
    have: int
    modified: float  # seconds since 1970, from the store


@dataclass(slots=True)
class Allowance:
    """A token bucket of requests: those of an hour at first, then at a constant rate."""

    left: float
    at: float  # wall time of `left`

    def now(self, per_hour: int, wall: float) -> float:
        """Number of requests allowed now."""
        passed = max(0.0, wall - self.at)
        self.left, self.at = min(float(per_hour), self.left + passed * per_hour / 3600), wall
        return self.left

    def wait(self, wanted: int, per_hour: int) -> float:
        """Seconds until `wanted` requests are allowed."""
        return max(0.0, (min(wanted, per_hour) - self.left) * 3600 / per_hour)


@dataclass(slots=True)
class Manifest:
    """The content of `manifest.json` in a mirror's folder."""

    folder: Path
    url: str
    objects: dict[str, Copied] = field(default_factory=dict)  # by key
    allowance: Allowance = field(default_factory=lambda: Allowance(1e12, 0.0))
    _stamp: tuple[int, ...] = ()

    @property
    def path(self) -> Path:
        """Path of the file."""
        return self.folder / "manifest.json"

    @property
    def copied(self) -> int:
        """Bytes in the mirror."""
        return sum(each.have for each in self.objects.values())

    def read(self) -> bool:
        """Read the file if it has changed since it was read or written last; whether it had.

        A file that is damaged or of another version counts as empty: everything is fetched again.
        """
        stamp = self._stamp_now()
        if stamp == self._stamp and stamp:
            return False
        self.objects, self._stamp = {}, stamp
        with contextlib.suppress(OSError, orjson.JSONDecodeError, AttributeError, TypeError, KeyError):
            content = orjson.loads(self.path.read_bytes())
            if content["schema"] == _SCHEMA:
                self.objects = {key: Copied(*each) for key, each in content["objects"].items()}
                self.allowance = Allowance(*content["allowance"])
        return True

    def write(self) -> None:
        """Write the file, also to record that the mirror is in use. Raises OSError."""
        content = {
            "schema": _SCHEMA,
            "url": self.url,
            "bytes": self.copied,
            "allowance": [self.allowance.left, self.allowance.at],
            "objects": {key: [each.tag, each.have, each.modified] for key, each in self.objects.items()},
        }
        writable_paths.write_atomically(self.path, orjson.dumps(content))
        self._stamp = self._stamp_now()

    @contextlib.contextmanager
    def locked(self, timeout: float) -> Iterator[bool]:
        """Hold the lock of the mirror; False if another process holds it without progress.

        timeout: seconds without a new manifest. Raises OSError.
        """
        writable_paths.make_private(self.folder)
        descriptor = os.open(self.folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            yield self._acquire(descriptor, timeout)
        finally:
            os.close(descriptor)

    def _acquire(self, descriptor: int, timeout: float) -> bool:
        since, stamp = time.monotonic(), self._stamp_now()
        while True:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if (now := self._stamp_now()) != stamp:
                    since, stamp = time.monotonic(), now
                if time.monotonic() - since >= timeout:
                    return False
                time.sleep(_LOCK_INTERVAL)
            else:
                return True

    def _stamp_now(self) -> tuple[int, ...]:
        try:
            status = self.path.stat()
        except OSError:
            return ()
        return (status.st_size, status.st_mtime_ns, status.st_ino)

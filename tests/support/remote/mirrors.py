"""Remote folders in memory, their mirrors, and reading these."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from rltui.logs.remote.mirror import Limits, Mirror
from rltui.logs.remote.remote_folders import REMOTE
from tests.support.logs.live_logs import Delivered, delivered_once

fsspec = pytest.importorskip("fsspec")
LIMITS = Limits(requests_per_hour=100_000, disk=1_000_000_000, timeout=20.0)


@pytest.fixture
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own, and no remote folder known from before or after."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    REMOTE.forget()
    yield tmp_path / "cache" / "rltui" / "remote"
    REMOTE.forget()


@pytest.fixture
def memory() -> Iterator[Any]:
    """Fsspec's store in memory, empty before and after."""
    system = fsspec.filesystem("memory")
    for name in list(system.store):
        del system.store[name]
    system.pseudo_dirs[:] = [""]
    yield system
    for name in list(system.store):
        del system.store[name]
    system.pseudo_dirs[:] = [""]


def mirror_of(url: str, limits: Limits = LIMITS, wall: Callable[[], float] | None = None) -> Mirror:
    """A mirror as a process that begins has it."""
    return Mirror(url, limits) if wall is None else Mirror(url, limits, wall=wall)


def files_of(mirror: Mirror) -> dict[str, bytes]:
    """The content of the mirror by path."""
    place = Path(mirror.place)
    return {
        path.relative_to(place).as_posix(): path.read_bytes()
        for path in sorted(place.rglob("*"))
        if path.is_file()
    }


def delivered(mirror: Mirror) -> Delivered:
    """The result of reading the mirror once."""
    return delivered_once([mirror.place])

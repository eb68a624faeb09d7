"""Where rltui may write: the user's own folders, after the XDG base directories; never a LOGDIR.

Functions that name a folder return None where no home is known (a container whose user has no entry in
the system's list, and no HOME): then nothing is kept, rather than written wherever one happens to be.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

# The interpreter's own: `hashlib` loads OpenSSL, which takes 4 MB and is needed for nothing else here.
try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

_NAME = "rltui"


def mark(text: str, digits: int = 64) -> str:
    """So many hexadecimal digits, at most 64, that stand for a text in file names and as keys."""
    made: str = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()
    return made[:digits]


def state() -> Path | None:
    """Layouts, snapshots, crash reports, and which alerts were sent. Not necessarily there yet."""
    return _own("XDG_STATE_HOME", ".local/state")


def of_logdirs(kind: str, logdirs: Sequence[str | os.PathLike[str]]) -> Path | None:
    """The file in the state folder `kind` for these LOGDIRs, the same however they are called and ordered.

    None where it would lie in one of them.
    """
    folder = state()
    if folder is None:
        return None
    key = "\0".join(sorted(os.path.realpath(logdir) for logdir in logdirs))
    place = folder / kind / f"{mark(key, 20)}.json"
    return None if logdir_around(place, logdirs) is not None else place


def cache() -> Path | None:
    """What can be made again at any time. Not necessarily there yet."""
    return _own("XDG_CACHE_HOME", ".cache")


def config_file() -> Path | None:
    """The user's own configuration; the folder `themes` beside it holds own themes. Not necessarily there."""
    named = os.environ.get("RLTUI_CONFIG", "")
    if named:
        return Path(named)
    folder = _own("XDG_CONFIG_HOME", ".config")
    return None if folder is None else folder / "config.toml"


def _own(variable: str, otherwise: str) -> Path | None:
    """The standard says that a relative path in these variables counts as none."""
    base = os.environ.get(variable, "")
    if base.startswith("/"):
        return Path(base) / _NAME
    try:
        return Path.home() / otherwise / _NAME
    except RuntimeError:
        return None


def logdir_around(target: Path, logdirs: Sequence[str | os.PathLike[str]]) -> str | None:
    """The LOGDIR, as given, that `target` would lie in, links followed; None where it lies outside of all.

    For a LOGDIR that is a single log, its folder counts: a new file there would be a log beside a log.
    """
    place = _real(target)
    for logdir in logdirs:
        root = _real(Path(logdir))
        if place == root or (root.parent if root.is_file() else root) in (place, *place.parents):
            return os.fspath(logdir)
    return None


def _real(path: Path) -> Path:
    with contextlib.suppress(RuntimeError):  # `~` without a home is a name like others
        path = path.expanduser()
    return Path(os.path.realpath(path))

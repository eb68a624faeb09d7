"""Where rltui may write and how: the user's own folders, files whole or not at all; never a LOGDIR.

Functions that name a folder return None where no home is known (a container whose user has no entry in
the system's list, and no HOME): then nothing is kept, rather than written wherever one happens to be.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rltui.common.regex import regex

if TYPE_CHECKING:
    from platformdirs import PlatformDirs

# The interpreter's own: `hashlib` loads OpenSSL, which takes 4 MB and is needed for nothing else here.
try:
    from _sha2 import sha256  # type: ignore[import-not-found, unused-ignore]
except ImportError:
    try:
        from _sha256 import sha256  # type: ignore[import-not-found, unused-ignore]
    except ImportError:
        from hashlib import sha256

_URL = regex(r"[A-Za-z][A-Za-z0-9+.-]+://")


@once
def _dirs() -> PlatformDirs:
    from platformdirs import PlatformDirs  # with it come archives and temporary files, which start slowly

    return PlatformDirs("rltui", appauthor=False)


def digest(text: str | bytes, digits: int = 64) -> str:
    """The first hexadecimal digits, at most 64, of the SHA-256 of a text: for file names and keys."""
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
    made: str = sha256(data).hexdigest()
    return made[:digits]


def state() -> Path | None:
    """Layouts, snapshots, crash reports, and which alerts were sent. Not necessarily there yet."""
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_state_dir)
    return None


def cache() -> Path | None:
    """What can be found out again. Not necessarily there yet."""
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_cache_dir)
    return None


def is_url(logdir: str | os.PathLike[str]) -> bool:
    """Whether a LOGDIR is a remote folder, such as `s3://bucket/runs`."""
    return _URL.match(os.fspath(logdir)) is not None


def mirror_folder(url: str) -> Path | None:
    """The folder in the cache for the local mirror of a remote folder. Not necessarily there yet."""
    folder = cache()
    return None if folder is None else folder / "remote" / digest(url.rstrip("/"), 20)


def local(logdir: str | os.PathLike[str]) -> str:
    """Where a LOGDIR is read: the place itself, or that of its files in the mirror of a remote folder."""
    given = os.fspath(logdir)
    if not is_url(given):
        return given
    folder = mirror_folder(given)
    # The names of the place stay, for LOGDIRs are told apart by the last of them.
    names = [name for name in given.partition("://")[2].split("/") if name not in ("", ".", "..")]
    return given if folder is None else str(folder.joinpath("files", *names))


def of_logdirs(kind: str, logdirs: Sequence[str | os.PathLike[str]], *, cached: bool = False) -> Path | None:
    """The file in the state folder `kind` for these LOGDIRs, the same however they are called and ordered.

    cached: in the cache instead. None where it would lie in one of them.
    """
    folder = cache() if cached else state()
    if folder is None:
        return None
    key = "\0".join(sorted(os.path.realpath(local(logdir)) for logdir in logdirs))
    path = folder / kind / f"{digest(key, 20)}.json"
    return None if logdir_around(path, logdirs) is not None else path


def config_file() -> Path | None:
    """The user's own configuration; the folder `themes` beside it holds own themes. Not necessarily there."""
    named = os.environ.get("RLTUI_CONFIG", "")
    if named:
        return Path(named)
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_config_dir) / "config.toml"
    return None


def logdir_around(target: Path, logdirs: Sequence[str | os.PathLike[str]]) -> str | None:
    """The LOGDIR, as given, that `target` would lie in, links followed; None where it lies outside of all.

    For a LOGDIR that is a single log, its folder counts: a new file there would be a log beside a log.
    """
    path = _real(target)
    for logdir in logdirs:
        root = _real(Path(local(logdir)))
        if path == root or (root.parent if root.is_file() else root) in (path, *path.parents):
            return os.fspath(logdir)
    return None


def _real(path: Path) -> Path:
    with contextlib.suppress(RuntimeError):  # `~` without a home is a name like others
        path = path.expanduser()
    return Path(os.path.realpath(path))


def make_private(folder: Path) -> None:
    """Make a folder and those above it that are missing, for the user alone whatever the umask.

    Raises OSError. Folders that are there keep their permissions.
    """
    missing = [each for each in (folder, *folder.parents) if not each.is_dir()]
    for each in reversed(missing):
        with contextlib.suppress(FileExistsError):
            each.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(None, "is no folder", str(folder))


@contextlib.contextmanager
def atomic_file(
    path: Path, *, mode: int = 0o666, replace: bool = True, sync: bool = True
) -> Iterator[BinaryIO]:
    """A file to write to, which becomes `path` when the block ends well; else nothing is left of it.

    `mode` is lessened by the umask. With `sync` the content is on disk before the name is. Without `replace`
    a file of that name is an error. Raises OSError.
    """
    beside = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.part")
    descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb", buffering=1 << 18) as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if replace:
            beside.replace(path)
        else:
            _move_to_free_name(beside, path, mode)
    finally:
        with contextlib.suppress(OSError):
            beside.unlink()


def _move_to_free_name(source: Path, path: Path, mode: int) -> None:
    try:
        os.link(source, path)  # fails where a rename would replace
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the name is taken first, then filled
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        source.replace(path)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a private file, whole or not at all, and make the folder that it lies in. Raises OSError."""
    make_private(path.parent)
    with atomic_file(path, mode=0o600, sync=False) as file:
        file.write(data)

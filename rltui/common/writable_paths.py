"""The folders that rltui may write to (never a LOGDIR), and atomic writes.

Functions that return a folder return None if the user has no home folder, as in some containers; nothing is
saved then. Besides, `rltui/schema/value_cache.py` keeps parsed data files of rltui beside its modules.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Sequence
from functools import cache as once
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from rltui.common.digest import digest
from rltui.common.regex import regex

if TYPE_CHECKING:
    from platformdirs import PlatformDirs

_URL = regex(r"[A-Za-z][A-Za-z0-9+.-]+://")


@once
def _dirs() -> PlatformDirs:
    from platformdirs import PlatformDirs  # slow: it imports modules for archives and temporary files

    return PlatformDirs("rltui", appauthor=False)


def state() -> Path | None:
    """The folder of layouts, snapshots, crash reports and the log of sent alerts; it may not exist yet."""
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_state_dir)
    return None


def cache() -> Path | None:
    """The folder of data that can be computed or fetched again; it may not exist yet."""
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_cache_dir)
    return None


def is_url(logdir: str | os.PathLike[str]) -> bool:
    """Whether a LOGDIR is a remote folder, such as `s3://bucket/runs`."""
    return _URL.match(os.fspath(logdir)) is not None


def mirror_folder(url: str) -> Path | None:
    """The folder in the cache for the local mirror of a remote folder; it may not exist yet."""
    folder = cache()
    return None if folder is None else folder / "remote" / digest(url.rstrip("/"), 20)


def local_path(logdir: str | os.PathLike[str]) -> str:
    """The local path of a LOGDIR: the LOGDIR itself, or the folder with its files in the mirror of a URL."""
    path = os.fspath(logdir)
    if not is_url(path):
        return path
    folder = mirror_folder(path)
    # The names of the URL are kept, since LOGDIRs are distinguished by their last names.
    names = [name for name in path.partition("://")[2].split("/") if name not in ("", ".", "..")]
    return path if folder is None else str(folder.joinpath("files", *names))


def file_for_logdirs(
    kind: str, logdirs: Sequence[str | os.PathLike[str]], *, cached: bool = False
) -> Path | None:
    """A file for these LOGDIRs in the folder `kind` of the state folder, or with `cached` of the cache.

    It does not depend on the spelling and order of the LOGDIRs. None if it would be inside one of them.
    """
    folder = cache() if cached else state()
    if folder is None:
        return None
    key = "\0".join(sorted(os.path.realpath(local_path(logdir)) for logdir in logdirs))
    path = folder / kind / f"{digest(key, 20)}.json"
    return None if enclosing_logdir(path, logdirs) is not None else path


def config_file() -> Path | None:
    """The user's configuration file, next to the folder `themes` with the user's themes; it may not exist."""
    if named := os.environ.get("RLTUI_CONFIG"):
        return Path(named)
    with contextlib.suppress(RuntimeError):  # no home
        return Path(_dirs().user_config_dir) / "config.toml"
    return None


def enclosing_logdir(target: Path, logdirs: Sequence[str | os.PathLike[str]]) -> str | None:
    """The LOGDIR, as given, that contains `target`, with links resolved; None if no LOGDIR does.

    For a LOGDIR that is a single log, its folder counts: a new file there could be taken for another log.
    """
    path = _resolved(target)
    for logdir in logdirs:
        root = _resolved(Path(local_path(logdir)))
        is_log = os.path.isfile(root)  # noqa: PTH113 (`Path.is_file` raises without permission)
        if path == root or (root.parent if is_log else root) in (path, *path.parents):
            return os.fspath(logdir)
    return None


def _resolved(path: Path) -> Path:
    with contextlib.suppress(RuntimeError):  # without a home, `~` is an ordinary name
        path = path.expanduser()
    return Path(os.path.realpath(path))


def make_private(folder: Path) -> None:
    """Create a folder and its missing parents, accessible only to the user whatever the umask.

    Raises OSError. Existing folders keep their permissions.
    """
    missing = [path for path in (folder, *folder.parents) if not path.is_dir()]
    for path in reversed(missing):
        with contextlib.suppress(FileExistsError):
            path.mkdir(mode=0o700)
    if not folder.is_dir():
        raise NotADirectoryError(None, "is not a folder", str(folder))


@contextlib.contextmanager
def atomic_file(
    path: Path, *, mode: int = 0o666, replace: bool = True, sync: bool = True
) -> Iterator[BinaryIO]:
    """A temporary file that becomes `path` when the block succeeds, and is deleted when it fails.

    The umask applies to `mode`. With `sync` the content is on disk before the rename. Without `replace` an
    existing file of that name is an error. Raises OSError.
    """
    temporary = path.with_name(f".{path.name[:100]}.{os.urandom(6).hex()}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
    try:
        with os.fdopen(descriptor, "wb", buffering=1 << 18) as file:
            yield file
            file.flush()
            if sync:
                os.fsync(file.fileno())
        if replace:
            temporary.replace(path)
        else:
            _rename_without_replacing(temporary, path, mode)
    finally:
        with contextlib.suppress(OSError):
            temporary.unlink()


def _rename_without_replacing(source: Path, path: Path, mode: int) -> None:
    try:
        os.link(source, path)  # unlike a rename, fails if the file exists
    except FileExistsError:
        raise
    except OSError:  # the file system has no links: create an empty file, then replace it
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode))
        source.replace(path)


def write_atomically(path: Path, data: bytes) -> None:
    """Write a file that only the user can read, and create its folder. Raises OSError."""
    make_private(path.parent)
    with atomic_file(path, mode=0o600, sync=False) as file:
        file.write(data)

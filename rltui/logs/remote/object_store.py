"""A remote folder as fsspec sees it: its objects by one listing, ranges of bytes, errors in one line.

fsspec and the packages of the stores are the user's (extra `rltui[remote]`), and so are the credentials: they
are found by those packages as by the tools of the store, and are never asked for, shown or kept.
"""

from __future__ import annotations

import datetime
import importlib.util
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.common.text import quote
from rltui.common.worker_thread import in_thread

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fsspec import AbstractFileSystem

T = TypeVar("T")
Range = tuple[str, int, int]  # key of an object, first byte, byte after the last

PAGE = 1000  # objects that one request for a listing gives: S3, GCS
MOST_HUNG = 4  # calls without an answer at the same time; no other is begun then
_TAGS = ("ETag", "etag", "generation", "md5Hash", "blob_id", "checksum", "content_md5")
_TIMES = ("LastModified", "updated", "last_modified", "mtime", "modified", "created")
_PACKAGES = {  # of which fsspec needs one, by protocol
    "s3": "s3fs",
    "s3a": "s3fs",
    "gs": "gcsfs",
    "gcs": "gcsfs",
    "hf": "huggingface_hub",
    "sftp": "paramiko",
    "ssh": "paramiko",
    "az": "adlfs",
    "abfs": "adlfs",
}
_CREDENTIALS = regex(r"credential|access ?denied|forbidden|\b40[13]\b|unauthori[sz]ed|authenticat", re.I)
_UNREACHABLE = regex(r"connect|resolve|refused|timed? ?out|unreachable|getaddrinfo", re.I)
_BUSY = regex(
    r"\b(429|500|502|503|504)\b|slow ?down|request rate|too many requests|service ?unavailable", re.I
)


class StoreError(OSError):
    """A store did not give what was asked for: one line that says what, and what to do."""


class MissingObjectError(StoreError):
    """The object, or the whole remote folder, is not there."""


class StoredObject(NamedTuple):
    """What a listing says of one object."""

    key: str  # below the remote folder, with `/`; empty when the URL names the object itself
    size: int  # bytes
    tag: str  # another one when the content is another one
    modified: float  # seconds since 1970; 0 where the store does not say


def without_password(url: str) -> str:
    """The URL as it may be shown and kept."""
    before, separator, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    return f"{before}{separator}{user.partition(':')[0]}{at}{host}{slash}{path}"


class ObjectStore:
    """The objects below a URL. timeout: seconds that one answer may take.

    Raises StoreError only; MissingObjectError for a folder that is not there.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self.url = without_password(url)
        self.timeout = timeout
        self.requests = 0  # made so far; those that a store's package makes again are not counted
        self._full_url = url
        self._protocol = url.partition("://")[0].lower()
        self._system: AbstractFileSystem | None = None
        self._root = ""
        self._hung: list[Future[Any]] = []

    def objects(self) -> list[StoredObject]:
        """All objects: one request for each thousand where the store lists so (S3, GCS)."""
        listed: Mapping[str, Mapping[str, object]] = self._answer(self._find)
        found = []
        for name, about in listed.items():
            if about.get("type", "file") != "file" or name.endswith("/"):
                continue
            key = name.strip("/")[len(self._root.strip("/")) :].lstrip("/")
            found.append(StoredObject(key, _size(about), _tag(about), _modified(about)))
        pages = math.ceil(len(listed) / PAGE)
        if self._protocol in ("sftp", "ssh"):  # one for each folder
            pages = len({each.key.rpartition("/")[0] for each in found})
        self.requests += max(1, pages)
        return found

    def read(self, ranges: Sequence[Range]) -> list[bytes | StoreError]:
        """The bytes of each range, or why they could not be had; one request for each, made side by side."""
        if not ranges:
            return []
        self.requests += len(ranges)
        answers = self._answer(lambda: self._ranges(ranges))
        return [
            _whole(answer, end - begin) if isinstance(answer, bytes) else _said(answer)
            for answer, (_, begin, end) in zip(answers, ranges, strict=True)
        ]

    # -- in a thread of its own, for a store may never answer

    def _find(self) -> Mapping[str, Mapping[str, object]]:
        from fsspec import AbstractFileSystem

        system = self._opened()
        system.invalidate_cache()
        refused: list[PermissionError] = []

        def failed(error: OSError) -> None:
            if isinstance(error, PermissionError):
                refused.append(error)
            elif not isinstance(error, FileNotFoundError):
                raise error

        # A store that is walked folder by folder would leave out those that fail: all, when it is gone.
        walked = type(system).find is AbstractFileSystem.find
        options = {"on_error": failed} if walked else {}
        found: Mapping[str, Mapping[str, object]] = system.find(self._root, detail=True, **options)
        if refused and not found:
            raise refused[0]
        # Of an object that the URL itself names some say nothing.
        return {name: about or system.info(name) for name, about in found.items()}

    def _ranges(self, ranges: Sequence[Range]) -> list[bytes | Exception]:
        names = [f"{self._root}/{key}" if key else self._root for key, _, _ in ranges]
        begins, ends = [begin for _, begin, _ in ranges], [end for _, _, end in ranges]
        answers: list[bytes | Exception]
        answers = self._opened().cat_ranges(names, begins, ends, on_error="return")
        return answers

    def _opened(self) -> AbstractFileSystem:
        if self._system is None:
            protocol = self._protocol
            if importlib.util.find_spec("fsspec") is None:
                raise StoreError("needs fsspec, which is not installed: pip install 'rltui[remote]'")
            from fsspec.core import url_to_fs

            # The cached listing of fsspec does not see new objects. An SFTP server has no such cache.
            options = {} if protocol in ("sftp", "ssh") else {"use_listings_cache": False}
            try:
                system, root = url_to_fs(self._full_url, skip_instance_cache=True, **options)
            except ImportError as error:
                package = _PACKAGES.get(protocol)
                what = f"needs {package}: pip install {package}" if package else quote(str(error))
                raise StoreError(what) from error
            except ValueError as error:
                raise StoreError(f"fsspec knows no store named {quote(protocol)}") from error
            self._root = str(root).rstrip("/")
            self._system = system
        return self._system

    def _answer(self, call: Callable[[], T]) -> T:
        """What a call returns, unless it takes too long: then nobody waits for its thread any more."""
        self._hung = [each for each in self._hung if not each.done()]
        if len(self._hung) >= MOST_HUNG:
            raise StoreError(f"{MOST_HUNG} requests have not been answered; look at the network")
        asked = in_thread("rltui-store", call)
        try:
            return asked.result(self.timeout)
        except Exception as error:  # packages of stores raise errors of all kinds
            if asked.done():
                said = _said(error)
            else:
                self._hung.append(asked)
                said = StoreError(
                    f"has not answered for {self.timeout:g} s; look at the network, or raise remote.timeout"
                )
            if not isinstance(said, MissingObjectError):
                self._system = None  # a connection that broke is made anew by the next call
            raise said from error


def _whole(answer: bytes, length: int) -> bytes | StoreError:
    if len(answer) == length:
        return answer
    return StoreError(
        f"gave {len(answer)} bytes of {length}: the answer was cut, or the object is shorter now"
    )


def _said(error: Exception) -> StoreError:
    """One line for people: what is wrong, in the store's own words, and what to do."""
    if isinstance(error, StoreError):
        return error
    text = (isinstance(error, OSError) and error.strerror) or str(error)
    lines = text.strip().splitlines() or [type(error).__name__]
    words = quote(without_password(lines[0]))
    known = f"{type(error).__name__} {error}"
    if isinstance(error, FileNotFoundError):
        return MissingObjectError(f"is not there ({words})")
    if isinstance(error, PermissionError) or _CREDENTIALS.search(known):
        return StoreError(f"refuses access ({words}); look at the credentials that its own tools use")
    if _BUSY.search(known):
        return StoreError(f"is busy or out of order ({words})")
    if isinstance(error, ConnectionError | TimeoutError) or _UNREACHABLE.search(known):
        return StoreError(f"cannot be reached ({words}); look at the network and the address")
    return StoreError(f"cannot be read ({words})")


def _size(about: Mapping[str, object]) -> int:
    size = about.get("size")
    return size if isinstance(size, int) else 0


def _tag(about: Mapping[str, object]) -> str:
    known = next((str(about[name]) for name in _TAGS if about.get(name)), None)
    return known if known is not None else f"{_modified(about):.6f}"


def _modified(about: Mapping[str, object]) -> float:
    for name in _TIMES:
        value = about.get(name)
        if isinstance(value, datetime.datetime):
            return (value if value.tzinfo else value.replace(tzinfo=datetime.UTC)).timestamp()
        if isinstance(value, int | float):
            return float(value)
        if isinstance(value, str):
            try:
                return datetime.datetime.fromisoformat(value).timestamp()
            except ValueError:
                continue
    return 0.0

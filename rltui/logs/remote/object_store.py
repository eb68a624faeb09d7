"""Access to a remote folder through fsspec: listing objects, reading ranges of bytes, errors in one line.

fsspec and the packages of the stores are optional (extra `rltui[remote]`). They find the credentials as the
tools of the store do; rltui never asks for, shows or stores credentials.
"""

from __future__ import annotations

import datetime
import importlib.util
import math
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from rltui.common.display_text import quote
from rltui.common.extras import install_hint
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.common.worker_thread import in_thread
from rltui.logs.records.parse_number import iso_time

if TYPE_CHECKING:
    from concurrent.futures import Future

    from fsspec import AbstractFileSystem

T = TypeVar("T")
Range = tuple[str, int, int]  # key of an object, first byte, byte after the last

PAGE = 1000  # objects in the response to one listing request: S3, GCS
MAX_HUNG = 4  # calls without an answer, after which no other is made
_TAGS = ("ETag", "etag", "generation", "md5Hash", "blob_id", "checksum", "content_md5")
_TIMES = ("LastModified", "updated", "last_modified", "mtime", "modified", "created")
_PACKAGES = {  # that fsspec needs, by protocol
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
    """A request to a store failed: one line with the reason, and what to do."""


class MissingObjectError(StoreError):
    """The object, or the whole remote folder, does not exist."""


class StoredObject(NamedTuple):
    """One object of a listing."""

    key: str  # relative to the remote folder, with `/`; empty if the URL is that of the object
    size: int  # bytes
    tag: str  # changes with the content
    modified: float  # seconds since 1970; 0 if unknown


def without_password(url: str) -> str:
    """The URL without its password, for display and storage."""
    before, separator, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    user, at, host = place.rpartition("@")
    return f"{before}{separator}{user.partition(':')[0]}{at}{host}{slash}{path}"


class ObjectStore:
    """The objects below a URL. timeout: most seconds for one response.

    Raises only StoreError; MissingObjectError for a folder that does not exist.
    """

    def __init__(self, url: str, timeout: float) -> None:
        self.url = without_password(url)
        self.timeout = timeout
        self.requests = 0  # number made, without retries by the store's package
        self._full_url = url
        self._protocol = url.partition("://")[0].lower()
        self._system: AbstractFileSystem | None = None
        self._root = ""
        self._hung: list[Future[Any]] = []

    def objects(self) -> list[StoredObject]:
        """All objects, by one request for each thousand in stores that list so (S3, GCS)."""
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
        """The bytes of each range, or its error; one request for each, made concurrently."""
        if not ranges:
            return []
        self.requests += len(ranges)
        answers = self._answer(lambda: self._ranges(ranges))
        return [
            _checked(answer, end - begin) if isinstance(answer, bytes) else _store_error(answer)
            for answer, (_, begin, end) in zip(answers, ranges, strict=True)
        ]

    # -- in a thread, since a store may never answer

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

        # A walk folder by folder would leave out folders that fail, which are all if the store is
        # unavailable.
        walked = type(system).find is AbstractFileSystem.find
        options = {"on_error": failed} if walked else {}
        found: Mapping[str, Mapping[str, object]] = system.find(self._root, detail=True, **options)
        if refused and not found:
            raise refused[0]
        # Some stores return no attributes of the object that the URL itself names.
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
                raise StoreError(install_hint("remote"))
            from fsspec.core import url_to_fs

            # A cached listing of fsspec lacks new objects. There is no cache for SFTP.
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
        """The result of a call; one that takes too long is abandoned."""
        self._hung = [each for each in self._hung if not each.done()]
        if len(self._hung) >= MAX_HUNG:
            raise StoreError(f"{MAX_HUNG} requests have not been answered; look at the network")
        asked = in_thread("rltui-store", call)
        try:
            return asked.result(self.timeout)
        except Exception as error:  # packages of stores raise errors of all kinds
            if asked.done():
                problem = _store_error(error)
            else:
                self._hung.append(asked)
                problem = StoreError(
                    f"has not answered for {self.timeout:g} s; look at the network, or raise remote.timeout"
                )
            if not isinstance(problem, MissingObjectError):
                self._system = None  # the next call connects again
            raise problem from error


def _checked(answer: bytes, length: int) -> bytes | StoreError:
    if len(answer) == length:
        return answer
    return StoreError(
        f"gave {len(answer)} bytes of {length}: the answer was cut, or the object is shorter now"
    )


def _store_error(error: Exception) -> StoreError:
    """An error in one line: what is wrong, with the store's message, and what to do."""
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
        if isinstance(value, str) and math.isfinite(time := iso_time(value)):
            return time
    return 0.0

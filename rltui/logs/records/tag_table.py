"""The tag table of one log. It only grows, so an index is valid for the life of the log.

The number and the length of names are bounded: a log may have new names in each record, or very long ones.
"""

from __future__ import annotations

import zlib

import google_crc32c

from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.regex import regex

TAG_CAP = 100_000  # distinct tags of one log
NAME_CAP = 1_000  # characters of a name
CACHED_KEY = 4 * NAME_CAP  # characters of a raw key that is cached; a longer one is shortened each time
WRITTEN_CAP = 64 << 20  # characters of raw keys that one log keeps in addition to their names
_DIGEST = 16  # characters

# Text that looks like the output of `clean` for a control character.
_ESCAPED = regex(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


class ShownTag(str):
    """A tag as displayed; `written` is the key exactly as in the log."""

    written: str


def written_tag(tag: str) -> str:
    """The key of a tag exactly as in the log."""
    return tag.written if isinstance(tag, ShownTag) else tag


def name_of(key: str) -> str:
    """The name of a raw key: cleaned, and shortened in the middle with a checksum if it is too long.

    A key that looks like the cleaned form of another one gets a checksum as well, since both would be one
    series. A `ShownTag` if it differs from the key.
    """
    name = _displayed(key)
    if name is key or name == key:
        return name
    shown = ShownTag(name)
    shown.written = key
    return shown


def _displayed(key: str) -> str:
    if len(key) <= NAME_CAP:
        name = clean(key)
        if len(name) <= NAME_CAP and ("\\" not in key or not _ESCAPED.search(key)):
            return name
    ends = f"{key[:NAME_CAP]}{key[-NAME_CAP:]}" if len(key) > 2 * NAME_CAP else key
    raw = key.encode("utf-8", "surrogatepass")
    return f"{clean(ends, NAME_CAP - _DIGEST - 1)}#{zlib.crc32(raw):08x}{google_crc32c.value(raw):08x}"


class TagNames:
    """Names by number, at most TAG_CAP. names: the `tags` of batches."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._numbers: dict[str, int] = {}
        self._written = 0  # characters of raw keys that are kept

    def take(self, name: str) -> int:
        """The number of a name, new or known; -1 if the table is full."""
        number = self._numbers.get(name)
        if number is None:
            if len(self.names) >= TAG_CAP:
                return -1
            if isinstance(name, ShownTag):
                self._written += len(name.written)
                name = name if self._written <= WRITTEN_CAP else str(name)
            number = self._numbers[name] = len(self.names)
            self.names.append(name)
        return number


class TagTable(TagNames):
    """The names of raw keys."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._number_of_key: dict[str, int] = {}
        self._full = self._reported = False

    def index(self, key: str) -> int:
        """The number of a raw key, -1 if the table is full."""
        number = self._number_of_key.get(key)
        return self._add(key) if number is None else number

    def problem(self) -> Problem | None:
        """Reported once, if the table was too small for a key."""
        if not self._full or self._reported:
            return None
        self._reported = True
        return too_many(self._path)

    def _add(self, key: str) -> int:
        number = self.take(name_of(key))
        if number < 0:
            self._full = True
        elif len(key) <= CACHED_KEY:
            self._number_of_key[key] = number
        return number


def too_many(path: str) -> Problem:
    """The problem of a log with more than TAG_CAP tags."""
    message = f"more than {TAG_CAP:,} different tags; values of further ones are left out"
    return Problem("error", "too-many-tags", path, message)

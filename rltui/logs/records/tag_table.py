"""The tag table of one log: it only grows, so that an index is good for the life of the log.

It is bounded in both ways: names made anew for every record, and names of megabytes, would fill the memory.
"""

from __future__ import annotations

import zlib

import google_crc32c

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.common.text import clean

TAG_CAP = 100_000  # distinct tags of one log
NAME_CAP = 1_000  # characters of a name
KEPT = 4 * NAME_CAP  # characters of a raw key that is remembered; a longer one is cut anew each time
_DIGEST = 16  # characters


WRITTEN_CAP = 64 << 20  # characters of raw keys that one log keeps beside their names


# Text that looks like what `clean` makes of a control character.
_SPELLED = regex(r"\\(?:x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})")


class ShownTag(str):
    """A tag as it is shown, of which `written` is the key exactly as the log writes it."""

    written: str


def written_tag(tag: str) -> str:
    """The key of a tag exactly as the log writes it."""
    return tag.written if isinstance(tag, ShownTag) else tag


def name_of(key: str) -> str:
    """The name of a raw key: cleaned; a long one cut in its middle, with a checksum that keeps two apart.

    So has a key that is written as another one looks when it is cleaned: both would be one series.
    A `ShownTag` where that differs from the key.
    """
    name = _shown(key)
    if name is key or name == key:
        return name
    shown = ShownTag(name)
    shown.written = key
    return shown


def _shown(key: str) -> str:
    if len(key) <= NAME_CAP:
        name = clean(key)
        if len(name) <= NAME_CAP and ("\\" not in key or not _SPELLED.search(key)):
            return name
    ends = f"{key[:NAME_CAP]}{key[-NAME_CAP:]}" if len(key) > 2 * NAME_CAP else key
    raw = key.encode("utf-8", "surrogatepass")
    return f"{clean(ends, NAME_CAP - _DIGEST - 1)}#{zlib.crc32(raw):08x}{google_crc32c.value(raw):08x}"


class TagNames:
    """Names by number, no more than TAG_CAP. `names` is what a Batch carries."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self._places: dict[str, int] = {}
        self._written = 0  # characters of keys that are kept beside their names

    def take(self, name: str) -> int:
        """The number of a name, new or known; -1 when the table is full."""
        place = self._places.get(name)
        if place is None:
            if len(self.names) >= TAG_CAP:
                return -1
            if isinstance(name, ShownTag):
                self._written += len(name.written)
                name = name if self._written <= WRITTEN_CAP else str(name)
            place = self._places[name] = len(self.names)
            self.names.append(name)
        return place


class TagTable(TagNames):
    """Names of raw keys seen so far; `index` gives the place of a key."""

    def __init__(self, path: str) -> None:
        super().__init__()
        self._path = path
        self._raw: dict[str, int] = {}
        self._full = self._told = False

    def index(self, key: str) -> int:
        """The place of a key as written, -1 when the table is full."""
        place = self._raw.get(key)
        if place is None:
            place = self._add(key)
        return place

    def problem(self) -> Problem | None:
        """Said once, when a key has found no place."""
        if not self._full or self._told:
            return None
        self._told = True
        return too_many(self._path)

    def _add(self, key: str) -> int:
        place = self.take(name_of(key))
        if place < 0:
            self._full = True
        elif len(key) <= KEPT:
            self._raw[key] = place
        return place


def too_many(path: str) -> Problem:
    """A log has more tags than are taken."""
    message = f"more than {TAG_CAP:,} different tags; values of further ones are left out"
    return Problem("error", "too-many-tags", path, message)

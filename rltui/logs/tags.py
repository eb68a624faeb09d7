"""The tag table of one log: it only grows, so that an index is good for the life of the log."""

from __future__ import annotations

from rltui.scalars import Problem
from rltui.text import clean

TAG_CAP = 100_000  # distinct tags of one log; a key made anew for every record would fill the memory


class Tags:
    """Names seen so far. `names` is what a Batch carries; `index` gives the place of a raw key."""

    def __init__(self, path: str) -> None:
        self.names: list[str] = []
        self._path = path
        self._raw: dict[str, int] = {}
        self._cleaned: dict[str, int] = {}
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
        message = f"more than {TAG_CAP:,} different tags; values of further ones are left out"
        return Problem("error", "too-many-tags", self._path, message)

    def _add(self, key: str) -> int:
        name = clean(key)
        place = self._cleaned.get(name)
        if place is None:
            if len(self.names) >= TAG_CAP:
                self._full = True
                return -1
            place = self._cleaned[name] = len(self.names)
            self.names.append(name)
        self._raw[key] = place
        return place

"""The tags of one log: their numbers, and which plugin each belongs to where a value does not say itself."""

from __future__ import annotations

from functools import lru_cache

from rltui.logs.tfevents.event import Value
from rltui.text import clean

SCALARS = b"scalars"


_SHORT = 256  # bytes of a raw tag whose name is kept


@lru_cache(maxsize=1 << 13)
def _name(tag: bytes) -> str:
    """The cleaned name of a raw tag. Logs of many runs share their tags, and so their names."""
    return clean(tag.decode("utf-8", "replace"))


class Tags:
    """Tags by their raw bytes, numbered in the order of their first scalar.

    names: the cleaned names by number; tags that clean to the same name share a number.
    plugins: raw tag -> plugin named by the tag's first metadata in the file; writers may leave
    metadata off all later values of a tag.
    """

    def __init__(self) -> None:
        self.names: list[str] = []
        self.plugins: dict[bytes, bytes] = {}
        self._numbers: dict[bytes, int] = {}
        self._by_name: dict[str, int] = {}

    def __len__(self) -> int:
        """Raw tags that have a number."""
        return len(self._numbers)

    def number(self, tag: bytes) -> int:
        """The number of a raw tag that has a scalar."""
        known = self._numbers.get(tag)
        if known is None:
            name = _name(tag) if len(tag) <= _SHORT else _name.__wrapped__(tag)
            known = self._by_name.setdefault(name, len(self.names))
            if known == len(self.names):
                self.names.append(name)
            self._numbers[tag] = known
        return known

    def learn(self, value: Value) -> bytes | None:
        """The plugin that a value belongs to; remembers its metadata for the values that follow."""
        if value.plugin is None:
            return self.plugins.get(value.tag)
        self.plugins.setdefault(value.tag, value.plugin)
        return value.plugin

    def is_scalar(self, tag: bytes) -> bool:
        """Whether a tensor of this tag without metadata of its own counts as a scalar by now."""
        return self.plugins.get(tag) == SCALARS

    def begin_like(self, other: Tags) -> None:
        """Number the tags as another log did that began with the same ones and knows no metadata yet."""
        self.names.extend(other.names[len(self.names) :])
        self._numbers.update(other._numbers)
        self._by_name.update(other._by_name)

    def copy(self) -> Tags:
        """The same tags, apart."""
        other = Tags()
        other.begin_like(self)
        other.plugins = dict(self.plugins)
        return other

    def fork(self) -> Tags:
        """The same numbers, but metadata learned from now on stay apart: for a look ahead of the reading."""
        other = Tags()
        other.names, other._numbers, other._by_name = self.names, self._numbers, self._by_name
        other.plugins = dict(self.plugins)
        return other

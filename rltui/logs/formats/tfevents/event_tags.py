"""The tags of one log: their numbers, and which plugin each belongs to where a value does not say itself."""

from __future__ import annotations

from functools import lru_cache

from rltui.logs.batch import Batch
from rltui.logs.formats.tfevents.message.event import Value
from rltui.logs.records import tag_table
from rltui.logs.records.tag_table import KEPT, TagNames, name_of

SCALARS = b"scalars"

_SHORT = 256  # bytes of a raw tag whose name is kept for other logs


@lru_cache(maxsize=1 << 13)
def _name(tag: bytes) -> str:
    """The cleaned name of a raw tag. Logs of many runs share their tags, and so their names."""
    return name_of(tag.decode("utf-8", "replace"))


def _key(tag: bytes) -> bytes:
    """What a raw tag is remembered by."""
    return tag if len(tag) <= KEPT else _name.__wrapped__(tag).encode()


class EventTags(TagNames):
    """Tags by their raw bytes, numbered in the order of their first scalar.

    names: the cleaned names by number. When the table is
    full all further ones have the number TAG_CAP, behind all names: see `named`.
    plugins: raw tag -> plugin named by the tag's first metadata in the file; writers may leave
    metadata off all later values of a tag.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plugins: dict[bytes, bytes] = {}
        self._numbers: dict[bytes, int] = {}

    def number(self, tag: bytes) -> int:
        """The number of a raw tag that has a scalar."""
        number = self._numbers.get(tag)
        if number is None:
            name = _name(tag) if len(tag) <= _SHORT else _name.__wrapped__(tag)
            number = self._places.get(name)
            if number is None:
                number = self.take(name)
                if number < 0:
                    return tag_table.TAG_CAP
            if len(tag) <= KEPT:
                self._numbers[tag] = number
        return number

    def named(self, batch: Batch) -> Batch:
        """A batch without the points whose tags found no place."""
        if len(self.names) < tag_table.TAG_CAP or not len(batch):
            return batch
        return batch.where(batch.tag < tag_table.TAG_CAP)

    def plugin_for(self, value: Value) -> bytes | None:
        """The plugin that a value belongs to; remembers its metadata for the values that follow."""
        if value.plugin is None:
            return self.plugin_of(value.tag)
        if len(self.plugins) < tag_table.TAG_CAP:
            self.plugins.setdefault(_key(value.tag), value.plugin)
        return value.plugin

    def plugin_of(self, tag: bytes) -> bytes | None:
        """The plugin that a tag's first metadata named, as far as they came."""
        return self.plugins.get(_key(tag))

    def is_scalar(self, tag: bytes) -> bool:
        """Whether a tensor of this tag without metadata of its own counts as a scalar by now."""
        return self.plugin_of(tag) == SCALARS

    def fork(self) -> EventTags:
        """The same numbers, but metadata learned from now on stay apart: for a look ahead of the reading."""
        other = EventTags()
        other.names, other._numbers, other._places = self.names, self._numbers, self._places
        other.plugins = dict(self.plugins)
        return other

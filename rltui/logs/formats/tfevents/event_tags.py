"""The tags of one event file: their numbers, and the plugin of each for values without metadata."""

from __future__ import annotations

from functools import lru_cache

from rltui.logs.batch import Batch
from rltui.logs.formats.tfevents.message.event import Value
from rltui.logs.records import tag_table
from rltui.logs.records.tag_table import CACHED_KEY, TagNames, name_of

SCALARS = b"scalars"

_CACHED_TAG = 256  # bytes of a raw tag whose name is cached for other logs


@lru_cache(maxsize=1 << 13)
def _name(tag: bytes) -> str:
    """The cleaned name of a raw tag. The logs of many runs have the same tags."""
    return name_of(tag.decode("utf-8", "replace"))


def _key(tag: bytes) -> bytes:
    """The key of a raw tag in dictionaries: very long ones are shortened."""
    return tag if len(tag) <= CACHED_KEY else _name.__wrapped__(tag).encode()


class EventTags(TagNames):
    """Tags by their raw bytes, numbered in the order of their first scalar.

    names: the cleaned names by number. Once the table is full, all further tags have the number TAG_CAP,
    which has no name (see `named`). plugins: by raw tag, from the first metadata of the tag in the file;
    writers may omit metadata from all later values.
    """

    def __init__(self) -> None:
        super().__init__()
        self.plugins: dict[bytes, bytes] = {}
        self._number_of_raw: dict[bytes, int] = {}

    def number(self, tag: bytes) -> int:
        """The number of a raw tag that has a scalar."""
        number = self._number_of_raw.get(tag)
        if number is None:
            number = self.take(_name(tag) if len(tag) <= _CACHED_TAG else _name.__wrapped__(tag))
            if number < 0:
                return tag_table.TAG_CAP
            if len(tag) <= CACHED_KEY:
                self._number_of_raw[tag] = number
        return number

    def named(self, batch: Batch) -> Batch:
        """A batch without the points of tags that did not fit into the table."""
        if len(self.names) < tag_table.TAG_CAP or not len(batch):
            return batch
        return batch.where(batch.tag < tag_table.TAG_CAP)

    def plugin_for(self, value: Value) -> bytes | None:
        """The plugin of a value; its metadata are kept for later values of the tag."""
        if value.plugin is None:
            return self.plugin_of(value.tag)
        if len(self.plugins) < tag_table.TAG_CAP:
            self.plugins.setdefault(_key(value.tag), value.plugin)
        return value.plugin

    def plugin_of(self, tag: bytes) -> bytes | None:
        """The plugin in the first metadata of a tag so far."""
        return self.plugins.get(_key(tag))

    def is_scalar(self, tag: bytes) -> bool:
        """Whether a tensor of this tag without metadata is a scalar, by the metadata so far."""
        return self.plugin_of(tag) == SCALARS

    def fork(self) -> EventTags:
        """A copy that shares numbers but not later metadata, for previews of the end of a file."""
        other = EventTags()
        other.names, other._numbers = self.names, self._numbers
        other._number_of_raw = self._number_of_raw
        other.plugins = dict(self.plugins)
        return other

"""TensorBoard event files, read without TensorFlow and without protobuf code.

From the file up:

`records`  framing: where records begin and end, one by one, and resynchronisation behind damage.
`wire`, `event`, `tensor`, `words`  one record by the book: the protobuf wire format, what an Event
    says, scalars in tensors, texts and hyperparameters.
`shapes`  the bytes that all records of a tag share; who knows them need not parse.
`tail`  the path for few records, one at a time, every checksum proved.
`large`  records longer than a block.
`damage`  patience with trouble, and what is said about it.
`log`  joins them into a `logs.base.Log`.
"""

from __future__ import annotations

from rltui.logs.base import Log
from rltui.logs.tfevents.log import EventLog

_PACKED = (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz")


class EventFiles:
    """The `logs.base.Format` of event files."""

    name = "tfevents"
    rewrites = False

    def matches(self, name: str, head: bytes) -> bool:
        """Whether the base name says so; content does not decide, a first record may be damaged.

        Hidden files are the unfinished copies that rsync makes; `.profile-empty` is an empty marker.
        """
        return (
            "tfevents" in name
            and not name.startswith(".")
            and not name.endswith((".profile-empty", *_PACKED))
            and not head.startswith(b"\x1f\x8b")
        )

    def open(self, path: str, verify: bool = False) -> Log:
        """A log at offset 0. `verify` proves every data CRC in bulk too, at about two thirds of the speed."""
        return EventLog(path, verify)


FORMAT = EventFiles()

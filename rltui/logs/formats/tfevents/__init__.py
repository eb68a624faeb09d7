"""TensorBoard event files, read without TensorFlow and without protobuf code.

A file is a row of records, a record one Event message, and nearly every event says one scalar of one
tag. From the file up:

`records`  framing: where records begin and end, one by one, and where to go on behind damage. `crc`.
`wire`, `event`, `tensor`, `words`  one record by the book: the wire format, what an Event says, scalars in
    tensors, texts and hyperparameters. `tags` numbers the tags, `rows` gathers what is found.
`shapes`, `known`  the bytes that all records of a tag share: who has parsed one can read the others by
    comparing. In the book for all logs, and what they mean in one log.
`tail`  few records, one at a time, every checksum proved: what a live run writes in a step.
`block`, `framing`, `table`, `template`, `proof`, `bulk`  many records at once as numpy columns: gathers and
    varints; framing without a loop; shapes by hash and comparison; events with many values; checksums.
`ending`  the end of a file, read without what lies before.
`large`  records longer than a block, of which only what matters is read.
`damage`  patience with trouble, and what is said about it.
`log`  joins them into a `logs.base.Log`.

Both paths give the same scalars to the bit. An event read by either is the same event.
"""

from __future__ import annotations

from rltui.logs.formats.interface import LogReader
from rltui.logs.formats.tfevents.event_file import EventLog

_PACKED = (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz")


class EventFileFormat:
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

    def open(self, path: str, verify: bool = False) -> LogReader:
        """A log at offset 0. `verify` proves every data CRC in bulk too, at about two thirds of the speed."""
        return EventLog(path, verify)


FORMAT = EventFileFormat()

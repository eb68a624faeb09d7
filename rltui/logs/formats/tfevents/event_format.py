"""The format of TensorBoard event files; their reader is imported with the first of them.

That takes 3 % of what `export` of another log needs in all.
"""

from __future__ import annotations

from rltui.logs.formats.interface import Format, LogReader
from rltui.logs.log_file_names import is_events

_PACKED = (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz")


def _matches(name: str, head: bytes) -> bool:
    """Whether the base name says so; content does not decide, a first record may be damaged.

    Hidden files are the unfinished copies that rsync makes; `.profile-empty` is an empty marker.
    """
    return (
        is_events(name)
        and not name.startswith(".")
        and not name.endswith((".profile-empty", *_PACKED))
        and not head.startswith(b"\x1f\x8b")
    )


def _reader(path: str, verify: bool) -> LogReader:
    from rltui.logs.formats.tfevents.event_file import EventFileReader

    return EventFileReader(path, verify=verify)


FORMAT = Format("tfevents", _matches, _reader)

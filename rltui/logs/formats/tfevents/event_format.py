"""The format of TensorBoard event files. The reader is imported with the first such file.

Importing it takes 3 % of the time of an `export` of another log.
"""

from __future__ import annotations

from rltui.logs.formats.interface import Format, LogReader
from rltui.logs.log_file_names import is_events

_ARCHIVES = (".gz", ".zst", ".xz", ".bz2", ".zip", ".tar", ".tgz")


def _matches(name: str, head: bytes) -> bool:
    """By the base name only, since the first record may be damaged.

    Hidden files are unfinished copies of rsync; `.profile-empty` is an empty marker file.
    """
    return (
        is_events(name)
        and not name.startswith(".")
        and not name.endswith((".profile-empty", *_ARCHIVES))
        and not head.startswith(b"\x1f\x8b")
    )


def _reader(path: str, verify: bool) -> LogReader:
    from rltui.logs.formats.tfevents.event_file import EventFileReader  # 4 ms, with the first file

    return EventFileReader(path, verify=verify)


FORMAT = Format("tfevents", _matches, _reader)

"""What the follower must know of formats: which names to open, and which format a head belongs to."""

from __future__ import annotations

from typing import Protocol

from rltui.logs.formats.interface import Format, LogReader
from rltui.logs.run_names import rotated_from


class FormatRegistry(Protocol):
    """The formats as one object; tests bring their own."""

    def recognise(self, name: str, head: bytes) -> Format | None:
        """The format of a file with this base name and these first bytes."""
        ...

    def could_be_log(self, name: str) -> bool:
        """Whether a file of this base name is worth opening. No I/O."""
        ...


def open_log(known: Format, path: str, *, verify: bool = False) -> LogReader:
    """A log of a format; `verify` proves every checksum where the format has any."""
    if verify and known.name == "tfevents":
        from rltui.logs.formats.tfevents.event_file import EventLog

        return EventLog(path, verify=True)
    return known.open(path)


class AllFormats:
    """Every format that rltui reads, rotated logs (``metrics.jsonl.1``) under the name they had."""

    def recognise(self, name: str, head: bytes) -> Format | None:
        """The format of a file with this base name and these first bytes."""
        from rltui.logs.formats import registry

        return registry.recognise(_original(name), head)

    def could_be_log(self, name: str) -> bool:
        """Whether a file of this base name is worth opening."""
        from rltui.logs.formats import registry

        return registry.could_be_log(name) or registry.could_be_log(_original(name))


def _original(name: str) -> str:
    """The name that a log had before it was rotated; a compressed one stays one."""
    base = rotated_from(name)
    return name if base is None else f"{base}.gz" if name.endswith(".gz") else base

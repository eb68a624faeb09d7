"""Files found by the search, and the runs they were assigned to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.container import Part
from rltui.logs.formats.registry import FormatRegistry


class FoundFile(NamedTuple):
    """A file with the name of a log."""

    place: str  # absolute path, not cleaned
    path: str  # relative to LOGDIR, cleaned
    folder: str  # of `path`; empty for LOGDIR itself
    name: str  # base name
    run: str  # by its path alone
    rank: int | None  # of the worker that wrote it, from its name
    device: int = 0  # of its folder: files of one device hang together when a mount fails
    explicit: bool = False  # LOGDIR is this file, or its content says that it is a log: it may have any name
    part: Part[Any] | None = None  # of a container; `place` and `name` include its key


class AssignedLog(NamedTuple):
    """A found file that was assigned to a run; for the fields see `LogFile`."""

    found: FoundFile
    run: str
    duplicate_of: str | None
    tag_map: Callable[[str], str] | None
    size: int  # bytes when it was assigned
    part_key: tuple[str, str] | None = None  # container and key of its part, in place of `found.part`

    def without_part(self) -> AssignedLog:
        """The same with the key of its part, so that another process can be given it."""
        part = self.found.part
        if part is None:
            return self
        return self._replace(found=self.found._replace(part=None), part_key=(part.place, part.key))

    def with_part(self, formats: FormatRegistry) -> AssignedLog:
        """The same with its part, which is looked up again. Raises OSError, ENOENT if it is gone."""
        if self.part_key is None:
            return self
        place, key = self.part_key
        listed = formats.parts(place)
        part = next((each for each in listed.parts if each.key == key), None) if listed else None
        if part is None:
            raise FileNotFoundError(2, "No such run in it any more", place)
        return self._replace(found=self.found._replace(part=part), part_key=None)


class VisitedPaths(NamedTuple):
    """Absolute paths that a search has visited: its result is valid as long as none of them changes.

    files: containers and files that were opened. certain: nothing else can change the result.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    certain: bool = False

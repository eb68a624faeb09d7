"""What the search finds: files named like a log, and their place among the runs."""

from __future__ import annotations

from collections.abc import Callable

from rltui.common.named_tuple import NamedTuple
from rltui.logs.formats.container import Part
from rltui.logs.formats.registry import FormatRegistry


class FoundFile(NamedTuple):
    """A file named like a log."""

    place: str  # absolute, as the system spells it
    path: str  # relative to LOGDIR, cleaned
    folder: str  # of `path`; empty for LOGDIR itself
    name: str  # base name
    run: str  # by its place and name alone
    rank: int | None  # the worker that wrote it, where the name says so
    device: int = 0  # of its folder: what hangs together when a mount dies
    asked: bool = False  # the user named this very file
    part: Part | None = None  # of a container: `place` and `name` tell it from the others in there


class PlacedLog(NamedTuple):
    """A found file with its place among the runs (`LogFile` says what the fields mean)."""

    found: FoundFile
    run: str
    duplicate_of: str | None
    tag_map: Callable[[str], str] | None
    size: int  # bytes when it was placed
    part_of: tuple[str, str] | None = None  # place and key of its part, while it travels without it

    def portable(self) -> PlacedLog:
        """The same without what only this process knows."""
        part = self.found.part
        if part is None:
            return self
        return self._replace(found=self.found._replace(part=None), part_of=(part.place, part.key))

    def arrived(self, formats: FormatRegistry) -> PlacedLog:
        """The same with its part, which is looked up again. Raises OSError, ENOENT where it is gone."""
        if self.part_of is None:
            return self
        place, key = self.part_of
        listed = formats.parts(place)
        part = next((each for each in listed.parts if each.key == key), None) if listed else None
        if part is None:
            raise FileNotFoundError(2, "No such run in it any more", place)
        return self._replace(found=self.found._replace(part=part), part_of=None)


class Walked(NamedTuple):
    """Absolute paths that a search has looked at: as long as none of them changes, it finds the same.

    containers and files that were opened are `files`. certain: nothing else could change what is found.
    """

    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    certain: bool = False

"""A log of which it is known which run it belongs to: as much as another process needs to read it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from rltui.logs.formats.registry import FormatRegistry
from rltui.logs.local_file import FoundFile


@dataclass(frozen=True, slots=True)
class PlacedLog:
    """A found file with its place among the runs (`LogFile` says what the fields mean)."""

    found: FoundFile
    run: str
    also_of: str | None
    tag_map: Callable[[str], str] | None
    size: int  # bytes when it was placed
    part_of: tuple[str, str] | None = None  # place and key of its part, while it travels without it

    def portable(self) -> PlacedLog:
        """The same without what only this process knows."""
        part = self.found.part
        if part is None:
            return self
        return replace(self, found=replace(self.found, part=None), part_of=(part.place, part.key))

    def arrived(self, formats: FormatRegistry) -> PlacedLog:
        """The same with its part, which is looked up again. Raises OSError, ENOENT where it is gone."""
        if self.part_of is None:
            return self
        place, key = self.part_of
        listed = formats.parts(place)
        part = next((each for each in listed.parts if each.key == key), None) if listed else None
        if part is None:
            raise FileNotFoundError(2, "No such run in it any more", place)
        return replace(self, found=replace(self.found, part=part), part_of=None)

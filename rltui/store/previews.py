"""The last points of large logs, shown until the history before them has been read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from rltui.store.points import Points, join
from rltui.store.tag_rows import PointBlock


@dataclass(slots=True, eq=False)
class _Preview:
    until: int  # bytes of the log after which it is no longer needed
    points: dict[int, Points]  # by row, in step order


class Previews:
    """The previews of a run, one for each log."""

    def __init__(self) -> None:
        self._by_log: dict[str, _Preview] = {}

    def __bool__(self) -> bool:
        return bool(self._by_log)

    def put(self, path: str, until: int, block: PointBlock) -> None:
        """Show these points until `until` bytes of the log have been read."""
        self._by_log[path] = _Preview(until, {row: _by_step(points) for row, points in block})

    def read_up_to(self, path: str, read: int) -> None:
        """Drop the preview of a log if the `read` bytes that have been read include it."""
        preview = self._by_log.get(path)
        if preview is not None and read >= preview.until:
            del self._by_log[path]

    def forget(self, path: str) -> None:
        """Drop the preview of a log that is read again from its start."""
        self._by_log.pop(path, None)

    def of(self, row: int) -> Points:
        """Points of the previews for one row, in step order."""
        parts = [preview.points[row] for preview in self._by_log.values() if row in preview.points]
        return _by_step(join(parts)) if len(parts) > 1 else join(parts)


def _by_step(points: Points) -> Points:
    return points.take(np.argsort(points.step, kind="stable"))

"""The ends of logs, shown while their history is still being read."""

from __future__ import annotations

import numpy as np

from rltui.common.data_class import dataclass
from rltui.store.points import NO_POINTS, Points, join
from rltui.store.tag_rows import PointBlock


@dataclass(slots=True, eq=False)
class _Preview:
    until: int  # bytes of the log at which the history has caught up with it
    points: dict[int, Points]  # by row, in step order


class Previews:
    """By log, the points of its end."""

    def __init__(self) -> None:
        self._by_log: dict[str, _Preview] = {}

    def __bool__(self) -> bool:
        return bool(self._by_log)

    def put(self, path: str, until: int, block: PointBlock) -> None:
        """Show these points until so many bytes of the log have been read."""
        self._by_log[path] = _Preview(until, {row: _by_step(points) for row, points in block})

    def read_up_to(self, path: str, read: int) -> None:
        """So many bytes of the log have been read: drop its preview once these include it."""
        preview = self._by_log.get(path)
        if preview is not None and read >= preview.until:
            del self._by_log[path]

    def forget(self, path: str) -> None:
        """The log begins anew."""
        self._by_log.pop(path, None)

    def of(self, row: int) -> Points:
        """Points of the previews for one row, in step order."""
        parts = [preview.points[row] for preview in self._by_log.values() if row in preview.points]
        if len(parts) < 2:
            return parts[0] if parts else NO_POINTS
        return _by_step(join(parts))


def _by_step(points: Points) -> Points:
    return points.take(np.argsort(points.step, kind="stable"))

"""Superseded points: all are counted, the newest of each series are kept."""

from __future__ import annotations

from dataclasses import dataclass, field

from rltui.store.points import NO_POINTS, Points, join

KEPT = 1024  # superseded points of a series that are kept


@dataclass(slots=True)
class _OfRow:
    count: int = 0
    exact: bool = True  # False: a bucket holds points before and after a restart
    kept: list[tuple[Points, str]] = field(default_factory=list)  # with the log that superseded them
    kept_points: int = 0


class SupersededPoints:
    """Superseded points by row."""

    def __init__(self) -> None:
        self.total = 0
        self._by_row: dict[int, _OfRow] = {}

    @property
    def exact(self) -> bool:
        """Whether the counts are exact."""
        return all(of.exact for of in self._by_row.values())

    def count(self, row: int) -> int:
        """The number of superseded points of a row."""
        return self._by_row[row].count if row in self._by_row else 0

    def points(self, row: int) -> Points:
        """Those of a row that are kept, the newest `KEPT`, in the order in which they were superseded."""
        return join([points for points, _ in self._by_row[row].kept]) if row in self._by_row else NO_POINTS

    def put(self, row: int, points: Points, count: int, exact: bool, by: str) -> None:
        """Add `count` points that the log `by` superseded; `points`: those that were not in buckets."""
        of = self._by_row.setdefault(row, _OfRow())
        of.count += count
        self.total += count
        of.exact &= exact
        if not len(points):
            return
        of.kept.append((points, by))
        surplus = of.kept_points + len(points) - KEPT
        of.kept_points = min(of.kept_points + len(points), KEPT)
        while surplus > 0:
            oldest, log = of.kept.pop(0)
            if len(oldest) > surplus:
                of.kept.insert(0, (oldest.take(slice(surplus, None)), log))
            surplus -= len(oldest)

    def take_back(self, by: str) -> dict[int, Points]:
        """Remove and return, by row, the kept points that a log superseded which is no later attempt."""
        found = {}
        for row, of in sorted(self._by_row.items()):
            points = join([part for part, log in of.kept if log == by])
            if len(points):
                of.kept = [entry for entry in of.kept if entry[1] != by]
                of.count -= len(points)
                of.kept_points -= len(points)
                self.total -= len(points)
                found[row] = points
        return found

    def forget(self, row: int) -> None:
        """Remove the points of a row whose log is read again from its start."""
        self.total -= self.count(row)
        self._by_row.pop(row, None)

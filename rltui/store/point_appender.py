"""Appends the points of a run's logs to its series table, and sets aside what restarts superseded.

`Supersession` determines which attempt each point belongs to and what that attempt supersedes. Nearly all
points go forward in a known attempt and are appended as a block. All others are examined one by one, which
takes two to three times as long (bench_store).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

import numpy as np

from rltui.common.arrays import Bools, distinct
from rltui.common.display_text import count_of
from rltui.common.problem import Problem, Problems
from rltui.draw.numbers import format_step
from rltui.logs.batch import Batch
from rltui.logs.delivery import Source
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, NewPoints, Points, join
from rltui.store.restarts.segments import AttemptLog, Cut, Piece, Segment
from rltui.store.restarts.supersession import Supersession
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import PointBlock, Rows, TagRows


class PointAppender:
    """Appends points of one run. points: how many were read, superseded ones included."""

    def __init__(
        self,
        tags: TagRows,
        table: SeriesTable,
        restarts: Supersession,
        superseded: SupersededPoints,
        problems: Problems,
    ) -> None:
        self.tags = tags
        self.table = table
        self.restarts = restarts
        self.superseded = superseded
        self.problems = problems
        self.points = 0

    def append(self, source: Source, batch: Batch) -> list[NewPoints]:
        """Append the points of a log in file order; returns the new shown points by tag."""
        self.points += len(batch)
        log = self.restarts.log(source.path, source.rank)
        rows = self.tags.of_batch(source.path, batch)
        self.table.add_rows(len(self.tags), len(batch) // max(len(self.tags), 1))
        if not np.logical_and.reduce(batch.single):
            self.table.note_doubles(rows if not batch.single.any() else rows[~batch.single], batch.value)
        points = Points(batch.step, batch.wall_time, batch.value)
        if len(batch) and log.segments and not batch.starts:
            block = PointBlock.grouped(rows, points)
            if self._append_block(log, points, block):
                return self._new_points(block)
        return self._append_any(log, rows, points, batch)

    def _append_block(self, log: AttemptLog, points: Points, block: PointBlock) -> bool:
        """Append points that go forward in every series; False, and no change, otherwise."""
        distinct_rows, step = block.rows, block.points.step
        tails = block.starts + block.sizes - 1
        if log.regressions.no_repeats:  # a repeated step may be a restart
            back = step[1:] <= step[:-1]
        else:
            back = step[1:] < step[:-1]
        back[tails[:-1]] = False
        if back.any():
            return False
        first, last = step[block.starts], step[tails]
        forward = bool((first >= self.table.newest(distinct_rows)).all())
        if log.regressions.peculiar and not forward:
            return False
        if not self.restarts.extend(log, distinct_rows, first, last, points.step, points.wall_time):
            return False
        if forward:
            self.table.append_block(block)
        else:  # another log has newer points of a shared tag
            self.table.insert_block(block)
        return True

    def _append_any(self, log: AttemptLog, rows: Rows, points: Points, batch: Batch) -> list[NewPoints]:
        restarts = self.restarts
        known = {id(segment) for segment in restarts.segments}
        pieces = restarts.split(log, rows, points, batch.starts)
        begun = [segment for segment in restarts.segments if id(segment) not in known]
        released = self._release()
        before = self.superseded.total
        cuts, back_rows, back = restarts.note_points(log, pieces, rows, points, len(self.tags))
        moved_rows, moved = self._cut(cuts, begun, back_rows, back)
        superseded = self._supersede_later(pieces[0].segment, moved_rows, moved)
        moved_rows, moved = np.delete(moved_rows, superseded), moved.without(superseded)
        shown = self._shown(pieces, rows, points)
        restarts.commit(log, len(rows))
        if shown is not None:
            rows, points = rows[shown], points.take(shown)
        if len(moved_rows):
            rows, points = np.concatenate([moved_rows, rows]), join([moved, points])
        block = PointBlock.grouped(rows, points) if len(rows) else None
        if block is not None:
            self.table.insert_block(block)
        if self.superseded.total != before:
            self._report_restarts()
        rewound: dict[int, int] = {}
        for cut in cuts:
            rewound[cut.row] = min(cut.low, rewound.get(cut.row, HIGHEST))
        late = {cut.row for cut in cuts if cut.high < HIGHEST}
        return [*released, *self._new_points(block, rewound, late)]

    # ---- what restarts supersede

    def _shown(self, pieces: Sequence[Piece], rows: Rows, points: Points) -> Bools | None:
        """Points of the batch that no later attempt superseded; None: all. Sets the others aside."""
        shown: Bools | None = None
        for piece in pieces:
            part = np.arange(max(piece.low, 0), piece.high)
            superseded = self._supersede_later(piece.segment, rows[part], points.take(part))
            if len(superseded):
                shown = np.ones(len(rows), np.bool_) if shown is None else shown
                shown[part[superseded]] = False
        return shown

    def _supersede_later(self, segment: Segment, rows: Rows, points: Points) -> Rows:
        """Set aside those of a segment's points that later attempts superseded; their indices."""
        limit = self.restarts.limit(segment)
        if limit is None or not len(rows):
            return np.empty(0, np.intp)
        superseded = np.flatnonzero(points.step >= limit[rows])
        for row in distinct(rows[superseded]).tolist():
            gone = points.take(superseded[rows[superseded] == row])
            for cause, which in self.restarts.causes(segment, row, gone.step):
                part = gone.take(which)
                self._supersede(row, part, len(part), True, cause)
        return superseded

    def _supersede(self, row: int, points: Points, count: int, exact: bool, cause: Segment) -> None:
        self.superseded.put(row, points, count, exact, cause.log.path)
        cause.note_replaced(row, points, count)

    def _cut(
        self, cuts: Sequence[Cut], begun: Sequence[Segment], back_rows: Rows, back: Points
    ) -> tuple[Rows, Points]:
        """Remove superseded points from the table. Returns those removed that belong to the new attempt.

        begun: segments that began with this batch. The first of them that reaches a point supersedes it, even
        if a later one declared the start that made the cut.
        """
        moved: list[tuple[int, Points]] = []
        for cut in cuts:
            gone, count, exact = self.table.cut(cut.row, cut.low, cut.high)
            keep = np.ones(len(gone), np.bool_)
            own = np.flatnonzero((back_rows == cut.row) & (back.step >= cut.low) & (back.step < cut.high))
            in_buckets = count - len(gone)
            for index in own.tolist():
                same = np.flatnonzero(keep & (gone.step == back.step[index]))
                if len(same):
                    keep[same[-1]] = False  # of equal steps the newest arrival is last
                elif in_buckets:
                    in_buckets -= 1
                else:
                    continue
                moved.append((cut.row, back.take(slice(index, index + 1))))
                count -= 1
            if not count and exact:
                continue
            gone = gone.take(keep)
            left = np.ones(len(gone), np.bool_)
            for cause in begun[: begun.index(cut.cause)] if cut.cause in begun else ():
                by_cause = left & (gone.step >= cause.cuts[cut.row])
                if by_cause.any():
                    self._supersede(cut.row, gone.take(by_cause), int(by_cause.sum()), True, cause)
                    left &= ~by_cause
            self._supersede(cut.row, gone.take(left), count - int((~left).sum()), exact, cut.cause)
        return np.array([row for row, _ in moved], np.intp), join([points for _, points in moved])

    def _release(self) -> list[NewPoints]:
        """Show again what logs superseded that turned out to be written concurrently."""
        shown: list[NewPoints] = []
        for segment in self.restarts.released:
            segment.cuts[:] = HIGHEST
            for row, points in self.superseded.take_back(segment.log.path).items():
                segment.replaced -= len(points)
                self.table.insert_block(PointBlock.grouped(np.full(len(points), row, np.intp), points))
                shown.append(NewPoints(self.tags.tags[row], points))
            self._withdraw_restarts(segment.log.path)
        self.restarts.released.clear()
        return shown

    def forget(self, path: str) -> list[NewPoints]:
        """Remove the points of a log that is read again from its first byte."""
        log = self.restarts.logs.get(path)
        self.points -= log.count if log is not None else 0
        self.restarts.forget(path)
        self._withdraw_restarts(path)
        emptied: list[NewPoints] = []
        for row in self.tags.forget(path).tolist():
            if self.table.clear(row):
                emptied.append(NewPoints(self.tags.tags[row], NO_POINTS, LOWEST))
            self.superseded.forget(row)
        return emptied

    def _withdraw_restarts(self, path: str) -> None:
        for code in ("restarted", "from-scratch"):
            self.problems.pop((code, path, None), None)

    def _report_restarts(self) -> None:
        """Report for each log what its resumes superseded and what its starts from scratch replaced."""
        by_log: dict[str, list[Segment]] = {}
        for segment in self.restarts.segments:
            by_log.setdefault(segment.log.path, []).append(segment)
        restarted = self.restarts.from_scratch()
        for path, segments in by_log.items():
            self._withdraw_restarts(path)
            self._report_replaced(path, segments, restarted, from_scratch=False)
            self._report_replaced(path, segments, restarted, from_scratch=True)

    def _report_replaced(
        self, path: str, segments: Sequence[Segment], restarted: AbstractSet[int], *, from_scratch: bool
    ) -> None:
        causes = [segment for segment in segments if (id(segment) in restarted) is from_scratch]
        merged = sum(
            segment.merged_earlier if from_scratch else segment.merged_superseded for segment in segments
        )
        total = merged + sum(segment.replaced for segment in causes)
        if not total:
            return
        restarts = self.restarts.attempts()[1:]
        times = sum(attempt.path == path and attempt.from_scratch is from_scratch for attempt in restarts)
        times += segments[-1].log.merged if merged else 0
        last = causes[-1] if causes else segments[-1]
        if last.start < HIGHEST:
            step = last.start
        else:
            step = int(last.first.min()) if last.row_step is None else last.row_step
        points = f"{'' if self.superseded.exact else 'about '}{count_of(total, 'point')}"
        if from_scratch:
            repeated, verb = f" ({times} times)" if times > 1 else "", "is" if total == 1 else "are"
            kept = f"{points} of earlier trainings {verb} kept apart"
            message = f"begins at step {format_step(step)} again{repeated}; {kept}"
        else:
            repeated = f" (restarted {times} times)" if times > 1 else ""
            message = f"resumed at step {format_step(step)}; {points} superseded{repeated}"
        code = "from-scratch" if from_scratch else "restarted"
        problem = Problem("info", code, path, message, None, total)
        self.problems[problem.key] = problem

    # ---- what is new, by tag

    def _new_points(
        self,
        block: PointBlock | None,
        rewound: Mapping[int, int] = MappingProxyType({}),
        late: AbstractSet[int] = frozenset(),
    ) -> list[NewPoints]:
        """New shown points by tag, in order of arrival.

        rewound: by row, the step from which earlier points are superseded. late: rows for which an older log
        was read after a newer one, so that shown points from that step on are reported again.
        """
        new = {row: (points, rewound.get(row)) for row, points in block or ()}
        for row, step in rewound.items():
            points = new.get(row, (NO_POINTS, step))[0]
            if row in late:
                window = self.table.points(row)
                points = window.take(slice(int(np.searchsorted(window.step, step)), None)).copy()
            new[row] = (points, step)
        return [NewPoints(self.tags.tags[row], points, step) for row, (points, step) in new.items()]

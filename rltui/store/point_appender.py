"""The points of a run's logs on their way into its tables, past what restarts superseded.

`Supersession` says which attempt each point belongs to and what that attempt supersedes. Nearly all
points go forward in an attempt that is known, and are taken as a block (`append_block`). All others are
looked at one by one, which takes two to three times as long (bench_store).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from types import MappingProxyType

import numpy as np

from rltui.common.arrays import Bools, distinct
from rltui.common.problem import Problem, Problems
from rltui.logs.batch import Batch
from rltui.logs.delivery import Source
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, NewPoints, Points, join
from rltui.store.restarts.attempts import AttemptLog, Cut, Piece, Segment
from rltui.store.restarts.supersession import Supersession
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import PointBlock, Rows, TagRows


class PointAppender:
    """Puts the points of a run's logs into its series table, and aside what a restart superseded."""

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
        self.points = 0  # read, superseded ones too

    def append(self, source: Source, batch: Batch) -> list[NewPoints]:
        """Take the points of a log in, in the order of the file; the new shown points by tag."""
        self.points += len(batch)
        log = self.restarts.log(source.path, source.rank)
        rows = self.tags.of_batch(source.path, batch)
        self._make_room(rows, batch)
        points = Points(batch.step, batch.wall_time, batch.value)
        if len(batch) and not batch.starts:
            block = PointBlock.grouped(rows, points)
            if self._append_block(log, rows, points, block):
                return self._new_points(block)
        return self._append_any(log, rows, points, batch)

    def _make_room(self, rows: Rows, batch: Batch) -> None:
        """Rows for new tags. Some values may not have been float32 on disk."""
        self.table.add_rows(len(self.tags), len(batch) // max(len(self.tags), 1))
        if not np.logical_and.reduce(batch.single):
            self.table.note_doubles(rows if not batch.single.any() else rows[~batch.single], batch.value)

    def _append_block(self, log: AttemptLog, rows: Rows, points: Points, block: PointBlock) -> bool:
        """Append points that go forward in every series; False, and nothing taken, otherwise."""
        each, step = block.rows, block.points.step
        tails = block.starts + block.sizes - 1
        if log.regressions.plain:  # a step that is told twice may be a restart
            back = step[1:] <= step[:-1]
        else:
            back = step[1:] < step[:-1]
        back[tails[:-1]] = False
        if back.any():
            return False
        first, last = step[block.starts], step[tails]
        forward = bool((first >= self.table.newest(each)).all())
        if log.regressions.peculiar and not forward:  # tags that may go back
            return False
        if self.restarts.segments:
            if not self.restarts.advance(log, each, first, last, points.step, points.wall_time):
                return False
        elif len(rows) == len(each):
            return False
        else:
            head = rows[: len(each) + 1]  # so that one tag comes again
            self.restarts.begin(log, head, points.step, points.wall_time, each, first, last)
        if forward:
            self.table.append_block(block)
        else:  # another log went further in what it shares with this one
            self.table.insert_block(block)
        return True

    def _append_any(self, log: AttemptLog, rows: Rows, points: Points, batch: Batch) -> list[NewPoints]:
        restarts = self.restarts
        known = {id(segment) for segment in restarts.segments}
        pieces = restarts.feed(log, rows, points, batch.starts)
        begun = [segment for segment in restarts.segments if id(segment) not in known]
        released = self._release()
        before = self.superseded.total
        cuts, back_rows, back = restarts.admit_all(log, pieces, rows, points, len(self.tags))
        again_rows, again = self._once_more(pieces, *self._cut(cuts, begun, back_rows, back))
        shown = self._limit(pieces, rows, points)
        restarts.commit(log, len(rows))
        if shown is not None:
            rows, points = rows[shown], points.take(shown)
        if len(again_rows):
            rows, points = np.concatenate([again_rows, rows]), join([again, points])
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

    def _limit(self, pieces: Sequence[Piece], rows: Rows, points: Points) -> Bools | None:
        """Points of the batch that later attempts have not replaced; None: all. Puts the others aside."""
        shown: Bools | None = None
        for piece in pieces:
            part = np.arange(max(piece.low, 0), piece.high)
            over = self._over(piece.segment, rows[part], points.take(part))
            if len(over):
                shown = np.ones(len(rows), np.bool_) if shown is None else shown
                shown[part[over]] = False
        return shown

    def _over(self, segment: Segment, rows: Rows, points: Points) -> Rows:
        """Which of these points of a segment later attempts have replaced; puts them aside."""
        limit = self.restarts.limit(segment)
        if limit is None or not len(rows):
            return np.empty(0, np.intp)
        over = np.flatnonzero(points.step >= limit[rows])
        for row in distinct(rows[over]).tolist():
            gone = points.take(over[rows[over] == row])
            for cause, which in self.restarts.causes(segment, row, gone.step):
                part = gone.take(which)
                self._supersede(row, part, len(part), True, cause)
        return over

    def _supersede(self, row: int, points: Points, count: int, exact: bool, cause: Segment) -> None:
        self.superseded.put(row, points, count, exact, cause.log.path)
        cause.note_replaced(row, points, count)

    def _cut(
        self, cuts: Sequence[Cut], begun: Sequence[Segment], back_rows: Rows, back: Points
    ) -> tuple[Rows, Points]:
        """Take superseded points out; those taken along that belong to the new attempt, to go in again.

        begun: segments that began with this batch. The first of them that reaches a point replaced it, though
        the cut may be that of a start that a later one declared.
        """
        again: list[tuple[int, Points]] = []
        for cut in cuts:
            gone, count, exact = self.table.cut(cut.row, cut.low, cut.high)
            keep = np.ones(len(gone), np.bool_)
            own = np.flatnonzero((back_rows == cut.row) & (back.step >= cut.low) & (back.step < cut.high))
            in_buckets = count - len(gone)
            for index in own.tolist():
                same = np.flatnonzero(keep & (gone.step == back.step[index]))
                if len(same):
                    keep[same[-1]] = False  # of equal steps the newest arrival stands last
                elif in_buckets:
                    in_buckets -= 1
                else:
                    continue
                again.append((cut.row, back.take(slice(index, index + 1))))
                count -= 1
            if not count and exact:
                continue
            gone, elsewhere = gone.take(keep), np.ones(int(keep.sum()), np.bool_)
            for cause in begun[: begun.index(cut.cause)] if cut.cause in begun else ():
                mine = elsewhere & (gone.step >= cause.cuts[cut.row])
                if mine.any():
                    self._supersede(cut.row, gone.take(mine), int(mine.sum()), True, cause)
                    elsewhere &= ~mine
            rest = count - int((~elsewhere).sum())
            self._supersede(cut.row, gone.take(elsewhere), rest, exact, cut.cause)
        return np.array([row for row, _ in again], np.intp), join([points for _, points in again])

    def _once_more(self, pieces: Sequence[Piece], rows: Rows, points: Points) -> tuple[Rows, Points]:
        """Of points that changed sides, those that no still later attempt replaced. Puts the others aside."""
        over = self._over(pieces[0].segment, rows, points)
        return np.delete(rows, over), points.take(np.delete(np.arange(len(rows)), over))

    def _release(self) -> list[NewPoints]:
        """Logs that turned out to be written side by side give back what they had taken for superseded."""
        found: list[NewPoints] = []
        for segment in self.restarts.released:
            segment.cuts[:] = HIGHEST
            for row, points in self.superseded.take_back(segment.log.path).items():
                segment.replaced -= len(points)
                self.table.insert_block(PointBlock.grouped(np.full(len(points), row, np.intp), points))
                found.append(NewPoints(self.tags.tags[row], points))
            self._withdraw_restarts(segment.log.path)
        self.restarts.released.clear()
        return found

    def forget(self, path: str) -> list[NewPoints]:
        """A log is read again from its first byte: what it gave is gone."""
        log = self.restarts.logs.get(path)
        self.points -= log.count if log is not None else 0
        self.restarts.forget(path)
        self._withdraw_restarts(path)
        found: list[NewPoints] = []
        for row in self.tags.forget(path).tolist():
            if self.table.clear(row):
                found.append(NewPoints(self.tags.tags[row], NO_POINTS, LOWEST))
            self.superseded.forget(row)
        return found

    def _withdraw_restarts(self, path: str) -> None:
        for code in ("restarted", "from-scratch"):
            self.problems.pop((code, path, None), None)

    def _report_restarts(self) -> None:
        """Of each log what its resumes superseded and what its starts from scratch replaced, up to date."""
        by_log: dict[str, list[Segment]] = {}
        for segment in self.restarts.segments:
            by_log.setdefault(segment.log.path, []).append(segment)
        for path, segments in by_log.items():
            self._withdraw_restarts(path)
            self._report_replaced(path, segments, anew=False)
            self._report_replaced(path, segments, anew=True)

    def _report_replaced(self, path: str, segments: Sequence[Segment], *, anew: bool) -> None:
        mine = [each for each in segments if self.restarts.from_scratch(each) is anew]
        merged = sum(each.merged_earlier if anew else each.merged_superseded for each in segments)
        total = merged + sum(each.replaced for each in mine)
        if not total:
            return
        begun = self.restarts.attempts()[1:]
        times = sum(one.path == path and one.from_scratch is anew for one in begun)
        times += segments[-1].log.merged if merged else 0
        step = _first_step(mine[-1] if mine else segments[-1])
        points = f"{'' if self.superseded.exact else 'about '}{total} points"
        if anew:
            again = f" ({times} times)" if times > 1 else ""
            message = f"begins at step {step} again{again}; {points} of earlier trainings are kept apart"
        else:
            again = f" (restarted {times} times)" if times > 1 else ""
            message = f"resumed at step {step}; {points} superseded{again}"
        problem = Problem("info", "from-scratch" if anew else "restarted", path, message, None, total)
        self.problems[problem.key] = problem

    # ---- what is new, by tag

    def _new_points(
        self,
        block: PointBlock | None,
        rewound: Mapping[int, int] = MappingProxyType({}),
        late: AbstractSet[int] = frozenset(),
    ) -> list[NewPoints]:
        """New shown points by tag, in order of arrival.

        rewound: by row, the step from which earlier points are superseded. late: rows of which an older log
        was told after a newer one, so that shown points above that step are told again.
        """
        found = {row: (points, rewound.get(row)) for row, points in block or ()}
        for row, step in rewound.items():
            points = self._shown_from(row, step) if row in late else found.get(row, (NO_POINTS, step))[0]
            found[row] = (points, step)
        return [NewPoints(self.tags.tags[row], points, step) for row, (points, step) in found.items()]

    def _shown_from(self, row: int, step: int) -> Points:
        window = self.table.points(row)
        return window.take(slice(int(np.searchsorted(window.step, step)), None)).copy()


def _first_step(segment: Segment) -> int:
    """The step at which an attempt began: as declared, else where most of its tags did."""
    if segment.start < HIGHEST:
        return segment.start
    return int(segment.first.min()) if segment.axis is None else segment.axis

"""Taking points in: the cheap ways for ticks and for history, the long way where attempts change."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from rltui.batch import Batch, Problem, Problems
from rltui.logs.delivery import Source
from rltui.store.attempts import AttemptLog, Cut, Piece, Segment
from rltui.store.model import (
    HIGHEST,
    LOWEST,
    NO_POINTS,
    Attempt,
    Fresh,
    FreshList,
    Points,
    join,
    sensible,
)
from rltui.store.restarts import Restarts
from rltui.store.tag_rows import Groups, Rows, TagRows

TICK = 4096  # points of one delivery up to which the cheap way for ticks is tried


class PointAppender(TagRows):
    """Points of a run's logs, sorted into attempts and series."""

    def __init__(self, window: int, slots: int) -> None:
        super().__init__(window, slots)
        self.points = 0  # read, superseded ones too
        self.superseded = 0
        self.restarts = Restarts()
        self.problems = Problems()

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts in order; one for a training that was never restarted."""
        found: list[Attempt] = []
        for segment in self.restarts.segments:
            if segment.first_step == HIGHEST:
                continue
            if not found or segment.reason != "file" or self._goes_on(segment):
                first = segment.start if segment.start < HIGHEST and found else segment.first_step
                found.append(
                    Attempt(
                        first, segment.first_wall, segment.last_step, segment.reason, segment.log.path,
                        segment.superseded,
                    )
                )  # fmt: skip
        return found

    def _goes_on(self, late: Segment) -> bool:
        """Whether a later log speaks of tags of an earlier one, so that it is a resumed training."""
        speaks = late.first < HIGHEST
        for early in self.restarts.segments:
            if early is late:
                break
            size = min(len(speaks), len(early.first))
            if self.restarts.follows(late, early) and (speaks[:size] & (early.first[:size] < HIGHEST)).any():
                return True
        return False

    def _take(self, source: Source, batch: Batch) -> Sequence[Fresh]:
        step, wall, value = batch.step, batch.wall_time, batch.value
        size = len(step)
        log = self.restarts.log(source.path, source.rank)
        if size > len(self.series) and not batch.starts and not log.rewinds.peculiar:
            groups = self._groups_of(source.path, batch)
            self._note_doubles(source.path, batch)
            if self._march(log, groups, batch):
                self.points += size
                self._note_times(source.path, wall)
                return FreshList(lambda: self._fresh_of_groups(groups))
        turn = self._turn_of(source.path, batch) if 0 < size <= TICK and not batch.starts else None
        rows = self._rows_of(source.path, batch) if turn is None else turn.rows
        self.points += size
        self._note_doubles(source.path, batch)
        self._note_times(source.path, wall)
        if turn and self._goes_forward(log, rows, step) and self.restarts.tick(log, rows, step, wall):
            if self.restarts.released:
                self._release()
            self.pool.tick(rows, step, wall, value, turn.span)
            return FreshList(lambda: self._fresh_of_turn(turn, Points(step, wall, value)))
        return self._take_bulk(log, rows, batch)

    def _note_times(self, path: str, wall: NDArray[np.float64]) -> None:
        """Keep the run's clock; count times that cannot be meant. That none is given (NaN) is no trouble."""
        if self._clock(wall):
            return
        odd = wall[~sensible(wall) & ~np.isnan(wall)]
        if not len(odd):
            return
        known = self.problems.get(("odd-times", path, None))
        count = len(odd) + (known.count if known else 0)
        first = known.message.rpartition(" ")[2] if known else f"{odd[0]:g}"
        message = f"{count:,} points with a time that cannot be meant, taken as unknown; the first: {first}"
        told = Problem("warning", "odd-times", path, message, None, count)
        self.problems[told.key] = told

    def _note_doubles(self, path: str, batch: Batch) -> None:
        """Some values may not have been float32 on disk."""
        if np.logical_and.reduce(batch.single):
            return
        tags = batch.tag if not batch.single.any() else batch.tag[~batch.single]
        self.pool.single[self._tables[path][tags]] = False
        if self.pool.value.dtype == np.float32 and not self.pool.fits(batch.value):
            self.pool.widen()

    def _march(self, log: AttemptLog, groups: Groups, batch: Batch) -> bool:
        """Take points that go forward in every series; False, and nothing taken, otherwise."""
        each, heads, sizes, points = groups.each, groups.heads, groups.sizes, groups.points
        step = points.step
        if log.rewinds.plain:  # a step that is told twice may be a restart
            back = step[1:] <= step[:-1]
            back[(heads + sizes - 1)[:-1]] = False
            back[heads[-1] + sizes[-1] - 1 :] = False
        else:
            back = step[1:] < step[:-1]
        back[heads[1:] - 1] = False
        if back.any():
            return False
        first, last = step[heads], step[heads + sizes - 1]
        if not self.restarts.segments:
            if len(batch) == len(each):
                return False
            head = slice(0, len(each) + 1)  # so that one tag has its turn again
            rows = self._tables[log.path][batch.tag[head]]
            self.restarts.begin(log, rows, batch.step[head], batch.wall_time, each, first, last)
        elif not self.restarts.march(log, each, first, last, batch.wall_time):
            return False
        if self.restarts.released:
            self._release()
        if (first >= self.pool.newest(each)).all():
            self.pool.extend(each, heads, sizes, step, points.wall_time, points.value)
        else:  # another log went further in what it shares with this one
            order = np.arange(int(sizes.sum())) + np.repeat(heads - np.cumsum(sizes) + sizes, sizes)
            wall, value = points.wall_time[order], points.value[order]
            self.pool.add(np.repeat(each, sizes), step[order], wall, value)
        return True

    def _goes_forward(self, log: AttemptLog, rows: Rows, step: NDArray[np.int64]) -> bool:
        """Whether no series speaks below its newest point. What a log alone tells, its attempts know."""
        if len(self.restarts.logs) == 1 and not log.rewinds.peculiar:
            return True
        length = self.pool.length[rows]
        newest = self.pool.step[rows, np.maximum(length, 1) - 1]
        return bool((step >= newest)[length > 0].all())

    def _take_bulk(self, log: AttemptLog, rows: Rows, batch: Batch) -> Sequence[Fresh]:
        step, wall, value = batch.step, batch.wall_time, batch.value
        restarts = self.restarts
        pieces = restarts.feed(log, rows, step, wall, value, batch.starts)
        fresh: list[Fresh] = []
        if restarts.released:
            fresh += self._release()
        before = self.superseded
        cuts, back_rows, back = restarts.admit_all(log, pieces, rows, step, wall, len(self.series))
        again = self._once_more(pieces, *self._cut(cuts, back_rows, back))
        shown = self._limit(pieces, rows, batch)
        restarts.settle(log, len(rows))
        points = Points(step, wall, value)
        if shown is not None:
            rows, points = rows[shown], Points(step[shown], wall[shown], value[shown])
        if len(again[0]):
            rows, points = np.concatenate([again[0], rows]), join([again[1], points])
        if len(rows):
            order = np.argsort(rows.astype(np.uint16) if len(self.series) < 1 << 16 else rows, kind="stable")
            self.pool.add(rows[order], points.step[order], points.wall_time[order], points.value[order])
        if self.superseded != before:
            self._tell()
        rewound: dict[int, int] = {}
        for cut in cuts:
            rewound[cut.row] = min(cut.low, rewound.get(cut.row, HIGHEST))
        late = {cut.row for cut in cuts if cut.high < HIGHEST}
        return FreshList(lambda: [*fresh, *self._fresh_of(rows, points, rewound, late)])

    def _limit(self, pieces: Sequence[Piece], rows: Rows, batch: Batch) -> NDArray[np.bool_] | None:
        """Points of the batch that later attempts have not replaced; None: all. Puts the others aside."""
        shown: NDArray[np.bool_] | None = None
        for piece in pieces:
            limit = self.restarts.limit(piece.segment)
            if limit is None:
                continue
            part = np.arange(max(piece.low, 0), piece.high)
            over = part[batch.step[part] >= limit[rows[part]]]
            if not len(over):
                continue
            if shown is None:
                shown = np.ones(len(rows), np.bool_)
            shown[over] = False
            for row in np.unique(rows[over]).tolist():
                at = over[rows[over] == row]
                cause = self._cause(piece.segment, row, int(limit[row]))
                points = Points(batch.step[at], batch.wall_time[at], batch.value[at])
                self._supersede(row, points, len(at), True, cause)
        return shown

    def _cause(self, segment: Segment, row: int, limit: int) -> Segment:
        segments = self.restarts.segments
        for late in segments[segments.index(segment) + 1 :]:
            if late.cuts[row] == limit and self.restarts.follows(late, segment):
                return late
        return segments[-1]

    def _supersede(self, row: int, points: Points, count: int, exact: bool, cause: Segment) -> None:
        self.series.of(row).supersede(points, count, exact, cause.log.path)
        cause.superseded += count
        self.superseded += count

    def _cut(self, cuts: Sequence[Cut], back_rows: Rows, back: Points) -> tuple[Rows, Points]:
        """Take superseded points out; those taken along that belong to the new attempt, to go in again."""
        again: list[tuple[int, Points]] = []
        for cut in cuts:
            gone, count, exact = self.pool.cut(cut.row, cut.low, cut.high)
            keep = np.ones(len(gone), np.bool_)
            mine = np.flatnonzero((back_rows == cut.row) & (back.step >= cut.low) & (back.step < cut.high))
            hidden = count - len(gone)  # in buckets
            for index in mine.tolist():
                same = np.flatnonzero(keep & (gone.step == back.step[index]))
                if len(same):
                    keep[same[-1]] = False  # of equal steps the newest arrival stands last
                elif hidden:
                    hidden -= 1
                else:
                    continue
                point = slice(index, index + 1)
                again.append((cut.row, Points(back.step[point], back.wall_time[point], back.value[point])))
                count -= 1
            if count or not exact:
                left = Points(gone.step[keep], gone.wall_time[keep], gone.value[keep])
                self._supersede(cut.row, left, count, exact, cut.cause)
        rows = np.array([row for row, _ in again], np.intp)
        return rows, join([points for _, points in again])

    def _once_more(self, pieces: Sequence[Piece], rows: Rows, points: Points) -> tuple[Rows, Points]:
        """Of points that changed sides, those that no still later attempt replaced. Puts the others aside."""
        segment = pieces[0].segment
        limit = self.restarts.limit(segment) if len(rows) else None
        if limit is None:
            return rows, points
        over = points.step >= limit[rows]
        for index in np.flatnonzero(over).tolist():
            row, one = int(rows[index]), slice(index, index + 1)
            left = Points(points.step[one], points.wall_time[one], points.value[one])
            self._supersede(row, left, 1, True, self._cause(segment, row, int(limit[row])))
        keep = ~over
        return rows[keep], Points(points.step[keep], points.wall_time[keep], points.value[keep])

    def _release(self) -> list[Fresh]:
        """Logs that turned out to be written side by side give back what they had taken for superseded."""
        fresh: list[Fresh] = []
        for segment in self.restarts.released:
            segment.cuts[:] = HIGHEST
            for series in self.series.touched():
                points = series.restore(segment.log.path)
                if not len(points):
                    continue
                self.superseded -= len(points)
                segment.superseded -= len(points)
                self.pool.add(
                    np.full(len(points), series.row, np.intp), points.step, points.wall_time, points.value
                )
                fresh.append(Fresh(series.tag, points))
            self.problems.pop(("restarted", segment.log.path, None), None)
        self.restarts.released.clear()
        return fresh

    def _forget(self, path: str) -> list[Fresh]:
        """A log is told again from its first byte: what it gave is gone."""
        table = self._tables.pop(path, None)
        self._previews.pop(path, None)
        log = self.restarts.logs.get(path)
        self.restarts.forget(path)
        for code in ("restarted", "odd-times"):
            self.problems.pop((code, path, None), None)
        if table is None or log is None:
            return []
        fresh: list[Fresh] = []
        self.points -= log.count
        others = {row for rows in self._tables.values() for row in rows.tolist()}
        for row in sorted(set(table[table >= 0].tolist()) - others):
            series = self.series.of(row)
            if self.pool.clear(row):
                fresh.append(Fresh(series.tag, NO_POINTS, LOWEST))
            self.superseded -= series.superseded
            series.forget()
        return fresh

    def _tell(self) -> None:
        """One line about the restarts that each log made, kept up to date."""
        often: dict[str, int] = {}
        for attempt in self.attempts[1:]:
            often[attempt.path] = often.get(attempt.path, 0) + 1
        about = "" if all(series.superseded_exact for series in self.series.touched()) else "about "
        causes: dict[str, list[Segment]] = {}
        for segment in self.restarts.segments:
            causes.setdefault(segment.log.path, []).append(segment)
        for path, segments in causes.items():
            total = sum(segment.superseded for segment in segments)
            if not total:
                continue
            last = segments[-1]
            step = last.start if last.start < HIGHEST else last.axis
            if step is None:
                step = int(last.first.min())
            again = often.get(path, 0) + last.log.merged
            times = f" (restarted {again} times)" if again > 1 else ""
            message = f"resumed at step {step}; {about}{total} points superseded{times}"
            problem = Problem("info", "restarted", path, message, None, total)
            self.problems[problem.key] = problem

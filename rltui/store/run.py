"""One run: its series, logs, attempts and everything else that is known of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from rltui.logs.delivery import Delivery, Source
from rltui.scalars import Batch, Problem, Text
from rltui.store.buckets import LOWEST
from rltui.store.points import I64, NO_POINTS, Attempt, Fresh, FreshList, Points, join, sensible
from rltui.store.pool import HIGHEST, Pool
from rltui.store.restarts import Cut, Log, Piece, Restarts, Segment
from rltui.store.series import Series

Rows = NDArray[np.intp]
KEPT_TEXTS = 1000  # text tags kept, the newest of each
KEPT_PROBLEMS = 1000
CADENCE = 256  # recent (step, wall) pairs for the pace of the run
TICK = 4096  # points of one delivery up to which the cheap way is tried


@dataclass(slots=True, eq=False)
class _Preview:
    """The end of a log, shown while its history is being read."""

    until: int  # bytes settled at which the history has caught up with it
    points: dict[int, Points]


def _agreed(last: I64) -> int | None:
    """The highest of many series' last steps on which several agree; None of none."""
    if not len(last):
        return None
    values, counts = np.unique(last, return_counts=True)
    agreed = values[counts >= max(2, len(last) // 10)]
    return int(agreed[-1]) if len(agreed) else int(values[-1])


class Run:
    """Everything that is held of one run. `version` changes with every change."""

    def __init__(self, name: str, window: int, slots: int) -> None:
        self.name = name
        self.series: dict[str, Series] = {}
        self.sources: dict[str, Source] = {}
        self.problems: dict[tuple[str, str, int | None], Problem] = {}
        self.texts: dict[str, Text] = {}
        self.hparams: dict[str, Any] = {}
        self.total_steps: int | None = None
        self.points = 0  # read, superseded ones too
        self.superseded = 0
        self.version = 0
        self.first_wall = np.nan  # lowest and highest sensible ones
        self.last_wall = np.nan
        self.pool = Pool(window, slots)
        self.restarts = Restarts()
        self._rows: list[Series] = []
        self._tables: dict[str, Rows] = {}
        self._previews: dict[str, _Preview] = {}
        self._walls: tuple[int, list[tuple[int, float]]] = (-1, [])
        self._ends: tuple[int, int | None, tuple[int, int] | None] = (-1, None, None)

    @property
    def previewing(self) -> bool:
        """Whether the ends of logs are shown while their history is still being read."""
        return bool(self._previews)

    @property
    def size(self) -> int:
        """Bytes of its logs, twins aside."""
        return sum(source.size for source in self.sources.values() if source.also_of is None)

    @property
    def read(self) -> int:
        """Bytes of its logs that are settled, twins aside."""
        return sum(source.read for source in self.sources.values() if source.also_of is None)

    @property
    def last_step(self) -> int | None:
        """The step the training is at: the highest one on which several series agree.

        A lone tag that counts something else (unix time, samples) does not decide; None without points.
        """
        if self._ends[0] != self.version:
            first, last = self._extents()
            self._ends = (
                self.version,
                _agreed(last),
                (int(first.min()), int(last.max())) if len(last) else None,
            )
        return self._ends[1]

    @property
    def span(self) -> tuple[int, int] | None:
        """Lowest and highest step that any series shows; None without points."""
        return None if self.last_step is None else self._ends[2]

    def _extents(self) -> tuple[I64, I64]:
        """Lowest and highest shown step of every series that has points."""
        pool, rows = self.pool, len(self._rows)
        if self._previews or rows > len(pool.length):
            pairs = [(one.first_step, one.last_step) for one in self._rows]
            known = [(first, last) for first, last in pairs if first is not None and last is not None]
            both = np.array(known, np.int64).reshape(-1, 2)
            return both[:, 0], both[:, 1]
        length = pool.length[:rows]
        last = np.where(
            length > 0, pool.step[np.arange(rows), np.maximum(length - 1, 0)], pool.bucketed[:rows]
        )
        there = (pool.first[:rows] != HIGHEST) & (last > LOWEST)
        return pool.first[:rows][there], last[there]

    @property
    def step_walls(self) -> list[tuple[int, float]]:
        """(step, wall time) per distinct recent step of the series with most points, oldest first."""
        if self._walls[0] != self.version:
            self._walls = (self.version, self._find_walls())
        return self._walls[1]

    def _find_walls(self) -> list[tuple[int, float]]:
        if not self._rows:
            return []
        row = max(range(len(self._rows)), key=lambda index: self._rows[index].count)
        recent = self._rows[row].recent(2 * CADENCE)
        pairs: dict[int, float] = {}
        for step, wall in zip(recent.step.tolist(), recent.wall_time.tolist(), strict=True):
            if sensible(wall):
                pairs.setdefault(step, wall)
        return list(pairs.items())[-CADENCE:]

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
        return any(
            self.restarts.follows(late, early)
            and bool(((late.first < HIGHEST) & (early.first[: len(late.first)] < HIGHEST)).any())
            for early in self.restarts.segments
            if early is not late and len(early.first) == len(late.first)
        )

    def apply(self, delivery: Delivery) -> Sequence[Fresh]:
        """Take a delivery in; the new shown points."""
        source, batch, kind = delivery.source, delivery.batch, delivery.kind
        self.version += 1
        self.sources[source.path] = source
        if batch.problems:
            self._note_problems(batch.problems)
        if batch.texts:
            self._note_texts(batch.texts)
        fresh: list[Fresh] = []
        if kind == "rewritten":
            fresh = self._forget(source.path)
        elif kind == "restarted":
            self.restarts.replaced(source.path)
            self._tables.pop(source.path, None)
            self._previews.pop(source.path, None)
        if source.also_of is not None or kind == "gone":
            if kind == "gone" and source.also_of is None and len(batch):
                return self._take(source, batch)
            return fresh
        if kind == "newest":
            self._preview(source, batch)
            return fresh
        preview = self._previews.get(source.path)
        if preview is not None and source.read >= preview.until:
            del self._previews[source.path]
        if not len(batch) and not batch.starts:
            return fresh
        taken = self._take(source, batch)
        return [*fresh, *taken] if fresh else taken

    # what is not a number

    def _note_problems(self, problems: Sequence[Problem]) -> None:
        for problem in problems:
            self.problems.pop(problem.key, None)
            if not problem.healed and len(self.problems) < KEPT_PROBLEMS:
                self.problems[problem.key] = problem

    def _note_texts(self, texts: Sequence[Text]) -> None:
        for text in texts:
            if text.kind == "total-steps":
                try:
                    self.total_steps = int(text.body)
                except ValueError:
                    continue
            elif text.kind == "hparams":
                try:
                    found = json.loads(text.body)
                except (ValueError, RecursionError):
                    continue
                if isinstance(found, dict):
                    self.hparams.update(found)
            else:
                self.texts.pop(text.tag, None)
                self.texts[text.tag] = text
                if len(self.texts) > KEPT_TEXTS:
                    del self.texts[next(iter(self.texts))]

    # tags

    def _rows_of(self, path: str, batch: Batch) -> Rows:
        """Rows of the points. A tag becomes a series with its first point."""
        table = self._tables.get(path)
        if table is None or len(table) < len(batch.tags):
            done = 0 if table is None else len(table)
            part = np.full(len(batch.tags) - done, -1, np.intp)
            table = self._tables[path] = part if table is None else np.concatenate([table, part])
        rows: Rows = table[batch.tag]
        if len(rows) and int(rows.min()) < 0:
            for index in dict.fromkeys(batch.tag[rows < 0].tolist()):
                table[index] = self._row(batch.tags[index])
            self.pool.add_rows(len(self._rows))
            rows = table[batch.tag]
        return rows

    def _row(self, tag: str) -> int:
        series = self.series.get(tag)
        if series is None:
            series = self.series[tag] = Series(self, tag, len(self._rows))
            self._rows.append(series)
        return series.row

    # previews

    def _preview(self, source: Source, batch: Batch) -> None:
        if not len(batch):
            return
        rows = self._rows_of(source.path, batch)
        order = np.lexsort((batch.step, rows))
        sorted_rows = rows[order]
        heads = np.flatnonzero(np.concatenate([[True], sorted_rows[1:] != sorted_rows[:-1]]))
        points: dict[int, Points] = {}
        for head, tail in zip(heads.tolist(), [*heads[1:].tolist(), len(order)], strict=True):
            at = order[head:tail]
            points[int(sorted_rows[head])] = Points(batch.step[at], batch.wall_time[at], batch.value[at])
        self._previews[source.path] = _Preview(source.size, points)
        self._clock(batch.wall_time)

    def preview_of(self, row: int) -> Points:
        """Points of the previews for one series, in step order."""
        parts = [preview.points[row] for preview in self._previews.values() if row in preview.points]
        if len(parts) < 2:
            return parts[0] if parts else NO_POINTS
        found = join(parts)
        order = np.argsort(found.step, kind="stable")
        return Points(found.step[order], found.wall_time[order], found.value[order])

    # points

    def _clock(self, wall: NDArray[np.float64]) -> None:
        if not len(wall):
            return
        low, high = float(wall.min()), float(wall.max())
        if not (sensible(low) and sensible(high)):
            known = wall[(wall > 0) & (wall < 1e11)]
            if not len(known):
                return
            low, high = float(known.min()), float(known.max())
        if not self.first_wall <= low:
            self.first_wall = low
        if not self.last_wall >= high:
            self.last_wall = high

    def _take(self, source: Source, batch: Batch) -> Sequence[Fresh]:
        rows = self._rows_of(source.path, batch)
        step, wall, value = batch.step, batch.wall_time, batch.value
        size = len(rows)
        self.points += size
        if not batch.single.all():
            for row in np.unique(rows[~batch.single]).tolist():
                self._rows[row].single = False
            if self.pool.value.dtype == np.float32 and not self.pool.fits(value):
                self.pool.widen()
        self._clock(wall)
        log = self.restarts.log(source.path, source.rank)
        if (
            size <= TICK
            and not batch.starts
            and self._is_tick(log, rows, step)
            and self.restarts.tick(log, rows, step, wall)
        ):
            if self.restarts.released:
                self._release()
            self.pool.tick(rows, step, wall, value)
            return FreshList(lambda: self._fresh_of(rows, Points(step, wall, value)))
        if not batch.starts and self.pool.rows and not log.rewinds.peculiar:
            order = self._order(rows)
            rows, step, wall, value = rows[order], step[order], wall[order], value[order]
            if self._march(log, rows, step, wall, value):
                return FreshList(lambda: self._fresh_of(rows, Points(step, wall, value)))
            rows = self._rows_of(source.path, batch)
        return self._take_bulk(log, rows, batch)

    def _order(self, rows: Rows) -> Rows:
        """Indices that sort by row, arrival within a row kept. Radix sort of small integers is fast."""
        narrow = rows.astype(np.uint16) if len(self._rows) < 1 << 16 else rows
        return np.argsort(narrow, kind="stable")

    def _march(
        self,
        log: Log,
        rows: Rows,
        step: NDArray[np.int64],
        wall: NDArray[np.float64],
        value: NDArray[np.float64],
    ) -> bool:
        """Take points, sorted by row, that go forward everywhere; False, and nothing taken, otherwise."""
        change = np.empty(len(rows), np.bool_)
        change[:1] = True
        np.not_equal(rows[1:], rows[:-1], out=change[1:])
        if ((step[1:] < step[:-1]) & ~change[1:]).any():
            return False
        heads = np.flatnonzero(change)
        tails = np.append(heads[1:], len(rows)) - 1
        if not self.restarts.march(log, rows[heads], step[heads], step[tails], wall):
            return False
        if self.restarts.released:
            self._release()
        self.pool.add(rows, step, wall, value)
        return True

    def _is_tick(self, log: Log, rows: Rows, step: NDArray[np.int64]) -> bool:
        """Whether each series speaks at most once and not below its newest point."""
        size = len(rows)
        if size == 0 or size > len(self._rows):
            return False
        seen = np.zeros(len(self._rows), np.bool_)
        seen[rows] = True
        if int(np.count_nonzero(seen)) != size:
            return False
        if len(self.restarts.logs) == 1 and not log.rewinds.peculiar:
            return True
        length = self.pool.length[rows]
        newest = self.pool.step[rows, np.maximum(length, 1) - 1]
        return bool((step >= newest)[length > 0].all())

    def _take_bulk(self, log: Log, rows: Rows, batch: Batch) -> Sequence[Fresh]:
        step, wall, value = batch.step, batch.wall_time, batch.value
        restarts = self.restarts
        pieces = restarts.feed(log, rows, step, wall, value, batch.starts)
        fresh: list[Fresh] = []
        if restarts.released:
            fresh += self._release()
        cuts: list[Cut] = []
        before = self.superseded
        back_rows, back = np.empty(0, np.intp), NO_POINTS
        for piece in pieces:
            part = slice(max(piece.low, 0), piece.high)
            piece_rows, piece_step, piece_wall = rows[part], step[part], wall[part]
            if piece.low < 0:
                back_rows, back = log.rewinds.reach_back(log.count, -piece.low)
                piece_rows = np.concatenate([back_rows, piece_rows])
                piece_step = np.concatenate([back.step, piece_step])
                piece_wall = np.concatenate([back.wall_time, piece_wall])
            cuts += restarts.admit(piece.segment, piece_rows, piece_step, piece_wall, len(self._rows))
        again = self._once_more(pieces, *self._cut(cuts, back_rows, back))
        shown = self._limit(pieces, rows, batch)
        restarts.settle(log, len(rows))
        points = Points(step, wall, value)
        if shown is not None:
            rows, points = rows[shown], Points(step[shown], wall[shown], value[shown])
        if len(again[0]):
            rows, points = np.concatenate([again[0], rows]), join([again[1], points])
        if len(rows):
            order = np.argsort(rows.astype(np.uint16) if len(self._rows) < 1 << 16 else rows, kind="stable")
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
        for late in self.restarts.segments:
            if late is not segment and late.cuts[row] == limit and self.restarts.follows(late, segment):
                return late
        return self.restarts.segments[-1]

    def _supersede(self, row: int, points: Points, count: int, exact: bool, cause: Segment) -> None:
        self._rows[row].supersede(points, count, exact, cause.log.path)
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
            for series in self._rows:
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
        self.problems.pop(("restarted", path, None), None)
        if table is None or log is None:
            return []
        fresh: list[Fresh] = []
        self.points -= log.count
        others = {row for rows in self._tables.values() for row in rows.tolist()}
        for row in sorted(set(table[table >= 0].tolist()) - others):
            series = self._rows[row]
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
        about = "" if all(series.superseded_exact for series in self._rows) else "about "
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
            times = f" (restarted {often[path]} times)" if often.get(path, 0) > 1 else ""
            message = f"resumed at step {step}; {about}{total} points superseded{times}"
            problem = Problem("info", "restarted", path, message, None, total)
            self.problems[problem.key] = problem

    def _fresh_of(
        self, rows: Rows, points: Points, rewound: dict[int, int] | None = None, late: set[int] | None = None
    ) -> list[Fresh]:
        """New shown points by tag in order of arrival."""
        found: list[Fresh] = []
        rewound = dict(rewound or {})
        if len(rows):
            order = np.argsort(rows, kind="stable")
            sorted_rows = rows[order]
            step, wall, value = points.step[order], points.wall_time[order], points.value[order]
            heads = np.flatnonzero(np.concatenate([[True], sorted_rows[1:] != sorted_rows[:-1]])).tolist()
            for head, tail in zip(heads, [*heads[1:], len(order)], strict=True):
                row = int(sorted_rows[head])
                part = Points(step[head:tail], wall[head:tail], value[head:tail])
                back = rewound.pop(row, None)
                if back is not None and late and row in late:
                    part = self._from(row, back)
                found.append(Fresh(self._rows[row].tag, part, back))
        for row, back in rewound.items():
            part = self._from(row, back) if late and row in late else NO_POINTS
            found.append(Fresh(self._rows[row].tag, part, back))
        return found

    def _from(self, row: int, step: int) -> Points:
        """Shown points of a window at or above a step: an older log was told after a newer one."""
        window = self.pool.points(row)
        begin = int(np.searchsorted(window.step, step))
        return Points(
            window.step[begin:].copy(), window.wall_time[begin:].copy(), window.value[begin:].copy()
        )

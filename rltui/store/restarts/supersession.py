"""Determines which points a restart superseded, as TensorBoard's reservoir does after a preemption.

A training that resumes from a checkpoint logs steps again that an earlier attempt had logged; the later
attempt counts. TensorBoard drops, in each tag separately, everything at or above a step that is smaller than
the one before. `Supersession` tracks attempts instead, since logs have tags with their own steps, points of
several writers, and several files. Only steps, wall times and the order of points are used, so the store (as
points arrive) and the export (in two passes) get the same result.

A *segment* is the part of a log between two starts. A start is the first point of a log (`file`), one that
the writer declared (`session-start`), or a point where the steps of the run as a whole went back (`rewind`;
see `step_regression` and, for a step logged twice, `repeated_step`). Segments are ordered by the age of their
logs, then by position in the log. The rule:

    A later segment supersedes what earlier ones logged of a tag from the step at which it begins to log that
    tag: the step of its first point, or the declared step for every tag.

A tag that it has not logged yet goes back with the tags of its first row, if it kept pace with them before.
Logs that were written concurrently (the earlier one continued after the later one began) do not affect each
other, nor do logs with different names of which one has no wall times.

An attempt that began from scratch (`from_scratch`) is shown in place of earlier points, which are set aside
in the same way, but count as another training and not as superseded.
"""

from __future__ import annotations

from collections.abc import Sequence
from collections.abc import Set as AbstractSet

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct_counts
from rltui.logs.batch import SessionStart
from rltui.store.points import HIGHEST, LOWEST, NO_POINTS, Points, join, sensible
from rltui.store.restarts.from_scratch import from_scratch
from rltui.store.restarts.segments import Attempt, AttemptLog, Cut, Piece, Reason, Segment, time_in_name
from rltui.store.tag_rows import Rows

KEPT_SEGMENTS = 32  # separate segments of one log; older ones are merged


class Supersession:
    """The segments of one run. For each batch: `split`, `note_points`, `limit`, `commit`."""

    def __init__(self, keep: int | None = KEPT_SEGMENTS) -> None:
        self.logs: dict[str, AttemptLog] = {}
        self.segments: list[Segment] = []
        self._rows = 0
        self._keep = keep
        self._parallel: set[tuple[str, str]] = set()  # paths of logs written concurrently
        self.released: list[Segment] = []  # whose cuts are withdrawn: their log is written concurrently
        self._attempts: tuple[object, list[Segment]] = (None, [])

    def log(self, path: str, rank: int | None = None) -> AttemptLog:
        """The present log at a path, created at the first call."""
        found = self.logs.get(path)
        if found is None:
            found = self.logs[path] = AttemptLog(path, rank, 0, time_in_name(path))
        return found

    def replace_log(self, path: str) -> None:
        """Begin a later log at `path`, where another file is now."""
        old = self.logs.get(path)
        if old is not None:
            self.logs[path] = AttemptLog(path, old.rank, old.generation + 1, old.born)

    def forget(self, path: str) -> None:
        """Forget a log that is read again from its first byte."""
        old = self.logs.pop(path, None)
        if old is not None:
            self.segments = [segment for segment in self.segments if segment.log is not old]

    def split(
        self, log: AttemptLog, rows: Rows, points: Points, starts: Sequence[SessionStart]
    ) -> list[Piece]:
        """Split a batch by segment. rows: of the points, (n,)."""
        size, before, wall = len(rows), log.last_wall, points.wall_time
        self._note_wall_times(log, wall)
        if not log.segments:
            self._open(log, log.count, "file", HIGHEST)
        breaks: list[tuple[int, Reason, int]] = []  # index, why, declared step
        bounds = sorted((min(max(start.index, 0), size), start.step) for start in starts)
        begin = 0
        for index, declared in [*bounds, (size, None)]:
            if index > begin:
                inside = slice(begin, index)
                found = log.regressions.scan(
                    log.count + begin, rows[inside], points.take(inside),
                    float(np.fmax.reduce(wall[:begin], initial=before)),
                )  # fmt: skip
                breaks += [(number - log.count, "rewind", HIGHEST) for number in found]
            begin = index
            if declared is not None:
                log.regressions.restart()
                breaks.append((index, "session-start", declared))
        pieces: list[Piece] = []
        low = 0
        for index, reason, declared in breaks:
            if index > low:
                pieces.append(Piece(log.segments[-1], low, index))
            low = index
            last, emptied = log.segments[-1], list[int]()
            if index < 0:  # its newest points belong to the next segment
                emptied = last.limit_high(log.regressions.reached)
            if last.begin == log.count + index:  # no points in between: one start
                last.start = min(last.start, declared)
                last.reason = reason if reason == "session-start" else last.reason
            else:
                self._open(log, log.count + index, reason, declared)
                if emptied:
                    cuts = self._cuts_of(last, self._before(last))
                    for row in emptied:
                        last.hand_over(row, int(cuts[row]), log.segments[-1])
        if size > low or not pieces:
            pieces.append(Piece(log.segments[-1], low, size))
        return pieces

    def extend(self, log: AttemptLog, rows: Rows, first: Ints, last: Ints, step: Ints, wall: Floats) -> bool:
        """Add points of the newest segment that go forward in every row.

        Without it, by `split`, a store takes 580 instead of 390 us for a live step of 60 tags.

        rows: distinct; first, last: the first and last step of these points in each row, known to go forward
        in between. step, wall: of all points. False, and no change, for all other points.
        """
        segment = log.segments[-1]
        if segment is not self.segments[-1] or segment.row_step is None or _lacks_points(segment, rows):
            return False
        if not log.regressions.note_forward(rows, first, last):
            return False
        segment.note_head(step)
        self._note_wall_times(log, wall)
        segment.high[rows] = last
        segment.last_step = max(segment.last_step, int(np.maximum.reduce(last)))
        log.count += len(wall)
        return True

    def commit(self, log: AttemptLog, size: int) -> None:
        """Finish a batch of `size` points of the log."""
        log.count += size
        log.regressions.commit()
        if log.segments and log.regressions.idle:
            log.segments[-1].uncertain.clear()
        if self._keep is not None and len(log.segments) > self._keep:
            self._merge(log)

    def _open(self, log: AttemptLog, begin: int, reason: Reason, start: int) -> None:
        for oldest in self.segments[:1]:  # a lone segment supersedes nothing: its cuts were not computed
            oldest.cuts[: self._rows] = np.minimum(oldest.cuts[: self._rows], self._cuts_of(oldest, ()))
        segment = Segment(log, begin, reason, start)
        segment.grow(max(self._rows, 8))
        log.segments.append(segment)
        self.segments.append(segment)
        self.segments.sort(key=lambda item: item.key)

    def _merge(self, log: AttemptLog) -> None:
        """Merge the two oldest segments of a log, which get no more points."""
        old, new = log.segments[0], log.segments[1]
        new.grow(len(old.first))
        size = len(old.first)
        for name, better in (("first", np.minimum), ("cuts", np.minimum), ("high", np.maximum)):
            array = getattr(new, name)
            array[:size] = better(array[:size], getattr(old, name))
        new.start = min(new.start, old.start)
        new.merged_superseded += old.merged_superseded
        new.merged_earlier += old.merged_earlier
        restarted = self.from_scratch()  # before the merge: the first segment is never one from scratch
        for each in (old, new):
            if id(each) in restarted:
                new.merged_earlier += each.replaced
            else:
                new.merged_superseded += each.replaced
            each.replaced = 0
        new.tags = int(np.count_nonzero(new.first < HIGHEST))
        new.begin, new.first_step = old.begin, min(old.first_step, new.first_step)
        new.reason, new.row_step, new.first_row = old.reason, old.row_step, old.first_row
        log.segments.pop(0)
        log.merged += 1
        self.segments.remove(old)

    def _note_wall_times(self, log: AttemptLog, wall: Floats) -> None:
        """Record first and last wall time; detect logs that are written concurrently."""
        if not len(wall):
            return
        last, first = float(np.maximum.reduce(wall)), float(wall[0])
        if not sensible(last) or not sensible(first):
            known = wall[sensible(wall)]
            if not len(known):
                return
            first, last = float(known[0]), float(known.max())
        new = np.isnan(log.first_wall)
        if new:
            log.date(first)
            log.last_wall = last
            self.segments.sort(key=lambda item: item.key)
        elif last > log.last_wall:
            log.last_wall = last
        if len(self.logs) < 2 or (not new and self.segments and self.segments[-1].log is log):
            return
        for other in {segment.log.path: segment.log for segment in self.segments}.values():
            if other.path == log.path:
                continue
            early, late = (log, other) if log.key < other.key else (other, log)
            pair = (early.path, late.path)
            if early.last_wall > late.first_wall and pair not in self._parallel:
                self._parallel.add(pair)
                self.released += late.segments

    def follows(self, late: Segment, early: Segment) -> bool:
        """Whether `late`, which sorts after `early`, is a later attempt of the same training."""
        new, old = late.log, early.log
        if new is old or new.path == old.path:
            return True
        if new.folder != old.folder or new.rank != old.rank or (old.path, new.path) in self._parallel:
            return False
        return new.base == old.base or bool(new.born and old.born)  # else it is unknown which came first

    def _before(self, late: Segment) -> list[Segment]:
        """The segments that `late` follows."""
        earlier = self.segments[: self.segments.index(late)]
        return earlier if len(self.logs) < 2 else [early for early in earlier if self.follows(late, early)]

    def note_points(
        self, log: AttemptLog, pieces: Sequence[Piece], rows: Rows, points: Points, rows_known: int
    ) -> tuple[list[Cut], Rows, Points]:
        """Record the points of a batch's pieces, in order.

        Returns the cuts of earlier points that follow, and rows and points of earlier batches that turned out
        to belong to a piece.
        """
        cuts: list[Cut] = []
        back_rows, back = np.empty(0, np.intp), NO_POINTS
        for piece in pieces:
            part = slice(max(piece.low, 0), piece.high)
            its_rows, its_points = rows[part], points.take(part)
            if piece.low < 0:
                back_rows, back = log.regressions.reach_back(log.count, -piece.low)
                its_rows, its_points = np.concatenate([back_rows, its_rows]), join([back, its_points])
            cuts += self._note_points_of(piece.segment, its_rows, its_points, rows_known)
        return cuts, back_rows, back

    def _note_points_of(self, segment: Segment, rows: Rows, points: Points, rows_known: int) -> list[Cut]:
        if rows_known > self._rows or len(segment.first) < rows_known:
            self._rows = max(rows_known, self._rows)
            for each in self.segments:
                each.grow(self._rows)
        new = False
        if len(rows):
            step = points.step
            if segment.tags < rows_known or segment.row_step is None:
                new = self._note_first(segment, rows, step)
            np.maximum.at(segment.high, rows, step)
            segment.note_head(step)
            segment.last_step = max(segment.last_step, int(step.max()))
            if segment.first_step == HIGHEST:
                segment.first_step, segment.first_wall = int(step[0]), float(points.wall_time[0])
        newest = segment is self.segments[-1] and segment.start == HIGHEST
        if len(self.segments) == 1 or (not new and newest):
            return []
        return self._refresh(self.segments.index(segment))

    def _note_first(self, segment: Segment, rows: Rows, step: Ints) -> bool:
        unseen = np.flatnonzero(segment.first[rows] == HIGHEST)
        repeated = len(unseen) < len(rows)
        if len(unseen):
            fresh_rows, first_at = _first_indices(rows[unseen])
            at = unseen[first_at]
            repeated = repeated or len(fresh_rows) < len(unseen)
            if segment.row_step is None and repeated:  # the first row ends before the first repetition
                seen = set(np.flatnonzero(segment.first < HIGHEST).tolist())
                for index, row in enumerate(rows.tolist()):
                    if row in seen:
                        early = at < index
                        segment.first[fresh_rows[early]] = step[at[early]]
                        break
                    seen.add(row)
                self._freeze(segment)
            segment.first[fresh_rows] = step[at]
            segment.tags += len(fresh_rows)
            return True
        if segment.row_step is None and repeated:
            self._freeze(segment)
            return True
        return False

    def _freeze(self, segment: Segment) -> None:
        """Complete the first row; its most frequent step is where tags without points begin."""
        segment.first_row = segment.first < HIGHEST
        found = segment.first[segment.first_row]
        if len(found) and (found == found[0]).all():
            segment.row_step = int(found[0])
        elif len(found):
            steps, counts = distinct_counts(found)
            segment.row_step = int(steps[np.argmax(counts)])

    def _cuts_of(self, late: Segment, before: Sequence[Segment]) -> Ints:
        """By row, the step from which `late` supersedes what it follows."""
        size = self._rows
        first = late.first[:size]
        cuts = np.minimum(first, late.start)
        if late.row_step is None or late.first_row is None or not before:
            return cuts
        high = np.full(size, LOWEST, np.int64)
        for early in before:
            np.maximum(high, early.high[:size], out=high)
        leaders = first == late.row_step
        reach = int(high[leaders].max()) if leaders.any() else LOWEST
        if reach < late.row_step or 2 * int((high[leaders] >= late.row_step).sum()) < int(
            late.first_row.sum()
        ):
            return cuts
        row = np.zeros(size, np.bool_)
        row[: len(late.first_row)] = late.first_row[:size]
        along = (high >= late.row_step) & (high <= reach) & ~(row & (first != late.row_step))
        return np.where(along, np.minimum(cuts, late.row_step), cuts)

    def _refresh(self, changed: int) -> list[Cut]:
        """Recompute what a segment, and those after it, supersede. Returns newly superseded steps as cuts."""
        found: list[Cut] = []
        size = self._rows
        for late in self.segments[changed:]:
            earlier = self._before(late)
            before = late.cuts[:size].copy()
            now = np.minimum(self._cuts_of(late, earlier), before)  # superseded points stay superseded
            late.cuts[:size] = now
            lowered = now < before
            if not earlier or not lowered.any():
                continue
            reach = np.full(size, LOWEST, np.int64)
            for early in earlier:
                np.maximum(reach, early.high[:size], out=reach)
            limit = self.limit(late)
            # A cut applies to all logs: made only where a segment that `late` follows got so far.
            for row in np.flatnonzero(lowered & (reach >= now)).tolist():
                # from `before` on earlier points were cut already, and its own points may be there
                high = min(int(before[row]), HIGHEST if limit is None else int(limit[row]))
                if now[row] < high:
                    found.append(Cut(row, int(now[row]), high, late))
        return found

    def _after(self, segment: Segment) -> list[Segment]:
        """The segments that follow this one, in order."""
        at = self.segments.index(segment)
        return [late for late in self.segments[at + 1 :] if self.follows(late, segment)]

    def limit(self, segment: Segment) -> Ints | None:
        """By row, the step from which later segments supersede this one's points; None: nowhere."""
        return self._least(self._after(segment)) if segment is not self.segments[-1] else None

    def superseded_from(self, segment: Segment) -> Ints | None:
        """By row, the step from which resumes superseded this segment's points; None: nowhere."""
        later = self._after(segment)
        restarted = self.from_scratch() if later else frozenset()
        end = next((at for at, late in enumerate(later) if id(late) in restarted), len(later))
        return self._least(later[:end])

    def _least(self, later: Sequence[Segment]) -> Ints | None:
        cuts = [late.cuts[: self._rows] for late in later]
        return np.minimum.reduce(cuts) if cuts else None

    def causes(self, segment: Segment, row: int, step: Ints) -> list[tuple[Segment, Bools]]:
        """Later segments that superseded points of this one at steps (n,), each with a mask (n,)."""
        left, found = np.ones(len(step), np.bool_), []
        for late in self._after(segment):
            superseded = left & (step >= late.cuts[row])
            if superseded.any():
                found.append((late, superseded))
                left &= ~superseded
        return found

    def from_scratch(self) -> AbstractSet[int]:
        """The segments that began a training from scratch, by `id`: all are compared with all."""
        return from_scratch(self.segments, self._before) if len(self.segments) > 1 else frozenset()

    def replaced_points(self) -> tuple[int, int]:
        """Points that resumes superseded, and points of trainings before one that began from scratch."""
        restarted = self.from_scratch()
        superseded = earlier = 0
        for segment in self.segments:
            superseded += segment.merged_superseded + (0 if id(segment) in restarted else segment.replaced)
            earlier += segment.merged_earlier + (segment.replaced if id(segment) in restarted else 0)
        return superseded, earlier

    @property
    def attempted_once(self) -> bool:
        """Whether there is one segment at most, so that there was no restart."""
        return len(self.segments) < 2

    def attempts(self) -> list[Attempt]:
        """The attempts in order; one for a training that was never restarted."""
        key = (len(self._parallel), list(self.segments), [segment.tags for segment in self.segments])
        if self._attempts[0] != key:  # cached: sorting a run of hundreds of logs into attempts takes long
            known = [segment for segment in self.segments if segment.first_step < HIGHEST]
            begun = [
                segment
                for number, segment in enumerate(known)
                if not number or segment.reason != "file" or self._resumes(segment)
            ]
            self._attempts = (key, begun)
        restarted = self.from_scratch()
        return [
            Attempt(
                segment.start if number and segment.start < HIGHEST else segment.first_step,
                segment.first_wall, segment.last_step, segment.reason, segment.log.path, segment.replaced,
                id(segment) in restarted,
            )
            for number, segment in enumerate(self._attempts[1])
        ]  # fmt: skip

    def _resumes(self, late: Segment) -> bool:
        """Whether a later log shares a tag with an earlier one, so that it resumes a training."""
        tags = late.first < HIGHEST
        for early in self._before(late):
            size = min(len(tags), len(early.first))
            if (tags[:size] & (early.first[:size] < HIGHEST)).any():
                return True
        return False


def _first_indices(rows: Rows) -> tuple[Rows, Ints]:
    """The distinct rows, ascending, and the first index of each. Rows are small numbers: no need to sort."""
    first = np.full(int(rows.max()) + 1, -1, np.int64)
    first[rows[::-1]] = np.arange(len(rows) - 1, -1, -1)  # of equal rows the last assignment stays
    found = np.flatnonzero(first >= 0)
    return found.astype(rows.dtype), first[found]


def _lacks_points(segment: Segment, rows: Rows) -> bool:
    return int(rows.max()) >= len(segment.first) or bool((segment.first[rows] == HIGHEST).any())

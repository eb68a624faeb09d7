"""One run: its series, log files, attempts, texts and histograms."""

from __future__ import annotations

import math
from contextlib import suppress

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct_counts
from rltui.common.display_text import count_of
from rltui.common.problem import Problem, Problems
from rltui.logs.batch import Batch, Text
from rltui.logs.delivery import Delivery, Source
from rltui.logs.records.record_keys import compared, log_keys
from rltui.run_context.hparams.hparams import parse_json
from rltui.run_context.hparams.logged_text import is_hparams_tag
from rltui.store.histograms import Histograms
from rltui.store.point_appender import PointAppender
from rltui.store.points import HIGHEST, LOWEST, NewPoints, Points, sensible
from rltui.store.previews import Previews
from rltui.store.restarts.segments import Attempt
from rltui.store.restarts.supersession import Supersession
from rltui.store.series import SeriesByTag
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import PointBlock, TagRows

KEPT_TEXTS = 1000  # newest text tags that are kept
KEPT_LOGS = 64  # newest logs whose own hyperparameters are kept separately
WRITTEN_TOGETHER = 60.0  # most seconds between the last writes of logs that one process closes
WRITE_DELAY = 300.0  # most seconds from a point to its writing; most writers flush within 120 s
PACE_STEPS = 256  # recent (step, wall time) pairs from which the pace of the run follows


def _common_step(last: Ints, before: Ints) -> int | None:
    """The highest of many series' last steps that several series share; None without series.

    before: their steps before the last. A trainer writes the tags of one step one after the other, so some
    may be a point ahead of the others: without the points before, the step would go back for a moment.
    """
    several = max(2, len(last) // 10)
    step = None
    for steps in (last, np.concatenate((last, before[before < last]))):
        values, counts = distinct_counts(steps)
        shared = values[counts >= several]
        if not len(shared):
            return int(values[-1]) if len(values) else None
        step = int(shared[-1])
    return step


class Run:
    """Everything that is stored about one run. `version` changes with every change.

    `apply` passes a point to `Supersession`, which determines what it supersedes, and adds it to the exact
    window of its series. When that is full, its oldest points move to the buckets.
    """

    def __init__(self, name: str, window: int, slots: int) -> None:
        self.name = name
        self.problems = Problems()
        self.tags = TagRows()
        self.table = SeriesTable(window, slots)
        self.restarts = Supersession()
        self.previews = Previews()
        superseded = SupersededPoints()
        self.series = SeriesByTag(self.tags, self.table, self.previews, superseded)
        self._appender = PointAppender(self.tags, self.table, self.restarts, superseded, self.problems)
        self.first_wall = math.nan  # lowest and highest plausible wall times, seconds since 1970
        self.last_wall = math.nan
        self._last_growth = math.nan  # modification time of the last log that grew while it was followed
        self.sources: dict[str, Source] = {}
        self.texts: dict[str, Text] = {}
        self.histograms = Histograms()
        self.hparams: dict[str, object] = {}
        self.hparams_texts: dict[str, dict[str, Text]] = {}  # by log and tag, the newest
        self.total_steps: int | None = None
        self.read_until: int | None = None  # the step at which its logs were cut, on every axis
        self.step_keys: dict[str, str] = {}  # by log, the name of what its steps count
        self.exit_codes: dict[str, int] = {}  # by log, of trackers that record them
        self.version = 0
        self._walls: tuple[int, Floats] = (-1, np.empty((0, 2)))
        self._ends: tuple[int, int | None, tuple[int, int] | None] = (-1, None, None)

    @property
    def points(self) -> int:
        """Points that were read, superseded ones included."""
        return self._appender.points

    @property
    def superseded(self) -> int:
        """Points that resumes superseded."""
        return self.restarts.replaced_points()[0]

    @property
    def earlier(self) -> int:
        """Points of earlier trainings, before one that began from scratch in the same log or folder."""
        return self.restarts.replaced_points()[1]

    @property
    def attempts(self) -> list[Attempt]:
        """See `Supersession.attempts`."""
        return self.restarts.attempts()

    @property
    def resumes(self) -> tuple[int, ...]:
        """The steps at which a later attempt went on, not those of a training that began from scratch."""
        if self.restarts.attempted_once:
            return ()
        later = self.restarts.attempts()[1:]
        return tuple(attempt.first_step for attempt in later if not attempt.from_scratch)

    @property
    def counts_episodes(self) -> bool:
        """Whether the steps of all its logs are known to be episodes."""
        episodes = log_keys().doubtful_steps.episodes
        logs = [each.path for each in self.sources.values() if each.format and each.duplicate_of is None]
        known = {compared(self.step_keys[path]) for path in logs if path in self.step_keys}
        return bool(known) and known <= episodes and self.step_keys.keys() >= {*logs}

    @property
    def previewing(self) -> bool:
        """Whether previews of logs are shown while their history is still being read."""
        return bool(self.previews)

    @property
    def last_written(self) -> float:
        """The wall time of the last point, seconds since 1970; NaN without one.

        If a log grows while it is followed but its points are much older, its clock is wrong or it is a
        replayed recording: then the modification time of the file.
        """
        return self._last_growth if self._last_growth > self.last_wall + WRITE_DELAY else self.last_wall

    @property
    def last_step(self) -> int | None:
        """The current step of the training: the highest one that several series share; None without points.

        A single tag that counts something else (unix time, samples) is ignored, and so are series that rltui
        computed from samples unless there are no others.
        """
        if self._ends[0] != self.version:
            first, last, before, own = self._extents()
            if not own.any():
                own = ~own
            self._ends = (
                self.version,
                _common_step(last[own], before[own]),
                (int(first.min()), int(last.max())) if len(last) else None,
            )
        return self._ends[1]

    @property
    def span(self) -> tuple[int, int] | None:
        """Lowest and highest shown step of all series; None without points."""
        return None if self.last_step is None else self._ends[2]

    def _extents(self) -> tuple[Ints, Ints, Ints, Bools]:
        """Lowest, highest and second-highest shown step of each series; whether the trainer wrote it.

        The second-highest step is the highest one where it is not in the window.
        """
        table, rows = self.table, len(self.tags)
        if self.previews:
            shown = [series for series in self.series.values() if series.last_step is not None]
            first = np.array([series.first_step for series in shown], np.int64)
            last = np.array([series.last_step for series in shown], np.int64)
            own = self.tags.own[[series.row for series in shown]] if shown else np.empty(0, np.bool_)
            return first, last, last, own
        length, every = table.length[:rows], np.arange(rows)
        last = np.where(length > 0, table.step[every, np.maximum(length - 1, 0)], table.bucketed[:rows])
        before = np.where(length > 1, table.step[every, np.maximum(length - 2, 0)], last)
        used = (table.first[:rows] != HIGHEST) & (last > LOWEST)
        return table.first[:rows][used], last[used], before[used], self.tags.own[:rows][used]

    @property
    def step_walls(self) -> Floats:
        """(n, 2) step and wall time of distinct recent steps of the series with most points, oldest first."""
        if self._walls[0] != self.version:
            self._walls = (self.version, self._step_walls())
        return self._walls[1]

    def silence(self, tag: str) -> float:
        """Share of the time of the run since the last point of a tag; NaN unknown."""
        series, passed = self.series.get(tag), self.last_wall - self.first_wall
        if series is None or not passed > 0:
            return math.nan
        return (self.last_wall - series.last_wall) / passed

    def _step_walls(self) -> Floats:
        if not self.series:
            return np.empty((0, 2))
        if self.previewing:
            longest = max(self.series.values(), key=lambda series: series.count)
        else:
            longest = self.series.of(int(self.table.count[: len(self.tags)].argmax()))
        recent = longest.recent(2 * PACE_STEPS)
        known = np.flatnonzero(sensible(recent.wall_time))
        step, wall = recent.step[known], recent.wall_time[known]
        first = np.ones(len(step), np.bool_)
        np.not_equal(step[1:], step[:-1], out=first[1:])
        return np.stack((step[first].astype(np.float64), wall[first]), axis=1)[-PACE_STEPS:]

    def apply(self, delivery: Delivery) -> list[NewPoints]:
        """Apply a delivery; returns the new shown points."""
        source, batch, kind = delivery.source, delivery.batch, delivery.kind
        self.version += 1
        before = self.sources.get(source.path)
        if before is not None and before.caught_up and len(batch) and source.modified > before.modified:
            self._last_growth = source.modified
        self.sources[source.path] = source
        if batch.problems:
            self.problems.note(batch.problems)
        for text in batch.texts:
            self._add_text(source.path, text)
        new: list[NewPoints] = []
        if kind in ("rewritten", "restarted"):
            self.previews.forget(source.path)
        if kind == "rewritten":
            self.problems.pop(("odd-times", source.path, None), None)
            self.exit_codes.pop(source.path, None)
            new = self._appender.forget(source.path)
        elif kind == "restarted":
            self.restarts.replace_log(source.path)
            self.tags.forget(source.path)
        if source.duplicate_of is not None:
            self.step_keys.pop(source.path, None)
            return new
        if batch.step_key:
            self.step_keys[source.path] = batch.step_key
        if kind == "newest":
            if len(batch):
                self._preview(source, batch)
            return new
        self.histograms.add(batch.histograms)
        if kind != "gone":
            self.previews.read_up_to(source.path, source.read)
        if not len(batch) and (kind == "gone" or not batch.starts):
            return new
        self._note_wall_times(source.path, batch.wall_time)
        return [*new, *self._appender.append(source, batch)]

    def _preview(self, source: Source, batch: Batch) -> None:
        rows = self.tags.of_batch(source.path, batch)
        self.table.add_rows(len(self.tags))
        points = Points(batch.step, batch.wall_time, batch.value)
        self.previews.put(source.path, source.size, PointBlock.grouped(rows, points))
        self._note_clock(batch.wall_time)

    def _note_clock(self, wall: Floats) -> bool:
        """Record the first and last wall time of the run; whether all of these are plausible."""
        if not len(wall):
            return True
        low, high = float(np.minimum.reduce(wall)), float(np.maximum.reduce(wall))
        plausible = sensible(low) and sensible(high)
        if not plausible:
            known = wall[sensible(wall)]
            if not len(known):
                return False
            low, high = float(known.min()), float(known.max())
        if not self.first_wall <= low:
            self.first_wall = low
        if not self.last_wall >= high:
            self.last_wall = high
        return plausible

    def _note_wall_times(self, path: str, wall: Floats) -> None:
        """Record the wall times of a log, and report implausible ones. Missing ones (NaN) are no problem."""
        if self._note_clock(wall):
            return
        wrong = wall[~sensible(wall) & ~np.isnan(wall)]
        if not len(wrong):
            return
        known = self.problems.get(("odd-times", path, None))
        count = len(wrong) + (known.count if known else 0)
        first = known.message.rpartition(" ")[2] if known else f"{wrong[0]:g}"
        message = f"{count_of(count, 'point')} with an impossible time, taken as unknown; the first: {first}"
        problem = Problem("warning", "odd-times", path, message, None, count)
        self.problems[problem.key] = problem

    @property
    def exit_code(self) -> int | None:
        """The exit code that a tracker recorded in the log written last; None while the run is active.

        A resumed run continues in another log, which has no exit code yet.
        """
        if not self.exit_codes:
            return None
        logs = [source for source in self.sources.values() if source.duplicate_of is None]
        newest = max((source.modified for source in logs), default=0.0)
        ended = [
            source for source in self.sources.values()
            if source.path in self.exit_codes and source.modified >= newest - WRITTEN_TOGETHER
        ]  # fmt: skip
        if not ended:
            return None
        return self.exit_codes[max(ended, key=lambda source: source.modified).path]

    def _add_text(self, path: str, text: Text) -> None:
        if text.kind == "exit-code":
            self.exit_codes.pop(path, None)
            with suppress(ValueError):  # an empty text: the run is active again
                self.exit_codes[path] = int(text.body)
        elif text.kind == "total-steps":
            with suppress(ValueError):
                self.total_steps = int(text.body)
        elif text.kind == "hparams":
            self.hparams.update(parse_json(text.body) or {})
        else:
            self.texts.pop(text.tag, None)
            self.texts[text.tag] = text
            if len(self.texts) > KEPT_TEXTS:
                del self.texts[next(iter(self.texts))]
        # Each attempt logs its hyperparameters again: those of earlier logs are kept.
        if text.kind == "hparams" or (text.kind == "text" and is_hparams_tag(text.tag)):
            self.hparams_texts.setdefault(path, {})[text.tag] = text
            if len(self.hparams_texts) > KEPT_LOGS:
                del self.hparams_texts[next(iter(self.hparams_texts))]

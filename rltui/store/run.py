"""One run: its series, logs, attempts and everything else that is known of it."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence

import numpy as np

from rltui.common.arrays import Bools, Floats, Ints, distinct_counts
from rltui.common.problem import Problem, Problems
from rltui.common.text import count_of
from rltui.logs.batch import Batch, Text
from rltui.logs.delivery import Delivery, Source
from rltui.logs.records.record_keys import COMPUTED
from rltui.run_context.hparams.logged_text import is_hparams_tag
from rltui.store.histograms import Histograms
from rltui.store.point_appender import PointAppender
from rltui.store.points import HIGHEST, LOWEST, NewPoints, Points, sensible
from rltui.store.previews import Previews
from rltui.store.restarts.attempts import Attempt
from rltui.store.restarts.supersession import Supersession
from rltui.store.series import SeriesByTag
from rltui.store.series_table import SeriesTable
from rltui.store.superseded_points import SupersededPoints
from rltui.store.tag_rows import PointBlock, TagRows

KEPT_TEXTS = 1000  # text tags kept, the newest of each
KEPT_LOGS = 64  # logs whose own settings are kept apart, the newest
WRITTEN_TOGETHER = 60.0  # seconds between the last writes of logs that one process ended with
WRITTEN_LATE = (
    300.0  # seconds after a point in which its writer writes it: most buffer for two minutes at most
)
CADENCE = 256  # recent (step, wall) pairs for the pace of the run


def _agreed(last: Ints, before: Ints) -> int | None:
    """The highest of many series' last steps on which several agree; None of none.

    before: their steps before the last. A trainer writes the tags of one step one after the other, and some
    of them may be a point ahead of the others: without the points before, the step would fall for a moment.
    """
    several = max(2, len(last) // 10)
    found = None
    for steps in (last, np.concatenate((last, before[before < last]))):
        values, counts = distinct_counts(steps)
        agreed = values[counts >= several]
        if not len(agreed):
            return int(values[-1]) if len(values) else None
        found = int(agreed[-1])
    return found


class Run:
    """Everything that is held of one run. `version` changes with every change.

    A point goes from `apply` to `Supersession`, which says what it supersedes, and into the series
    table: into the exact window of its series and, when that is full, on to the buckets.
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
        self.first_wall = math.nan  # lowest and highest sensible ones, seconds since 1970
        self.last_wall = math.nan
        self._grown = math.nan  # when a log was written that grew while it was followed
        self.sources: dict[str, Source] = {}
        self.texts: dict[str, Text] = {}
        self.histograms = Histograms()
        self.hparams: dict[str, object] = {}
        self.hparams_texts: dict[str, dict[str, Text]] = {}  # by log and tag, the newest
        self.total_steps: int | None = None
        self.exit_codes: dict[str, int] = {}  # by log, of trackers that note how a run ends
        self.version = 0
        self._walls: tuple[int, Floats] = (-1, np.empty((0, 2)))
        self._ends: tuple[int, int | None, tuple[int, int] | None] = (-1, None, None)

    @property
    def size(self) -> int:
        """Bytes of its logs, duplicates aside."""
        return sum(source.size for source in self.sources.values() if source.duplicate_of is None)

    @property
    def read(self) -> int:
        """Bytes of its logs that have been read, duplicates aside."""
        return sum(source.read for source in self.sources.values() if source.duplicate_of is None)

    @property
    def points(self) -> int:
        """Points that were read, superseded ones too."""
        return self._appender.points

    @property
    def superseded(self) -> int:
        """Points that resumes superseded."""
        return self.restarts.replaced_points()[0]

    @property
    def earlier(self) -> int:
        """Points of trainings before one that began from scratch in the same log or folder."""
        return self.restarts.replaced_points()[1]

    @property
    def attempts(self) -> list[Attempt]:
        """The attempts in order; one for a training that was never restarted."""
        return self.restarts.attempts()

    @property
    def previewing(self) -> bool:
        """Whether the ends of logs are shown while their history is still being read."""
        return bool(self.previews)

    @property
    def last_written(self) -> float:
        """The wall time of the last point, seconds since 1970; NaN where it has none.

        A log that grows while it is followed, with points that are long past, has a wrong clock, or is a
        recording that is played again: the time of its file is when it was written.
        """
        return self._grown if self._grown > self.last_wall + WRITTEN_LATE else self.last_wall

    @property
    def last_step(self) -> int | None:
        """The step the training is at: the highest one on which several series agree.

        What rltui made of samples decides only where the trainer wrote nothing itself. A lone tag that counts
        something else (unix time, samples) does not decide; None without points.
        """
        if self._ends[0] != self.version:
            first, last, before, own = self._extents()
            if not own.any():
                own = ~own
            self._ends = (
                self.version,
                _agreed(last[own], before[own]),
                (int(first.min()), int(last.max())) if len(last) else None,
            )
        return self._ends[1]

    @property
    def span(self) -> tuple[int, int] | None:
        """Lowest and highest step that any series shows; None without points."""
        return None if self.last_step is None else self._ends[2]

    def _extents(self) -> tuple[Ints, Ints, Ints, Bools]:
        """Lowest and highest shown step of every series that has points, the one before, who wrote it.

        The step before is the highest one where it isn't at hand. The last array says what the trainer wrote.
        """
        table, rows = self.table, len(self.tags)
        if self.previews:
            ends = [(tag, one.first_step, one.last_step) for tag, one in self.series.items()]
            known = [
                (tag, first, last) for tag, first, last in ends if first is not None and last is not None
            ]
            both = np.array([pair for _, *pair in known], np.int64).reshape(-1, 2)
            written = np.array([not tag.startswith(COMPUTED) for tag, *_ in known], np.bool_)
            return both[:, 0], both[:, 1], both[:, 1], written
        length, every = table.length[:rows], np.arange(rows)
        last = np.where(length > 0, table.step[every, np.maximum(length - 1, 0)], table.bucketed[:rows])
        before = np.where(length > 1, table.step[every, np.maximum(length - 2, 0)], last)
        there = (table.first[:rows] != HIGHEST) & (last > LOWEST)
        return table.first[:rows][there], last[there], before[there], self.tags.own[:rows][there]

    @property
    def step_walls(self) -> Floats:
        """(n, 2) step and wall time of distinct recent steps of the series with most points, oldest first."""
        if self._walls[0] != self.version:
            self._walls = (self.version, self._find_walls())
        return self._walls[1]

    def _find_walls(self) -> Floats:
        if not self.series:
            return np.empty((0, 2))
        if self.previewing:
            longest = max(self.series.values(), key=lambda series: series.count)
        else:
            longest = self.series.of(int(self.table.count[: len(self.tags)].argmax()))
        recent = longest.recent(2 * CADENCE)
        known = np.flatnonzero(sensible(recent.wall_time))
        step, wall = recent.step[known], recent.wall_time[known]
        first = np.ones(len(step), np.bool_)
        np.not_equal(step[1:], step[:-1], out=first[1:])
        return np.stack((step[first].astype(np.float64), wall[first]), axis=1)[-CADENCE:]

    def apply(self, delivery: Delivery) -> list[NewPoints]:
        """Take a delivery in; the new shown points."""
        source, batch, kind = delivery.source, delivery.batch, delivery.kind
        self.version += 1
        before = self.sources.get(source.path)
        if before is not None and before.caught_up and len(batch) and source.modified > before.modified:
            self._grown = source.modified
        self.sources[source.path] = source
        if batch.problems:
            self.problems.note(batch.problems)
        if batch.texts:
            self._note_texts(source.path, batch.texts)
            self._note_hparams_texts(source.path, batch.texts)
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
            return new
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
        """Note the run's first and last wall time; whether all of these are plausible."""
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
        """Note the wall times of a log; count implausible ones. That none is given (NaN) is no problem."""
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

    def _note_hparams_texts(self, path: str, texts: Sequence[Text]) -> None:
        """Each attempt logs again how it was started: what earlier logs say is not overwritten."""
        for text in texts:
            if text.kind == "hparams" or (text.kind == "text" and is_hparams_tag(text.tag)):
                self.hparams_texts.setdefault(path, {})[text.tag] = text
                if len(self.hparams_texts) > KEPT_LOGS:
                    del self.hparams_texts[next(iter(self.hparams_texts))]

    @property
    def exit_code(self) -> int | None:
        """How the run ended, as its tracker noted it in the log that was written last; None while it goes on.

        A run that is resumed goes on in another log, which has no end yet.
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

    def _note_exit_code(self, path: str, body: str) -> None:
        """Note the end of a run, or that it goes on (an empty text)."""
        self.exit_codes.pop(path, None)
        try:
            self.exit_codes[path] = int(body)
        except ValueError:
            return

    def _note_texts(self, path: str, texts: Sequence[Text]) -> None:
        for text in texts:
            if text.kind == "exit-code":
                self._note_exit_code(path, text.body)
                continue
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

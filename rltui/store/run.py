"""One run: its series, logs, attempts and everything else that is known of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from rltui.batch import Text
from rltui.hparams.logged_text import is_settings_tag
from rltui.logs.delivery import Delivery, Source
from rltui.store.append import PointAppender
from rltui.store.model import F64, HIGHEST, I64, LOWEST, Fresh, sensible

KEPT_TEXTS = 1000  # text tags kept, the newest of each
KEPT_LOGS = 64  # logs whose own settings are kept apart, the newest
CADENCE = 256  # recent (step, wall) pairs for the pace of the run


def _agreed(last: I64) -> int | None:
    """The highest of many series' last steps on which several agree; None of none."""
    if not len(last):
        return None
    values, counts = np.unique(last, return_counts=True)
    agreed = values[counts >= max(2, len(last) // 10)]
    return int(agreed[-1]) if len(agreed) else int(values[-1])


class Run(PointAppender):
    """Everything that is held of one run. `version` changes with every change."""

    def __init__(self, name: str, window: int, slots: int) -> None:
        super().__init__(window, slots)
        self.name = name
        self.sources: dict[str, Source] = {}
        self.texts: dict[str, Text] = {}
        self.hparams: dict[str, Any] = {}
        self.settings: dict[str, dict[str, Text]] = {}  # by log, its newest records that are settings
        self.total_steps: int | None = None
        self.version = 0
        self._walls: tuple[int, F64] = (-1, np.empty((0, 2)))
        self._ends: tuple[int, int | None, tuple[int, int] | None] = (-1, None, None)

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
        pool, rows = self.pool, len(self.series)
        if self._previews or rows > len(pool.length):
            pairs = [(one.first_step, one.last_step) for one in self.series.values()]
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
    def step_walls(self) -> F64:
        """(n, 2) step and wall time of distinct recent steps of the series with most points, oldest first."""
        if self._walls[0] != self.version:
            self._walls = (self.version, self._find_walls())
        return self._walls[1]

    def _find_walls(self) -> F64:
        if not self.series:
            return np.empty((0, 2))
        if self.previewing:
            longest = max(self.series.values(), key=lambda series: series.count)
        else:
            longest = self.series.of(int(self.pool.count[: len(self.series)].argmax()))
        recent = longest.recent(2 * CADENCE)
        known = np.flatnonzero(sensible(recent.wall_time))
        step, wall = recent.step[known], recent.wall_time[known]
        first = np.ones(len(step), np.bool_)
        np.not_equal(step[1:], step[:-1], out=first[1:])
        return np.stack((step[first].astype(np.float64), wall[first]), axis=1)[-CADENCE:]

    def apply(self, delivery: Delivery) -> Sequence[Fresh]:
        """Take a delivery in; the new shown points."""
        source, batch, kind = delivery.source, delivery.batch, delivery.kind
        self.version += 1
        self.sources[source.path] = source
        if batch.problems:
            self.problems.note(batch.problems)
        if batch.texts:
            self._note_texts(batch.texts)
            self._note_settings(source.path, batch.texts)
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

    def _note_settings(self, path: str, texts: Sequence[Text]) -> None:
        """Each attempt says anew how it was started: what earlier logs said is not overwritten."""
        for text in texts:
            if text.kind == "hparams" or (text.kind == "text" and is_settings_tag(text.tag)):
                self.settings.setdefault(path, {})[text.tag] = text
                if len(self.settings) > KEPT_LOGS:
                    del self.settings[next(iter(self.settings))]

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

"""A week of following on a made-up clock: nothing is lost, nothing grows, nothing stays open."""

from __future__ import annotations

import gc
import tracemalloc
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.store.store import Store
from tests.support.logs.week import Week

TAGS = tuple(f"actor/metric_{number}" for number in range(20))
CHUNK = 500  # steps of one delivery


@pytest.fixture
def traced() -> Iterator[None]:
    """Python's allocator counts bytes."""
    tracemalloc.start()
    yield
    tracemalloc.stop()


def chunk(first: int, wall: float) -> Batch:
    """Steps of every tag, as an event file would give them."""
    step = np.repeat(np.arange(first, first + CHUNK), len(TAGS))
    tag = np.tile(np.arange(len(TAGS), dtype=np.uint32), CHUNK)
    value = np.asarray(step // 7, np.float64)  # what float32 holds
    walls = np.linspace(wall, wall + 1000.0, len(step), dtype=np.float64)
    return Batch(TAGS, tag, step, walls, value, np.ones(len(step), np.bool_))


def test_millions_of_appends_take_no_more_memory_than_the_first_day(traced: None) -> None:
    """Two million points and a restart a day: memory is flat, every point shown or superseded."""
    store = Store()
    given, first, held, traced_bytes = 0, 0, [], []
    for day in range(7):
        path = f"events.out.tfevents.{1_700_000_000 + 86_400 * day}.node.1.0"
        first = max(0, first - 2 * CHUNK)
        for number in range(30):
            batch = chunk(first, 1.7e9 + 86_400.0 * day + 2000 * number)
            store.apply(Delivery(Source("run", path, "tfevents"), batch))
            given += len(batch)
            first += CHUNK
        held.append(store.nbytes)
        gc.collect()  # what waits for a collection is not kept, and depends on the tests before
        traced_bytes.append(tracemalloc.get_traced_memory()[0])
    run = store.runs["run"]
    assert given == run.points == 7 * 30 * CHUNK * len(TAGS) == 2_100_000
    assert run.superseded == 6 * 2 * CHUNK * len(TAGS)
    assert sum(series.count for series in run.series.values()) == given - run.superseded
    assert held[1] == held[-1]
    # What is kept of superseded points and attempts is bounded, and in part still being filled.
    assert traced_bytes[-1] - traced_bytes[2] < 150_000
    assert len(run.attempts) == 7


def test_a_week_of_following_loses_nothing_and_leaves_nothing_open(tmp_path: Path, traced: None) -> None:
    """Growth, rotation and restarts, hour by hour: all points arrive, memory and descriptors stay flat."""
    week = Week(tmp_path, tuple(f"t{number}" for number in range(6)), 10, Store(window=64, slots=32))
    for hour in range(7 * 24):
        eventful = hour < 5 * 24
        if eventful and hour and not hour % 24:
            week.restart()
        week.append()
        if eventful and hour % 8 == 7:
            week.rotate()
        week.poll(3600.0)
        if hour % 24 == 23:
            week.measure()
    week.append()  # the last line of a log that was moved away is read with the first one of the new log
    week.poll(3600.0)
    run, side = week.store.runs["run"], week.store.runs["side"]
    assert run.points == week.expected == (7 * 24 + 1) * 60
    assert side.points == (7 * 24 + 1) * 10
    assert run.superseded == 4 * 60
    early, late = week.samples[4], week.samples[-1]
    assert late.descriptors <= early.descriptors <= 8
    assert late.tables == early.tables
    # Each attempt is a log more to know; looks and points must cost nothing that stays: 14 bytes a point are
    # seen. Tables of the interpreter that other tests have filled may grow meanwhile by some kilobytes.
    grown = [after.traced - before.traced for before, after in pairwise(week.samples[4:])]
    assert len(grown) == 2
    assert min(grown) < 20_000
    assert late.traced - week.samples[1].traced < 250_000

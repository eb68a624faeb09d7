"""Data on their way into the session make way for keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
import pytest

from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.screen import apply_deliveries as updates_module
from rltui.screen.apply_deliveries import MAX_PART_POINTS, DeliveryQueue
from rltui.session.session import Session


def large() -> Delivery:
    """Three pieces of points of one tag."""
    count = 3 * MAX_PART_POINTS
    step = np.arange(count)
    batch = Batch(["loss"], np.zeros(count, np.uint32), step, step + 1.7e9, step * 1.0, np.ones(count, bool))
    return Delivery(Source("run", "events", "tfevents"), batch)


class Sink(Session):
    """A session that counts the points it is given; `then` is done after each piece."""

    def __init__(self) -> None:
        super().__init__()
        self.points = 0
        self.then: Callable[[], None] = lambda: None

    def apply(self, deliveries: Iterable[Delivery]) -> set[str]:
        """Take pieces in."""
        pieces = tuple(deliveries)
        changed = super().apply(pieces)
        self.points += sum(len(one.batch) for one in pieces)
        self.then()
        return changed


def made(sink: Sink) -> DeliveryQueue:
    """Updates whose first list of deliveries has been taken and shown."""
    updates = DeliveryQueue(sink, lambda: None, lambda error, where, what: None)
    updates.values_shown()
    updates.put([large()])
    return updates


def test_a_key_ends_a_moment_at_the_next_piece() -> None:
    """Whoever presses a key waits for one piece of data at most, and nothing is lost."""
    sink = Sink()
    updates = made(sink)
    sink.then = updates.key_pressed
    updates.apply()
    assert sink.points == MAX_PART_POINTS and not updates.empty and updates.key_wait > 0
    updates.apply()
    assert sink.points == MAX_PART_POINTS  # the key still has the processor for itself
    sink.then = lambda: None
    while not updates.empty:
        updates.apply()
    assert sink.points == 3 * MAX_PART_POINTS
    assert sink.store.runs["run"].last_step == 3 * MAX_PART_POINTS - 1


def test_keys_without_end_do_not_stop_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a key is held down or the mouse is dragged, data are taken in a few times each second."""
    now = [100.0]
    monkeypatch.setattr(updates_module.time, "perf_counter", lambda: now[0])
    sink = Sink()
    updates = made(sink)
    for _ in range(100):  # a second of dragging
        updates.key_pressed()
        now[0] += 0.005
        if not updates.key_wait:
            updates.apply()
        now[0] += 0.005
    assert sink.points == 3 * MAX_PART_POINTS


def test_an_end_lets_the_readers_go() -> None:
    """When the screen ends, a reader that waits for room goes on, and nothing more is taken."""
    sink = Sink()
    updates = made(sink)
    updates.put([large()])
    updates.stop()
    updates.put([large()])
    updates.put([large()])
    while not updates.empty:
        updates.apply()
    assert sink.points == 6 * MAX_PART_POINTS

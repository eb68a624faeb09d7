"""Data on their way into the session make way for keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from rltui.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.screen import updates as intake_module
from rltui.screen.delivery_parts import PIECE
from rltui.screen.updates import Updates


def large() -> Delivery:
    """Three pieces of points of one tag."""
    count = 3 * PIECE
    step = np.arange(count)
    batch = Batch(["loss"], np.zeros(count, np.uint32), step, step + 1.7e9, step * 1.0, np.ones(count, bool))
    return Delivery(Source("run", "events", "tfevents"), batch)


class Sink:
    """A session that counts the points it is given; `then` is done after each piece."""

    def __init__(self) -> None:
        self.points = 0
        self.then: Any = lambda: None

    def apply(self, deliveries: tuple[Delivery, ...]) -> None:
        """Take pieces in."""
        self.points += sum(len(one.batch) for one in deliveries)
        self.then()


def made(sink: Sink) -> Updates:
    """An intake whose first list of deliveries has been taken and shown."""
    intake = Updates(sink, lambda: None, lambda error, where, what: None)  # type: ignore[arg-type]
    intake.show()
    intake.put([large()])
    return intake


def test_a_key_ends_a_moment_at_the_next_piece() -> None:
    """Whoever presses a key waits for one piece of data at most, and nothing is lost."""
    sink = Sink()
    intake = made(sink)
    sink.then = intake.hurry
    intake.apply()
    assert sink.points == PIECE and not intake.empty and intake.hush > 0
    intake.apply()
    assert sink.points == PIECE  # the key still has the processor for itself
    sink.then = lambda: None
    while not intake.empty:
        intake.apply()
    assert sink.points == 3 * PIECE


def test_keys_without_end_do_not_stop_the_data(monkeypatch: pytest.MonkeyPatch) -> None:
    """While a key is held down or the mouse is dragged, data are taken in a few times each second."""
    now = [100.0]
    monkeypatch.setattr(intake_module.time, "perf_counter", lambda: now[0])
    sink = Sink()
    intake = made(sink)
    for _ in range(100):  # a second of dragging
        intake.hurry()
        now[0] += 0.005
        if not intake.hush:
            intake.apply()
        now[0] += 0.005
    assert sink.points == 3 * PIECE


def test_an_end_lets_the_readers_go() -> None:
    """When the screen ends, a reader that waits for room goes on, and nothing more is taken."""
    sink = Sink()
    intake = made(sink)
    intake.put([large()])
    intake.stop()
    intake.put([large()])
    intake.put([large()])
    while not intake.empty:
        intake.apply()
    assert sink.points == 6 * PIECE

"""Deliveries from the reader thread, applied to the session and evaluated in slices, with keys in between."""

from __future__ import annotations

import dataclasses
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable

from rltui.logs.batch import SessionStart
from rltui.logs.delivery import Delivery
from rltui.session.run_view import RunView
from rltui.session.session import Session

SLICE_SECONDS = 0.012  # of applying and evaluating, then keys are handled
KEY_SECONDS = 0.03  # after a key without applying, evaluating or reading, for its frame
MAX_KEY_SECONDS = 0.25  # of that in a row, so that data come while a key is held
FIRST_FRAME_SECONDS = 0.25  # that the reader pauses for the first frame with data
MAX_WAITING_LISTS = 2  # of deliveries in the queue
MAX_PART_POINTS = 20_000  # applied or evaluated between checks of the clock

ErrorHandler = Callable[[Exception, str, str], None]  # an error, its log or run, what is missing now


class DeliveryQueue:
    """A bounded queue of deliveries for the session. `put` and `key_pressed` may be called from any thread.

    arrived: called after `put`; on_error: called with an unexpected error about one log or run.
    """

    def __init__(self, session: Session, arrived: Callable[[], object], on_error: ErrorHandler) -> None:
        self._session = session
        self._arrived = arrived
        self._on_error = on_error
        self._lists: deque[list[Delivery]] = deque()
        self._room = threading.Condition()
        self._stopping = False
        self._key_since = 0.0
        self._key_until = 0.0
        self._slice_end = 0.0
        self._has_values = False  # passed to `put`
        self.shown = False  # values are on the screen

    def put(self, deliveries: list[Delivery]) -> None:
        """Add deliveries; waits while the queue is full or a key is handled."""
        if not deliveries or self._stopping:
            return
        with self._room:
            while not self._stopping and (len(self._lists) >= MAX_WAITING_LISTS or self.key_wait):
                self._room.wait(self.key_wait or 0.5)
        self._lists.append(deliveries)
        self._arrived()
        if not self._has_values and any(len(delivery.batch) for delivery in deliveries):
            self._has_values = True
            with self._room:  # reading would delay the first frame with data
                self._room.wait_for(lambda: self._stopping or self.shown, FIRST_FRAME_SECONDS)

    def key_pressed(self) -> None:
        """Reserve the processor for a key until its frame is drawn."""
        now = time.perf_counter()
        if now >= self._key_until:
            self._key_since = now
        self._key_until = min(now + KEY_SECONDS, self._key_since + MAX_KEY_SECONDS)

    @property
    def key_wait(self) -> float:
        """Seconds for which the processor is reserved for a key."""
        return max(self._key_until - time.perf_counter(), 0.0)

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be applied."""
        return not self._lists

    def apply(self) -> None:
        """Begin a slice of time, and apply deliveries until it is over."""
        self._slice_end = time.perf_counter() + SLICE_SECONDS
        while self._lists and not self._slice_over:
            deliveries = self._lists[0]
            while deliveries and not self._slice_over:
                first, *rest = delivery_parts(deliveries.pop(0))
                deliveries[:0] = rest
                try:
                    self._session.apply((first,))
                except Exception as error:  # noqa: BLE001 (other logs are still applied)
                    self._on_error(error, first.source.path, "its newest points were left out")
            if not deliveries:
                self._lists.popleft()
                self._wake()

    def evaluate(self, views: Iterable[RunView]) -> bool:
        """Evaluate the rules of runs in this order until the slice is over. True if there is more to do."""
        for view in views:
            try:
                while view.evaluate_held(most=MAX_PART_POINTS):
                    if self._slice_over:
                        return True
            except Exception as error:  # noqa: BLE001 (curves are useful without findings)
                self._on_error(error, view.name, "some of it was not evaluated")
        return False

    @property
    def _slice_over(self) -> bool:
        now = time.perf_counter()
        return now >= self._slice_end or now < self._key_until

    def values_shown(self) -> None:
        """Note that values are shown, and let the reader continue."""
        if not self.shown:
            self.shown = True
            self._wake()

    def stop(self) -> None:
        """Accept no more deliveries, and wake the reader."""
        self._stopping = True
        self._wake()

    def _wake(self) -> None:
        with self._room:
            self._room.notify_all()


def delivery_parts(delivery: Delivery) -> list[Delivery]:
    """A delivery divided into parts of at most `MAX_PART_POINTS` points, so that keys need not wait.

    Only the first part keeps the kind of the delivery; previews are small and not divided.
    """
    batch = delivery.batch
    if len(batch) <= MAX_PART_POINTS or delivery.kind == "newest":
        return [delivery]
    parts = []
    for low in range(0, len(batch), MAX_PART_POINTS):
        high = low + MAX_PART_POINTS
        last = high >= len(batch)
        part = dataclasses.replace(
            batch,
            tag=batch.tag[low:high],
            step=batch.step[low:high],
            wall_time=batch.wall_time[low:high],
            value=batch.value[low:high],
            single=batch.single[low:high],
            starts=tuple(
                SessionStart(start.index - low, start.step)
                for start in batch.starts
                if low <= start.index < high or (last and start.index >= high)
            ),
            texts=batch.texts if low == 0 else (),
            problems=batch.problems if low == 0 else (),
            histograms=batch.histograms if low == 0 else (),
        )
        parts.append(delivery._replace(batch=part, kind="points" if low else delivery.kind))
    return parts

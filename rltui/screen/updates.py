"""From the readers' thread into the session: applied and judged in moments, with keys in between."""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rltui.screen.delivery_parts import PIECE, pieces

if TYPE_CHECKING:
    from rltui.logs.delivery import Delivery
    from rltui.session.run_view import RunView
    from rltui.session.session import Session

SLICE = 0.012  # seconds of applying and judging between two chances for keys
HUSH = 0.03  # seconds without applying, judging or reading after a key, so that its frame gets out
LONGEST = 0.25  # seconds of that in a row: while a key is held down or the mouse dragged, data come, too
FIRST = 0.25  # seconds that the readers leave to the first frame with data, at most
LISTS = 2  # of deliveries that may wait before the readers wait

Trouble = Callable[[Exception, str, str], None]  # an error, the log or run that it is about, what it cost


class Updates:
    """Lists of deliveries that wait for the session. `put` and `hurry` may be called from any thread.

    arrived: called when something has been put; trouble: told of one log's unforeseen error, which must not
    end the others.
    """

    def __init__(self, session: Session, arrived: Callable[[], object], trouble: Trouble) -> None:
        self._session = session
        self._arrived = arrived
        self._trouble = trouble
        self._lists: deque[list[Delivery]] = deque()
        self._room = threading.Condition()
        self._stopping = False
        self._quiet_since = 0.0
        self._quiet_until = 0.0
        self._until = 0.0
        self._begun = False  # values have been put
        self.shown = False  # values have been shown

    def put(self, deliveries: list[Delivery]) -> None:
        """Take what the readers found; waits while the screen lags behind or answers a key."""
        if not deliveries or self._stopping:
            return
        with self._room:
            while not self._stopping and (len(self._lists) >= LISTS or self.hush):
                self._room.wait(self.hush or 0.5)
        self._lists.append(deliveries)
        self._arrived()
        if not self._begun and any(len(delivery.batch) for delivery in deliveries):
            self._begun = True
            with self._room:  # reading on now would make the first frame with data wait
                self._room.wait_for(lambda: self._stopping or self.shown, FIRST)

    def hurry(self) -> None:
        """A key has come: it has the processor for itself until its frame is out."""
        now = time.perf_counter()
        if now >= self._quiet_until:
            self._quiet_since = now
        self._quiet_until = min(now + HUSH, self._quiet_since + LONGEST)

    @property
    def hush(self) -> float:
        """Seconds for which a key still has the processor for itself."""
        return max(self._quiet_until - time.perf_counter(), 0.0)

    @property
    def empty(self) -> bool:
        """Whether nothing waits to be applied."""
        return not self._lists

    def apply(self) -> None:
        """Begin a moment; apply until it is over."""
        self._until = time.perf_counter() + SLICE
        while self._lists and not self._over:
            deliveries = self._lists[0]
            while deliveries and not self._over:
                first, *rest = pieces(deliveries.pop(0))
                deliveries[:0] = rest
                try:
                    self._session.apply((first,))
                except Exception as error:  # noqa: BLE001 (one log's trouble must not end the others)
                    self._trouble(error, first.source.path, "its newest points were left out")
            if not deliveries:
                self._lists.popleft()
                self._wake()

    def judge(self, views: Iterable[RunView]) -> bool:
        """Judge runs in this order until the moment is over. True when there is more to judge."""
        for view in views:
            try:
                while view.evaluate_held(most=PIECE):
                    if self._over:
                        return True
            except Exception as error:  # noqa: BLE001 (the curves are still worth seeing without a judgement)
                self._trouble(error, view.name, "some of it was not judged")
        return False

    @property
    def _over(self) -> bool:
        now = time.perf_counter()
        return now >= self._until or now < self._quiet_until

    def show(self) -> None:
        """Values have been shown: the readers may go on."""
        if not self.shown:
            self.shown = True
            self._wake()

    def stop(self) -> None:
        """Take nothing more; whoever waits goes on."""
        self._stopping = True
        self._wake()

    def _wake(self) -> None:
        with self._room:
            self._room.notify_all()

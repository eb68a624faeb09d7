"""A listener for the deliveries of a reader thread."""

from __future__ import annotations

import threading
from collections.abc import Callable

from rltui.logs.delivery import Delivery
from tests.support.logs.live_logs import Delivered

LONG = 60.0  # seconds after which a test gives up


class Listener:
    """Takes deliveries in a worker's thread; a test waits until something is so."""

    def __init__(self) -> None:
        self.delivered = Delivered()
        self.changed = threading.Condition()
        self.threads: set[int] = set()
        self.error: Exception | None = None

    def __call__(self, deliveries: list[Delivery]) -> None:
        assert deliveries
        with self.changed:
            self.threads.add(threading.get_ident())
            self.delivered.take(deliveries)
            self.changed.notify_all()
        if self.error is not None:
            error, self.error = self.error, None
            raise error

    def until(self, so: Callable[[Delivered], bool]) -> bool:
        """Wait until `so`; false after LONG."""
        with self.changed:
            return self.changed.wait_for(lambda: so(self.delivered), LONG)

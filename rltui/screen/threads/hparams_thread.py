"""Hyperparameters and spans in files beside the logs, read by a thread: a stuck file system stops no key."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence

from rltui import crash
from rltui.hparams import hparam_files
from rltui.hparams.hparams import NONE, HParams
from rltui.problem import Problem
from rltui.session.run_view import RunView
from rltui.spans.model import NO_SPANS, LoggedSpans
from rltui.text import clean

AGAIN = 60.0  # seconds after which files are looked at once more, while somebody looks


class HParamsThread:
    """What was read so far, by run. Nothing is read until somebody asks.

    ready: called from the reading thread when there is something new.
    """

    def __init__(self, logdirs: Sequence[str], ready: Callable[[], object] | None = None) -> None:
        self.logdirs = tuple(logdirs)
        self.ready = ready
        self.version = 0
        self._found: dict[str, tuple[tuple[str, ...], float, HParams]] = {}
        self._spans: dict[str, LoggedSpans] = {}
        self._spans_wanted: set[str] = set()  # runs; others' traces are not read
        self._asked: dict[str, tuple[str, ...]] = {}
        self._lock = threading.Condition()
        self._thread: threading.Thread | None = None

    def spans_of(self, view: RunView) -> LoggedSpans:
        """The spans of steps beside a run's logs; asks for them when they are unknown or old."""
        if view.name not in self._spans and view.name not in self._asked:
            self._spans_wanted.add(view.name)
            self._found.pop(view.name, None)
        self.of(view)
        return self._spans.get(view.name, NO_SPANS)

    def of(self, view: RunView) -> HParams:
        """What is known of a run's files now; asks for them when they are unknown or old."""
        paths = tuple(source.path for source in list(view.run.sources.values()) if source.format)
        known = self._found.get(view.name)
        if not self.logdirs or not paths:
            return NONE
        if known is None or known[0] != paths or time.monotonic() - known[1] > AGAIN:
            self._ask(view.name, paths)
        return known[2] if known is not None else NONE

    @property
    def loading(self) -> bool:
        """Whether something that was asked for is still to come."""
        return bool(self._asked)

    def wait(self, seconds: float) -> bool:
        """Wait until everything that was asked for is there; False when that takes too long."""
        with self._lock:
            return self._lock.wait_for(lambda: not self._asked, seconds)

    def _ask(self, name: str, paths: tuple[str, ...]) -> None:
        with self._lock:
            if name in self._asked:
                return
            self._asked[name] = paths
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="settings", daemon=True)
                self._thread.start()

    def _work(self) -> None:
        while True:
            with self._lock:
                if not self._asked:
                    self._thread = None
                    self._lock.notify_all()
                    return
                name, paths = next(iter(self._asked.items()))
            try:
                found = hparam_files.hparams_beside(paths, self.logdirs)
            except Exception as error:  # noqa: BLE001 (the thread's edge: other runs' settings are still wanted)
                message = crash.report(error)
                found = HParams(problems=(Problem("error", "internal-error", clean(name), message),))
            wanted = name in self._spans_wanted
            with self._lock:
                self._found[name] = (paths, time.monotonic(), found)
                self._done(name, more=wanted)
            if wanted:
                spans = self._read_spans(name, paths)
                with self._lock:
                    self._spans[name] = spans
                    self._done(name)

    def _done(self, name: str, *, more: bool = False) -> None:
        """Tell of what is there now; `more` is still to come."""
        if not more:
            self._asked.pop(name, None)
        self.version += 1
        if self.ready is not None:
            self.ready()

    def _read_spans(self, name: str, paths: tuple[str, ...]) -> LoggedSpans:
        """The spans beside a run's logs: of a large trace after its settings, which need not wait for it."""
        from rltui.spans.span_files import spans_beside  # brings archives, 4 ms, for the panes that show them

        try:
            return spans_beside(paths, self.logdirs, self._spans.get(name, NO_SPANS))
        except Exception as error:  # noqa: BLE001 (the same edge)
            return LoggedSpans(notes=(crash.report(error),))

"""The thread that reads hyperparameters and spans near the logs, so that file systems do not block keys."""

from __future__ import annotations

import time
from collections.abc import Sequence

from rltui.common import crash
from rltui.common.display_text import clean
from rltui.common.problem import Problem
from rltui.common.worker_thread import WorkerThread
from rltui.rules.run_status.nearby_hparams import NO_NEARBY_HPARAMS, NearbyHParams, NearbyHParamsLookup
from rltui.run_context.hparams import hparam_files
from rltui.run_context.hparams.hparams import NO_HPARAMS, HParams
from rltui.run_context.spans.logged_spans import NO_SPANS, LoggedSpans
from rltui.session.run_view import RunView
from rltui.store.run import Run

MAX_AGE_SECONDS = 60.0  # after which files are read again on request


class HParamsThread:
    """Reads hyperparameters and spans of runs on request, and what rules and plans need of the former."""

    def __init__(self, logdirs: Sequence[str]) -> None:
        self.thread = WorkerThread("settings", self._step, lambda: not self._asked)
        self.logdirs = tuple(logdirs)
        self.version = 0
        self._found: dict[str, tuple[tuple[str, ...], float, HParams]] = {}
        self._spans: dict[str, LoggedSpans] = {}
        self._spans_wanted: set[str] = set()  # runs; others' traces are not read
        self._asked: dict[str, tuple[str, ...]] = {}
        self._nearby: dict[str, tuple[tuple[str, ...], float, NearbyHParams]] = {}  # as `_found`
        self._nearby_asked: dict[str, Run] = {}
        self._lookup, self._lookup_since = NearbyHParamsLookup(()), -MAX_AGE_SECONDS

    def spans_of(self, view: RunView) -> LoggedSpans:
        """The spans of steps near a run's logs; requested if they are unknown or old."""
        if view.name not in self._spans and view.name not in self._asked:
            self._spans_wanted.add(view.name)
            self._found.pop(view.name, None)
        self.of(view)
        return self._spans.get(view.name, NO_SPANS)

    def of(self, view: RunView) -> HParams:
        """The hyperparameters in a run's files; requested if they are unknown or old."""
        paths = tuple(source.path for source in list(view.run.sources.values()) if source.format)
        known = self._found.get(view.name)
        if not self.logdirs or not paths:
            return NO_HPARAMS
        if known is None or known[0] != paths or time.monotonic() - known[1] > MAX_AGE_SECONDS:
            self._ask(view.name, paths)
        return known[2] if known is not None else NO_HPARAMS

    def nearby(self, run: Run, *, again: bool = False) -> NearbyHParams:
        """What files near a run's logs say, as far as they have been read.

        Unknown ones are read after the next `read_nearby`. again: old ones are read again, too.
        """
        paths = tuple(source.path for source in list(run.sources.values()) if source.format)
        known = self._nearby.get(run.name)
        if not self.logdirs or not paths:
            return NO_NEARBY_HPARAMS
        old = known is not None and again and time.monotonic() - known[1] > MAX_AGE_SECONDS
        if known is None or old or known[0] != paths:
            with self.thread.lock:
                self._nearby_asked.setdefault(run.name, run)
        return known[2] if known is not None else NO_NEARBY_HPARAMS

    def read_nearby(self) -> None:
        """Let the thread read what `nearby` requested; not before the first frame."""
        if self._nearby_asked:
            self.thread.start()
            self.thread.wake()

    @property
    def loading(self) -> bool:
        """Whether a first request for a run is not answered yet."""
        with self.thread.lock:
            return not self._asked.keys() <= self._found.keys()

    def _ask(self, name: str, paths: tuple[str, ...]) -> None:
        with self.thread.lock:
            self._asked.setdefault(name, paths)
        self.thread.start()
        self.thread.wake()

    def _step(self) -> float | None:
        """Read the files of one run."""
        with self.thread.lock:
            run = None if self._asked else next(iter(self._nearby_asked.values()), None)
            name, paths = next(iter(self._asked.items()), ("", ()))
        if run is not None:
            return self._look_nearby(run)
        if not name:
            return None
        try:
            found = hparam_files.hparams_near(paths, self.logdirs)
        except Exception as error:  # noqa: BLE001 (other runs' settings are still wanted)
            message = crash.report(error)
            found = HParams(problems=(Problem("error", "internal-error", clean(name), message),))
        wanted = name in self._spans_wanted
        with self.thread.lock:
            known = self._found.get(name)
            new = known is None or known[2] != found
            self._found[name] = (paths, time.monotonic(), found if known is None or new else known[2])
            self._done(name, new=new, more=wanted)
        if wanted:
            spans = self._read_spans(name, paths)
            with self.thread.lock:
                new = self._spans.get(name) is not spans
                self._spans[name] = spans
                self._done(name, new=new)
        return 0.0

    def _look_nearby(self, run: Run) -> float:
        """Read what files near the logs of one run say; folders shared by runs are read once a minute."""
        now = time.monotonic()
        if now - self._lookup_since > MAX_AGE_SECONDS:
            self._lookup, self._lookup_since = NearbyHParamsLookup(self.logdirs), now
        paths = tuple(source.path for source in list(run.sources.values()) if source.format)
        try:
            found = self._lookup.of(run)
        except Exception as error:  # noqa: BLE001 (the same edge)
            crash.report(error)
            found = NO_NEARBY_HPARAMS
        with self.thread.lock:
            known = self._nearby.get(run.name)
            self._nearby[run.name] = (paths, now, found)
            self._nearby_asked.pop(run.name, None)
        if found != (NO_NEARBY_HPARAMS if known is None else known[2]):
            self.version += 1
            self.thread.notify()
        return 0.0

    def _done(self, name: str, *, new: bool, more: bool = False) -> None:
        """Report a result if it is new; more: another one for the same run follows."""
        if not more:
            self._asked.pop(name, None)
        if new:
            self.version += 1
            self.thread.notify()

    def _read_spans(self, name: str, paths: tuple[str, ...]) -> LoggedSpans:
        """The spans near a run's logs; read after the settings, since traces may be large."""
        from rltui.run_context.spans.span_files import spans_near  # 4 ms, only for panes with spans

        try:
            return spans_near(paths, self.logdirs, self._spans.get(name, NO_SPANS))
        except Exception as error:  # noqa: BLE001 (the same edge)
            return LoggedSpans(notes=(crash.report(error),))

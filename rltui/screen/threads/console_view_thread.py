"""The thread that reads the console shown, so that a blocked file system does not block keys."""

from __future__ import annotations

import time
from collections.abc import Callable

from rltui.common.named_tuple import NamedTuple
from rltui.common.worker_thread import WorkerThread
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.line_at_time import TimeAndStep, offset_at
from rltui.run_context.console.line_search import LineSearch
from rltui.run_context.console.line_window import LineWindow
from rltui.run_context.console.lines import ConsoleLine, LineLevel

LOOK_SECONDS = 0.5  # between checks of a file that may grow
CPU_WAIT_FACTOR = 200  # reading what was appended takes at most 1/200 of the processor time
WAIT_FACTOR = 5  # and at most 1/5 of the time: file systems may be slow
COUNTED_BYTES = 64 << 20  # at the end of a console, in which errors and warnings are always counted
REPORT_SECONDS = 0.1  # between reports of a search in progress


class ConsoleRequest(NamedTuple):
    """The part of a console to show. `at` is a byte offset; None: follow the end."""

    place: str  # absolute path
    path: str  # relative to LOGDIR, cleaned
    at: int | None = None
    text: str = ""  # searched for
    level: LineLevel = ""  # only lines of this level or worse
    wanted: TimeAndStep | None = None  # looked for


class FoundLines(NamedTuple):
    """The result of a search so far, in the order of the file."""

    lines: tuple[ConsoleLine, ...] = ()
    begin: int = 0  # bytes: searched from here to the end
    full: bool = False  # there may be more before them
    over: bool = False  # the search is complete


class ConsoleWindow(NamedTuple):
    """A part of a console as last read; immutable."""

    path: str
    size: int = 0  # bytes
    modified: float = 0.0  # seconds since 1970
    lines: tuple[ConsoleLine, ...] = ()
    at_end: bool = False
    levels: FoundLines = FoundLines()  # errors and warnings
    found: FoundLines | None = None  # lines with the text of the request; None: none is searched for
    text: str = ""
    error: str = ""  # why it cannot be read


class LocatedLine(NamedTuple):
    """The offset of the line at a time or step; `offset` None if no line has either."""

    path: str
    wanted: TimeAndStep
    offset: int | None


class ConsoleViewThread:
    """Reads the console passed to `show`."""

    def __init__(self) -> None:
        self.thread = WorkerThread(
            "console", self._step, lambda: self._request in (None, self._done), self._failed
        )
        self.window: ConsoleWindow | None = None
        self.located: LocatedLine | None = None
        self._reader: _Reader | None = None
        self._request: ConsoleRequest | None = None
        self._done: ConsoleRequest | None = None  # the last request that is complete

    def show(self, request: ConsoleRequest | None) -> None:
        """Set the request; None: no console is shown."""
        if request != self._request:
            self._request = request
            self.thread.start()
            self.thread.wake()

    def _step(self) -> float | None:
        """Read and search a piece."""
        request = self._request
        if request is None:
            return None
        if self._reader is None or self._reader.place != request.place:
            self._reader = _Reader(request)
        reader = self._reader
        began, worked = time.monotonic(), time.thread_time()
        try:
            busy = reader.step(request, lambda: self._request is not request or self.thread.stopped)
        except OSError as error:
            self._publish(ConsoleWindow(request.path, error=f"cannot be read: {error.strerror}"), request)
            return 10 * LOOK_SECONDS
        located = reader.located
        if located is not None and located != self.located:
            self.located = located
        self._publish(reader.window(request), None if busy else request)
        if busy or not reader.grew:
            return 0.0 if busy else LOOK_SECONDS
        return max(
            LOOK_SECONDS,
            CPU_WAIT_FACTOR * (time.thread_time() - worked),
            WAIT_FACTOR * (time.monotonic() - began),
        )

    def _failed(self) -> None:
        """Show the error in place of lines."""
        if (request := self._request) is not None:
            self._publish(ConsoleWindow(request.path, error=self.thread.error), request)

    def _publish(self, window: ConsoleWindow, done: ConsoleRequest | None) -> None:
        fresh = window != self.window or (done is not None and self._done is not done)
        self.window = window
        self._done = done if done is not None else self._done
        if fresh:
            self.thread.notify()


class _Reader:
    """One console and its searches; used only by the thread."""

    def __init__(self, request: ConsoleRequest) -> None:
        self.place = request.place
        self.located: LocatedLine | None = None
        self.grew = False
        self._file = ConsoleFile(request.place, request.path)
        self._window: LineWindow | None = None
        self._levels: LineSearch | None = None
        self._errors: LineSearch | None = None
        self._found: LineSearch | None = None

    def step(self, request: ConsoleRequest, cancelled: Callable[[], bool]) -> bool:
        """Look at the file, read the lines, then search for at most TELL seconds. True when there is more.

        Raises OSError.
        """
        before = self._file.size
        self.grew = self._file.look()
        if self._window is None or self._file.size < before:
            self._window = LineWindow(self._file)
            self._levels = self._errors = self._found = None
        self._window.show(request.at)
        wanted = request.wanted
        if wanted is not None and (self.located is None or self.located.wanted != wanted):
            self.located = LocatedLine(request.path, wanted, offset_at(self._file, wanted))
        until = time.monotonic() + REPORT_SECONDS
        if self._found is None or self._found.text != request.text:
            self._found = LineSearch(self._file, request.text) if request.text else None
        if self._levels is None:
            self._levels = LineSearch(self._file)
        if request.level == "error" and self._errors is None:
            self._errors = LineSearch(self._file, level="error")
        return self._search(request, until, cancelled)

    def _search(self, request: ConsoleRequest, until: float, cancelled: Callable[[], bool]) -> bool:
        searches: list[tuple[LineSearch | None, int]] = [(self._found, 0)]
        if request.level == "error":
            searches.append((self._errors, 0))
        counted = 0 if request.level else max(self._file.size - COUNTED_BYTES, 0)
        searches.append((self._levels, counted))
        for search, least in searches:
            while search is not None and search.search(least):
                if time.monotonic() > until or cancelled():
                    return True
        return False

    def window(self, request: ConsoleRequest) -> ConsoleWindow:
        """The current result."""
        assert self._window is not None and self._levels is not None  # `step` has made them
        levels = self._errors if request.level == "error" and self._errors is not None else self._levels
        found = None if self._found is None else _found_lines(self._found)
        return ConsoleWindow(
            request.path, self._file.size, self._file.modified, tuple(self._window.lines),
            self._window.at_end, _found_lines(levels), found, request.text,
        )  # fmt: skip


def _found_lines(search: LineSearch) -> FoundLines:
    return FoundLines(tuple(search.lines), search.begin, search.full, search.begin == 0 or search.full)

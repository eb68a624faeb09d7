"""A robust version of Textual's terminal driver: invalid input, lost connections, slow terminals, all exits.

Textual's driver ends the program at an input byte that is not UTF-8, uses all CPU when the terminal is gone,
and blocks the screen while the terminal does not read. The subclass here avoids all three.
"""

from __future__ import annotations

import base64
import contextlib
import os
import selectors
import sys
import threading
from codecs import getincrementaldecoder
from collections import deque
from collections.abc import Callable
from typing import Any

from textual._parser import ParseError
from textual._xterm_parser import XTermParser
from textual.app import App
from textual.drivers.linux_driver import LinuxDriver
from textual.events import InputEvent

from rltui.screen.terminal.restore import guard

HANG_UP = 129  # 128 + SIGHUP: what a shell would report for a lost connection
MAX_CLIPBOARD_BYTES = 74_000  # base64 bytes that common terminals accept in one OSC 52
_CONGESTED_BYTES = 64 << 10  # in the queue, from which on frames are skipped


class Writer(threading.Thread):
    """Writes to the terminal in the background, so that a slow terminal never blocks the screen."""

    def __init__(self, fd: int) -> None:
        super().__init__(daemon=True, name="terminal-output")
        self._fd = fd
        self._parts: deque[str] = deque()
        self._ready = threading.Condition()
        self._pending = 0
        self._stopping = False
        self.sent = 0  # bytes, for measurements
        self.dead = False

    @property
    def congested(self) -> bool:
        """Whether so much output is pending that frames should be skipped."""
        return self._pending > _CONGESTED_BYTES

    def write(self, text: str) -> None:
        """Queue text; returns at once."""
        if self.dead or self._stopping:
            return
        with self._ready:
            self._parts.append(text)
            self._pending += len(text)
            self._ready.notify()

    def run(self) -> None:
        """Send until stopped or the terminal is gone."""
        while True:
            with self._ready:
                while not self._parts and not self._stopping:
                    self._ready.wait()
                if not self._parts:
                    return
                text = "".join(self._parts)
                self._parts.clear()
            data = memoryview(text.encode("utf-8", "replace"))
            while data:
                try:
                    count = os.write(self._fd, data[:4096])
                except BlockingIOError:
                    with selectors.SelectSelector() as selector:
                        selector.register(self._fd, selectors.EVENT_WRITE)
                        selector.select(1.0)
                    continue
                except OSError:
                    self.dead = True
                    return
                self.sent += count
                data = data[count:]
            with self._ready:
                self._pending -= len(text)

    def stop(self, timeout: float = 0.5) -> bool:
        """Write what is queued, for at most `timeout` seconds. Returns whether all was written."""
        with self._ready:
            self._stopping = True
            self._ready.notify()
        if self.ident is not None:
            self.join(timeout)
        return not self.is_alive()


class GuardedDriver(LinuxDriver):
    """The driver of the real screen."""

    def __init__(
        self, app: App[Any], *, debug: bool = False, mouse: bool = True, size: tuple[int, int] | None = None
    ) -> None:
        super().__init__(app, debug=debug, mouse=mouse, size=size)
        stdout = sys.__stdout__
        assert stdout is not None, "terminal_problem() was asked before"
        self._file = stdout  # the screen goes where results go; messages may be redirected
        self._out = stdout.fileno()
        self._wake_read, self._wake_write = os.pipe()
        self._writer: Writer | None = None
        self.input_arrived: Callable[[], None] = lambda: None  # called in the input thread

    # -- output ---------------------------------------------------------------------------------

    def write(self, data: str) -> None:
        """Queue text for our writer; Textual's has a short queue that can block."""
        if self._writer is not None:
            self._writer.write(data)

    def flush(self) -> None:
        """The writer flushes by itself."""

    @property
    def congested(self) -> bool:
        """Whether frames should be skipped until the terminal has caught up."""
        return self._writer is not None and self._writer.congested

    @property
    def sent(self) -> int:
        """Bytes that reached the terminal."""
        return self._writer.sent if self._writer is not None else 0

    def copy(self, text: str) -> bool:
        """Copy text to the clipboard of the terminal (OSC 52). False if it is too long."""
        payload = base64.b64encode(text.encode("utf-8", "replace")).decode("ascii")
        if len(payload) > MAX_CLIPBOARD_BYTES:
            return False
        self.write(f"\x1b]52;c;{payload}\x07")
        return True

    # -- life -----------------------------------------------------------------------------------

    def start_application_mode(self) -> None:
        """Arm the guard, then start as usual with a writer that never blocks."""
        loop = self._loop

        def leave(code: int) -> None:
            with contextlib.suppress(RuntimeError):  # the loop has closed: the end is under way
                loop.call_soon_threadsafe(lambda: self._app.exit(return_code=code))

        guard.arm(self.fileno, self._out, leave)
        self._writer = Writer(self._out)
        self._writer.start()
        super().start_application_mode()  # type: ignore[no-untyped-call]

    def _enable_mouse_support(self) -> None:
        # Presses, wheel and drags; not every motion, which would send bytes for each cell passed.
        if self._mouse:
            self.write("\x1b[?1000h\x1b[?1002h\x1b[?1006h")

    def _enable_mouse_pixels(self) -> None:
        """Cells are precise enough."""

    def disable_input(self) -> None:
        """Wake the input thread, so that it stops at once."""
        with contextlib.suppress(OSError):
            os.write(self._wake_write, b"x")
        super().disable_input()

    def stop_application_mode(self) -> None:
        """Write the last frame, then restore the terminal."""
        self.disable_input()
        if self._writer is not None:
            guard.drained = self._writer.stop()
            self._writer = None
        guard.restore()

    # -- input ----------------------------------------------------------------------------------

    def _run_input_thread(self) -> None:
        try:
            self.run_input_thread()
        except Exception as error:  # noqa: BLE001 (outermost in the thread: the app reports it)
            self._app.call_later(self._app._handle_exception, error)

    def run_input_thread(self) -> None:
        """Read keys until stopped; end the program if the terminal is gone."""
        parser = XTermParser(self._debug)
        decode = getincrementaldecoder("utf-8")(errors="replace").decode
        with selectors.SelectSelector() as selector:
            selector.register(self.fileno, selectors.EVENT_READ)
            selector.register(self._wake_read, selectors.EVENT_READ)
            quiet = 0
            while not self.exit_event.is_set():
                # A lone Escape is told from a sequence by a short wait; after that nothing is pending.
                ready = {key.fd for key, _ in selector.select(0.05 if quiet < 8 else 5.0)}
                quiet = 0 if ready else quiet + 1
                if self._wake_read in ready:
                    os.read(self._wake_read, 64)
                if self.fileno in ready:
                    try:
                        data = os.read(self.fileno, 4096)
                    except (BlockingIOError, InterruptedError):
                        continue
                    except OSError:
                        data = b""
                    if not data:
                        guard.end(HANG_UP)
                        return
                    with contextlib.suppress(ParseError, EOFError):
                        for event in parser.feed(decode(data)):
                            if isinstance(event, InputEvent):
                                self.input_arrived()
                            self.process_message(event)
                with contextlib.suppress(ParseError, EOFError):
                    for event in parser.tick():
                        self.process_message(event)

"""Restoring the terminal, however the screen ends.

Quit, signals, a lost connection, an internal error and the exit of the interpreter all call
`Guard.restore`, which acts once per start: a second time it would pop a keyboard mode or a screen of the
calling program.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable
from types import FrameType
from typing import Any

GRACE_SECONDS = 1.5  # for an orderly exit; then the terminal is restored and the process ended

# Switch off everything that the screen may have switched on; the keyboard protocol before leaving the
# alternate screen, because terminals have one keyboard stack per screen.
_RESTORE = (
    "\x1b[?2026l"  # synchronised output
    "\x1b[?2004l"  # bracketed paste
    "\x1b[?2048l"  # resize reports
    "\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1006l\x1b[?1015l\x1b[?1016l"  # mouse
    "\x1b[?1004l"  # focus reports
    "\x1b[?7h"  # line wrap
    "\x1b[<u"  # keyboard protocol
    "\x1b[0m\x1b[?1049l\x1b[?25h"  # style, alternate screen, cursor
)
_SNAPSHOT_HINT = "`rltui snapshot LOGDIR` prints a pane without one"
_CANCEL_SEQUENCE = "\x18"  # ends an incomplete sequence


def terminal_problem() -> str | None:
    """The reason why the screen cannot start here, in one line; None if it can."""
    for stream, name in ((sys.__stdin__, "input"), (sys.__stdout__, "output")):
        try:
            tty = stream is not None and os.isatty(stream.fileno())
        except (OSError, ValueError):
            tty = False
        if not tty:
            return f"the screen needs a terminal, but {name} is none; {_SNAPSHOT_HINT}"
    if os.environ.get("TERM", "") == "dumb":
        return f"TERM=dumb cannot show a screen; {_SNAPSHOT_HINT}"
    return None


def ascii_needed() -> bool:
    """Whether the terminal or the locale supports only ASCII."""
    if os.environ.get("TERM") == "linux":
        return True
    locale = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    return bool(locale) and "utf" not in locale.lower()


class Guard:
    """Saves the settings of the terminal, and restores them once.

    `leave(code)` is called after a signal or a lost connection for an orderly exit. After `GRACE_SECONDS` the
    terminal is restored and the process ended anyway.
    """

    def __init__(self) -> None:
        self._armed = False
        self._lock = threading.Lock()
        self._attrs: list[Any] | None = None
        self._in = self._out = -1
        self._leave: Callable[[int], None] | None = None
        self._handlers: dict[signal.Signals, Any] = {}
        self._finished = threading.Event()
        self._ending = False
        self.drained = True  # False if output is still pending

    def arm(self, fd_in: int, fd_out: int, leave: Callable[[int], None]) -> None:
        """Save the settings of the terminal and install signal handlers. Main thread only."""
        self._in, self._out, self._leave = fd_in, fd_out, leave
        with contextlib.suppress(termios.error):
            self._attrs = termios.tcgetattr(fd_in)
        self._finished.clear()
        if not self._armed:
            self._armed = True
            atexit.register(self.restore)
        for sig in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            before = signal.getsignal(sig)
            # nohup and some launchers ignore SIGHUP on purpose; the lost terminal is noticed by reading.
            if sig == signal.SIGHUP and before == signal.SIG_IGN:
                continue
            self._handlers.setdefault(sig, before)
            signal.signal(sig, self._signalled)

    def _signalled(self, number: int, _frame: FrameType | None) -> None:
        self.end(128 + number)

    def end(self, code: int) -> None:
        """Request an orderly exit with a code; a second call exits at once. Any thread."""
        if self._ending:
            self._end_now(code)
        self._ending = True
        threading.Thread(target=self._end_after_grace, args=(code,), daemon=True, name="guard").start()
        if self._leave is not None:
            self._leave(code)

    def _end_after_grace(self, code: int) -> None:
        if not self._finished.wait(GRACE_SECONDS):
            self._end_now(code)

    def _end_now(self, code: int) -> None:
        self.restore()
        os._exit(code)

    def restore(self) -> None:
        """Restore the terminal, once per `arm`; never raises, never waits for a blocked terminal."""
        with self._lock:
            if not self._armed:
                return
            self._armed = False
        atexit.unregister(self.restore)
        self._send((_RESTORE if self.drained else _CANCEL_SEQUENCE + _RESTORE).encode())
        if self._attrs is not None:
            with contextlib.suppress(termios.error, OSError):
                termios.tcsetattr(self._in, termios.TCSANOW, self._attrs)
                termios.tcflush(
                    self._in, termios.TCIFLUSH
                )  # late answers of the terminal are not for the shell

    def _send(self, data: bytes) -> None:
        until = time.monotonic() + 0.5
        while data and (left := until - time.monotonic()) > 0:
            try:
                if not select.select([], [self._out], [], left)[1]:
                    return
                data = data[os.write(self._out, data[:512]) :]
            except (OSError, ValueError):
                return

    def disarm(self) -> None:
        """Restore the terminal and the signal handlers after an orderly exit. Main thread only."""
        self._finished.set()
        self.restore()
        for sig, before in self._handlers.items():
            with contextlib.suppress(TypeError, ValueError):
                signal.signal(sig, before)
        self._handlers.clear()


guard = Guard()  # a process has one terminal

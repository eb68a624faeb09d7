"""A program in a real pseudo-terminal, its screen read through an emulator: what a person would see.

Time passes only while `until` waits for something to appear, with a deadline; nothing sleeps.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyte

from tests.support.commands.child_process import default_signals

ROOT = Path(__file__).parents[3]
_MODE = re.compile(rb"\x1b\[\?([0-9;]+)([hl])")
_KEYBOARD = re.compile(rb"\x1b\[([><])[0-9;]*u")
# The private modes that a screen switches on and must switch off.
WATCHED = (1049, 1000, 1002, 1003, 1006, 1015, 1016, 1004, 2004, 2026, 2048)


class Terminal:
    """A running program and its screen. Use as a context manager."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        size: tuple[int, int] = (100, 30),
        env: Mapping[str, str] | None = None,
        cwd: Path | None = None,
        ignore_hup: bool = False,
    ) -> None:
        width, height = size
        self.screen = pyte.Screen(width, height)
        self.stream = pyte.ByteStream(self.screen)
        self.raw = b""
        self.status: int | None = None
        master, slave = pty.openpty()
        self.master = master
        self._resize(width, height)
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        full = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLORTERM": "truecolor",
            "PYTHONPATH": str(ROOT),
            **(env or {}),
        }
        full = {key: value for key, value in full.items() if value != ""}
        for key in ("TMUX", "NO_COLOR", "COLUMNS", "LINES"):
            if key not in (env or {}):
                full.pop(key, None)
        self.pid = os.fork()
        if self.pid == 0:  # pragma: no cover (the child)
            try:
                os.setsid()
                fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
                for fd in (0, 1, 2):
                    os.dup2(slave, fd)
                os.closerange(3, 64)
                default_signals()
                signal.signal(signal.SIGHUP, signal.SIG_IGN if ignore_hup else signal.SIG_DFL)
                os.chdir(cwd or ROOT)
                os.execvpe(argv[0], list(argv), full)
            finally:
                os._exit(127)

    @classmethod
    def python(cls, *arguments: str, **options: Any) -> Terminal:
        """This interpreter with arguments."""
        return cls([sys.executable, *arguments], **options)

    def __enter__(self) -> Terminal:
        return self

    def __exit__(self, *_: object) -> None:
        if self.status is None:
            os.kill(self.pid, signal.SIGKILL)
            self.wait(5)
        for fd in (self.master, self.slave):
            if fd >= 0:
                os.close(fd)

    # ---- the screen

    @property
    def lines(self) -> list[str]:
        """What is on the screen."""
        return [line.rstrip() for line in self.screen.display]

    @property
    def text(self) -> str:
        """What is on the screen, as one text."""
        return "\n".join(self.lines)

    def modes_on(self) -> set[int]:
        """Private modes that were switched on and not off again; 9999 stands for the keyboard protocol."""
        on: set[int] = set()
        for match in _MODE.finditer(self.raw):
            for number in match[1].split(b";"):
                (on.add if match[2] == b"h" else on.discard)(int(number))
        pushed = 0
        for match in _KEYBOARD.finditer(self.raw):
            pushed += 1 if match[1] == b">" else -1
        return {mode for mode in on if mode in WATCHED} | ({9999} if pushed else set())

    def restored(self) -> bool:
        """Whether modes and line settings are as before."""
        return not self.modes_on() and termios.tcgetattr(self.slave)[:4] == self.before[:4]

    # ---- what happens

    def pump(self, seconds: float = 0.05) -> bool:
        """Take in what the program writes within a moment; False when nothing came."""
        if not select.select([self.master], [], [], seconds)[0]:
            return False
        try:
            data = os.read(self.master, 1 << 16)
        except OSError:
            return False
        self.raw += data
        # The emulator does not know every sequence of modern terminals; those it prints are taken out before.
        self.stream.feed(re.sub(rb"\x1b\[[<>=?][0-9;]*[a-zA-Z$]|\x1b\[\?[0-9;]*\$p|\x18", b"", data))
        return True

    def until(self, condition: Callable[[Terminal], bool], seconds: float = 10.0) -> Terminal:
        """Wait until something is so. Raises AssertionError with the screen when it does not come."""
        deadline = time.monotonic() + seconds
        while not condition(self):
            if time.monotonic() > deadline:
                raise AssertionError("did not come; the screen shows:\n" + self.text)
            self.pump()
        return self

    def until_text(self, text: str, seconds: float = 10.0) -> Terminal:
        """Wait until a text is on the screen."""
        return self.until(lambda terminal: text in terminal.text, seconds)

    def quiet(self, seconds: float = 0.3, most: float = 5.0) -> int:
        """Wait until nothing came for a moment; the bytes that came before."""
        deadline, start = time.monotonic() + most, len(self.raw)
        while time.monotonic() < deadline and self.pump(seconds):
            pass
        return len(self.raw) - start

    def type(self, keys: str | bytes) -> None:
        """Press keys."""
        os.write(self.master, keys.encode() if isinstance(keys, str) else keys)

    def resize(self, width: int, height: int) -> None:
        """Another size, as a window manager would do it."""
        self.screen.resize(height, width)
        self._resize(width, height)
        os.kill(self.pid, signal.SIGWINCH)

    def _resize(self, width: int, height: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))

    def hang_up(self) -> None:
        """The connection is lost."""
        os.close(self.slave)
        os.close(self.master)
        self.master = self.slave = -1

    def wait(self, seconds: float = 10.0) -> int | None:
        """The exit code once the program has ended, minus the signal that killed it; None when it goes on."""
        deadline = time.monotonic() + seconds
        while self.status is None and time.monotonic() < deadline:
            if self.master >= 0:
                self.pump(0.02)
            else:
                select.select([], [], [], 0.02)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.status = os.waitstatus_to_exitcode(status)
        if self.master >= 0:
            while self.pump(0.05):
                pass
        return self.status

    def stopped(self) -> bool:
        """Whether the program has been stopped (Ctrl-Z)."""
        return Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()[0] == "T"

    def cpu_seconds(self) -> float:
        """Processor time that the program has used."""
        fields = Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

"""A program in a terminal of its own: what it sends and when, what it costs, how quickly it answers a key."""

from __future__ import annotations

import contextlib
import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

# The one question whose answer changes what is sent: frames are wrapped in two short sequences when the
# terminal says that it shows them whole.
_ASKED = b"\x1b[?2026$p"
_ANSWER = b"\x1b[?2026;2$y"
_TICK = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Answer:
    """What a key brought about. Milliseconds; `first` and `silence` are NaN when nothing was sent."""

    first: float
    silence: float
    sent: int


class Probe:
    """A running program. Use it as a context: it is ended at the end.

    columns, rows: size of the terminal. `read` must be called often enough; nothing reads by itself.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        columns: int = 140,
        rows: int = 45,
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        keep: bool = False,
    ) -> None:
        self.sent = 0  # bytes so far
        self.output = bytearray()  # all of them when `keep`, else the last few
        self._keep = keep
        self._asked = False
        self._fd, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.set_blocking(self._fd, False)
        self.began = time.perf_counter()
        self._child = subprocess.Popen(
            list(command), stdin=other, stdout=other, stderr=other, cwd=cwd,
            env=dict(env) if env is not None else None, start_new_session=True, close_fds=True,
        )  # fmt: skip
        os.close(other)

    def __enter__(self) -> Probe:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def alive(self) -> bool:
        """Whether the program still runs."""
        return self._child.poll() is None

    def read(self, seconds: float) -> bytes:
        """What is sent within some seconds; returns at the first bytes."""
        if not select.select([self._fd], [], [], max(seconds, 0.0))[0]:
            return b""
        try:
            data = os.read(self._fd, 1 << 16)
        except OSError:  # the program has closed its side
            return b""
        self.sent += len(data)
        self.output += data
        if not self._asked and _ASKED in self.output:
            self._asked = True
            self.type(_ANSWER)
        if not self._keep and len(self.output) > 1 << 16:
            del self.output[: -(1 << 12)]
        return data

    def type(self, keys: bytes) -> None:
        """Press keys."""
        os.write(self._fd, keys)

    def resize(self, columns: int, rows: int) -> None:
        """Another size of the terminal."""
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        with contextlib.suppress(OSError):
            os.killpg(self._child.pid, signal.SIGWINCH)

    def wait_for(self, words: bytes, seconds: float = 20.0) -> float:
        """Seconds from the start until words were sent; NaN when they were not."""
        end = time.perf_counter() + seconds
        while words not in self.output and time.perf_counter() < end and self.alive:
            self.read(0.05)
        return time.perf_counter() - self.began if words in self.output else float("nan")

    def during(self, seconds: float) -> int:
        """Bytes sent within so many seconds."""
        before, end = self.sent, time.perf_counter() + seconds
        while (left := end - time.perf_counter()) > 0:
            if not self.read(left) and not self.alive:
                break
        return self.sent - before

    def wait_until_quiet(self, quiet: float = 0.4, seconds: float = 20.0) -> None:
        """Until nothing has been sent for a while."""
        end = time.perf_counter() + seconds
        while time.perf_counter() < end and self.alive and self.read(quiet):
            pass

    def press(self, keys: bytes, *, timeout: float = 1.0, quiet: float = 0.15) -> Answer:
        """Press keys and time what follows: the first byte, and the last before a silence."""
        before, began = self.sent, time.perf_counter()
        self.type(keys)
        first = last = float("nan")
        while self.read(quiet if self.sent > before else timeout):
            last = (time.perf_counter() - began) * 1000
            if first != first:
                first = last
        return Answer(first, last, self.sent - before)

    def cpu(self) -> float:
        """Seconds of processor time used so far; NaN where the system does not tell (needs /proc)."""
        try:
            words = Path(f"/proc/{self._child.pid}/stat").read_text().rpartition(")")[2].split()
            return (int(words[11]) + int(words[12])) / _TICK
        except (OSError, ValueError, IndexError):
            return float("nan")

    def cpu_of_threads(self) -> float:
        """The same of the threads that live now, in nanoseconds' resolution: enough for a single key."""
        try:
            tasks = Path(f"/proc/{self._child.pid}/task").iterdir()
            return sum(int((task / "schedstat").read_text().split()[0]) for task in tasks) / 1e9
        except (OSError, ValueError, IndexError):
            return float("nan")

    def memory(self) -> float:
        """Resident memory in MB; NaN where the system does not tell."""
        try:
            for line in Path(f"/proc/{self._child.pid}/status").read_text().splitlines():
                if line.startswith("VmRSS:"):
                    return int(line.split()[1]) / 1024
        except (OSError, ValueError, IndexError):
            pass
        return float("nan")

    def close(self) -> int:
        """End the program; its exit code."""
        for how, timeout in ((signal.SIGTERM, 3.0), (signal.SIGKILL, 3.0)):
            if self.alive:
                self._child.send_signal(how)
            end = time.perf_counter() + timeout
            while self.alive and time.perf_counter() < end:
                self.read(0.02)
        with contextlib.suppress(OSError):
            os.close(self._fd)
        return self._child.wait()

"""A recorded terminal session: `python screenshots/cast.py` writes demo.cast (asciinema, version 2).

The demo runs in a pseudo-terminal, keys are sent at fixed moments, and what it writes is kept with its
times. Play it with `asciinema play screenshots/demo.cast`.
"""

from __future__ import annotations

import codecs
import fcntl
import json
import os
import pty
import select
import signal
import struct
import sys
import tempfile
import termios
import time
from pathlib import Path

WIDTH, HEIGHT = 100, 30
COMMAND = ("-m", "rltui", "demo", "--fault", "late-collapse", "--speed", "12")
MAX_PAUSE = 2.0  # seconds; a player need not wait longer
# Seconds after the key before, what is sent, what it does.
KEYS: tuple[tuple[float, bytes], ...] = (
    (7.0, b"3"),  # the policy pane
    (2.0, b"\x1b[B"),
    (1.2, b"\x1b[B"),
    (2.0, b"e"),  # what the metric means
    (3.0, b"\x1b"),
    (2.0, b"f"),  # findings
    (3.5, b"\r"),  # to the metric of the first one
    (2.5, b"\r"),  # its large chart
    (2.5, b"z"),
    (1.0, b"z"),
    (1.5, b"L"),
    (2.0, b"0"),
    (2.0, b"\x1b"),
    (2.0, b"/"),
    (0.5, b"k"),
    (0.4, b"l"),
    (2.0, b"\r"),
    (2.0, b"t"),  # another theme
    (2.0, b"1"),
    (2.5, b"q"),
)

Event = tuple[float, str, str]


def record() -> list[Event]:
    """What the program writes, in seconds since its start."""
    with tempfile.TemporaryDirectory() as home:
        pid, master = pty.fork()
        if pid == 0:
            os.environ.clear()
            os.environ.update(
                HOME=home, PATH="/usr/bin:/bin", TERM="xterm-256color", COLORTERM="truecolor", LANG="C.UTF-8",
                PYTHONPATH=str(Path(__file__).parent.parent),
            )  # fmt: skip
            os.execv(sys.executable, (sys.executable, *COMMAND))
        fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", HEIGHT, WIDTH, 0, 0))
        os.kill(pid, signal.SIGWINCH)
        events = list(_events(master))
        os.close(master)
        os.waitpid(pid, 0)
    return events


def _events(master: int) -> list[Event]:
    decode = codecs.getincrementaldecoder("utf-8")("replace")
    start = time.monotonic()
    waiting = list(KEYS)
    due = start + waiting[0][0]
    found: list[Event] = []
    while True:
        ready, _, _ = select.select([master], [], [], 0.02)
        if ready:
            try:
                data = os.read(master, 65536)
            except OSError:  # the other side has closed it
                return found
            if not data:
                return found
            text = decode.decode(data)
            if text:
                found.append((time.monotonic() - start, "o", text))
        if waiting and time.monotonic() >= due:
            os.write(master, waiting.pop(0)[1])
            due = time.monotonic() + (waiting[0][0] if waiting else 0.0)


def paced(events: list[Event]) -> list[Event]:
    """The same without long pauses, times rounded to milliseconds."""
    out: list[Event] = []
    before = now = 0.0
    for at, kind, text in events:
        now += min(at - before, MAX_PAUSE)
        before = at
        out.append((round(now, 3), kind, text))
    return out


def main() -> int:
    """Record and write the file."""
    header = {
        "version": 2, "width": WIDTH, "height": HEIGHT, "title": "rltui demo",
        "env": {"TERM": "xterm-256color", "SHELL": "/bin/sh"},
    }  # fmt: skip
    lines = [json.dumps(header)] + [json.dumps(event, ensure_ascii=False) for event in paced(record())]
    path = Path(__file__).parent / "demo.cast"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    sys.stdout.write(f"{path.name}  {path.stat().st_size // 1000} kB, {len(lines) - 1} events\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())

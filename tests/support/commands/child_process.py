"""The command as a process of its own that is read while it runs and ended by a signal.

A shell starts what runs in its background with SIGINT and SIGQUIT ignored, and a child inherits that: here
they are at their defaults. A read of a pipe does not end when nothing comes, so the process is ended in time.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[3]


def default_signals() -> None:
    """Restore the default handlers of keyboard signals, as in a foreground process."""
    for number in (signal.SIGINT, signal.SIGQUIT):
        signal.signal(number, signal.SIG_DFL)


@contextlib.contextmanager
def running(
    *words: object, program: Sequence[str] = ("-m", "rltui"), seconds: float = 40.0, **how: Any
) -> Iterator[subprocess.Popen[str]]:
    """`rltui WORDS` with pipes; killed at the end, after `seconds` at the latest: then every read ends."""
    process = subprocess.Popen(
        [sys.executable, *program, *map(str, words)], preexec_fn=default_signals, text=True,
        **{"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
           "env": {**os.environ, "PYTHONPATH": str(ROOT)}, **how},
    )  # fmt: skip
    end = threading.Timer(seconds, process.kill)
    end.start()
    try:
        with process:
            try:
                yield process
            finally:
                process.kill()
    finally:
        end.cancel()
        end.join()

"""The command line run within the test's process: arguments in, exit code and both streams out."""

from __future__ import annotations

import contextlib
import io
import json
import os
import signal
from dataclasses import dataclass
from typing import Any

from rltui.cli import run


@dataclass(frozen=True)
class Done:
    """The exit code and the output of a command."""

    code: int
    out: str
    err: str

    def json(self) -> Any:
        """Standard output as strict JSON document, without `NaN`."""
        return json.loads(self.out, parse_constant=_refuse)

    def lines(self) -> list[Any]:
        """Standard output as JSON lines."""
        return [json.loads(line, parse_constant=_refuse) for line in self.out.splitlines()]


def _refuse(word: str) -> object:
    raise AssertionError(f"{word} is no JSON")


def rltui(*words: object) -> Done:
    """Run the command line in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    handlers = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}
    code = -1
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            run([os.fspath(word) if isinstance(word, os.PathLike) else str(word) for word in words])
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else 1
    finally:
        for number, handler in handlers.items():
            signal.signal(number, handler)
    return Done(code, *(stream.buffer.getvalue().decode("utf-8") for stream in (out, err)))

"""A training in a process of its own: it writes logs as it is told, and says when that is done.

Run as a module it reads one JSON list from each line of its input, `[what, path, ...]`, does it, and answers
with an empty line. Event files are written by TensorBoard's own writer.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

ROOT = Path(__file__).parents[3]


class Training:
    """The process that writes. Each call returns after writing and flushing."""

    def __init__(self) -> None:
        command = [sys.executable, "-m", "tests.support.logs.writer_process"]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
        )

    def __enter__(self) -> Training:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._process.communicate(timeout=10)

    def tell(self, what: str, path: Path, *more: Any) -> None:
        """Send a request and wait for its completion."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps([what, str(path), *more]) + "\n")
        self._process.stdin.flush()
        assert self._process.stdout.readline() == "\n", "the writer failed"

    def events(self, folder: Path, steps: Sequence[int]) -> None:
        """Go on with the event file of a folder: `loss` = step / 2 + 0.25."""
        self.tell("events", folder, list(steps))

    def text(self, path: Path, text: str) -> None:
        """Append to a file."""
        self.tell("text", path, text)


class _Writer:
    def __init__(self) -> None:
        self._writers: dict[str, Any] = {}

    def events(self, folder: str, steps: Sequence[int]) -> None:
        from tensorboard.compat.proto.event_pb2 import Event
        from tensorboard.compat.proto.summary_pb2 import Summary
        from tensorboard.summary.writer.event_file_writer import EventFileWriter

        writer = self._writers.get(folder) or self._writers.setdefault(folder, EventFileWriter(folder))
        for step in steps:
            value = Summary.Value(tag="loss", simple_value=step / 2 + 0.25)
            writer.add_event(Event(wall_time=1.7e9 + step, step=step, summary=Summary(value=[value])))
        writer.flush()

    def text(self, path: str, text: str) -> None:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        with Path(path).open("a") as file:
            file.write(text)

    def truncate(self, path: str) -> None:
        with Path(path).open("r+") as file:
            file.truncate(0)

    def rename(self, path: str, to: str) -> None:
        Path(path).rename(to)

    def copy(self, path: str, to: str) -> None:
        shutil.copyfile(path, to)

    def remove(self, folder: str) -> None:
        shutil.rmtree(folder)


def main() -> None:
    """Execute the requests on standard input."""
    writer = _Writer()
    for line in sys.stdin:
        what, *arguments = json.loads(line)
        getattr(writer, what)(*arguments)
        print(flush=True)


if __name__ == "__main__":
    main()

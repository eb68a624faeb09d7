"""Console logs: lines such as `step:12 - actor/pg_loss:np.float64(0.1) - ...` between everything else.

veRL prints its metrics so; under Ray the line carries colours and a `(TaskRunner pid=123)` prefix.
torchtune's disk log has lines `Step 12 | loss:0.5 lr:1e-05`. All other lines are no business of this log.
"""

from __future__ import annotations

import re

from rltui.logs.base import BLOCK, File
from rltui.logs.lines import Lines
from rltui.logs.number import from_text
from rltui.logs.rows import Rows
from rltui.scalars import Batch, Problem

_ANSI = re.compile(r"\x1b(?:\[[0-9;:?<=>]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-_])")
_VERL = re.compile(r"(?:^|[\s)\]])step:(-?[0-9]{1,19}) - (?=\S)")
_TORCHTUNE = re.compile(r"(?:^|\s)Step (-?[0-9]{1,19}) \| (?=\S+:)")
_REPEATED = re.compile(r"\s*\[repeated [0-9]+x across cluster\].*\Z", re.DOTALL)
# A value as its type prints itself: np.float32(0.5), tensor(2., device='cuda:0'), array([0.5]).
_WRAPPED = re.compile(r"(.+?):(?:\w{1,8}\.)?(?:float|int|uint|bfloat|tensor|array)[0-9]{0,3}\(([^,]*).*\)\Z")


def record(line: str) -> dict[str, object] | None:
    """The step and the numbers of a console line; None for a line that is no metrics line."""
    if "step:" not in line and "Step " not in line:
        return None
    if "\x1b" in line:
        line = _ANSI.sub("", line)
    if found := _VERL.search(line):
        pairs = _REPEATED.sub("", line[found.end() :]).rstrip().split(" - ")
    elif found := _TORCHTUNE.search(line):
        pairs = line[found.end() :].split()
    else:
        return None
    numbers: dict[str, object] = {}
    before = ""
    for pair in pairs:
        key, colon, value = pair.rpartition(":")
        if value.startswith("np.float64("):  # by far the most frequent
            value = value[11:-1]
        elif pair.endswith(")") and (wrapped := _WRAPPED.match(pair)):
            key, value = wrapped[1], wrapped[2].strip("[] ")
        if not colon:  # a piece of a key or of a text that holds the separator
            before += f"{pair} - "
            continue
        number = from_text(value)
        if number is not None:
            numbers[before + key] = number
        before = ""
    return {**numbers, "step": int(found[1])} if numbers else None


class ConsoleLog:
    """One console log being read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._lines = Lines(path)
        self._rows = Rows(path)

    @property
    def offset(self) -> int:
        """Bytes settled."""
        return self._lines.offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on from `offset`."""
        _add(self._rows, self._lines.take(file, budget))
        return self._rows.batch(self._lines.problems())

    def newest(self, file: File, length: int) -> Batch:
        """Scalars of the last `length` bytes."""
        size = file.size()
        begin = max(0, size - length)
        rows = self._rows.preview()
        _add(rows, file.read_at(begin, size - begin).split(b"\n")[1 if begin else 0 : -1])
        return rows.batch()

    def finish(self, file: File) -> Batch:
        """Take what is left. A last line without newline may be cut inside a number, so it is not read."""
        before = -1
        while before != self._lines.offset:
            before = self._lines.offset
            _add(self._rows, self._lines.take(file, final=True))
        tail = self._lines.tail(file)
        problems = self._lines.problems()
        if record(tail.decode("utf-8", "replace")) is not None:
            message = f"the last line ({len(tail):,} bytes) has no end and was not read"
            problems.append(Problem("info", "torn-tail", self._path, message, before, len(tail)))
        elif tail:
            self._lines.offset += len(tail)
        return self._rows.batch(problems)

    def close(self) -> None:
        """Let go of what was collected."""
        self._rows.batch()


def _add(rows: Rows, lines: list[bytes]) -> None:
    for line in lines:
        if b"tep" in line and (found := record(line.decode("utf-8", "replace"))) is not None:
            rows.add(found)


_NAME = re.compile(r"\.(log|out|txt|err)\Z|\A(stdout|stderr|console|output|nohup)\b", re.IGNORECASE)
# Said long before the first step by programs that print such lines.
_SIGNS = re.compile(
    rb"\((?:TaskRunner|main_task|WorkerDict|Runner|\w*Trainer\w*) pid=|\bverl[./_ ]|Creating file logger at"
    rb"|step:-?\d+ - \S+:|(?:^|\n)Step \d+ \| \S+:"
)


class Console:
    """Console logs with metrics lines."""

    name = "console"
    rewrites = False

    def matches(self, name: str, head: bytes) -> bool:
        """By name, then by a metrics line or by a sign of a program that will print them."""
        if not _NAME.search(name) or name.startswith("."):
            return False
        return not head or bool(_SIGNS.search(head))

    def open(self, path: str) -> ConsoleLog:
        """A log at its beginning."""
        return ConsoleLog(path)


FORMAT = Console()

"""Lines of a growing file: whole ones only, with bounded memory whatever stands between the newlines.

Three things make it more than `split`. The last line may be torn, so it waits for its newline. A line
may be longer than memory should hold, so it is skipped block by block. And zeros may stand where text
should: a page that a network file system has not delivered yet (they fill in later), or the hole that
a writer leaves when its file is truncated under it (they never do).
"""

from __future__ import annotations

from rltui.common.problem import Problem
from rltui.common.text import quote
from rltui.logs.formats.interface import BLOCK, HEAD, LINE_CAP, File

MOST_WAITS = 4  # reads that zeros before later text are given to fill in
_ZEROS = bytes(BLOCK)
_SEARCHED = 64 << 20  # bytes of zeros behind which text is searched block by block


def first_text(file: File) -> bytes:
    """The first HEAD bytes that say what a file is: those behind the zeros of a truncation under its writer.

    The end of a vast hole is found by halves. Empty when the file holds nothing else.
    """
    low, data = 0, file.read_at(0, HEAD)
    while data and low < _SEARCHED:
        if text := _behind_zeros(data):
            return text if len(text) == len(data) else file.read_at(low + len(data) - len(text), HEAD)
        low += len(data)
        data = file.read_at(low, BLOCK)
    high = file.size()
    while high - low > HEAD:
        middle = (low + high) // 2
        if file.read_at(middle, HEAD).strip(b"\0"):
            high = middle
        else:
            low = middle + 1
    return file.read_at(low, high - low + HEAD).lstrip(b"\0")[:HEAD]


def _behind_zeros(data: bytes) -> bytes:
    """What stands behind leading zeros. Whole blocks of them are compared at once, not byte by byte."""
    if data[:1] != b"\0":
        return data
    return b"" if data == _ZEROS[: len(data)] else data.lstrip(b"\0")


class TextLines:
    """Cuts one file into lines. `offset` is settled: everything before it was handed out or skipped."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.offset = 0
        self.start = 0  # offset of the first line of the last `take`
        self._problems: list[Problem] = []
        self._long_from: int | None = None  # start of the over-long line that is being skipped
        self._zeros = 0  # bytes of the hole that is being skipped
        self._waits = 0

    def take(self, file: File, budget: int = BLOCK, *, final: bool = False) -> list[bytes]:
        """Whole lines from the next `budget` bytes or so, without their newlines; they may hold zeros.

        Empty with an unmoved offset when nothing whole has arrived. `final`: zeros are not waited for.
        """
        self.start = self.offset
        if self._long_from is not None:
            self._skip(file, budget)
            return []
        data = file.read_at(self.offset, max(budget, 1))
        if data[:1] == b"\0" or (self._zeros and data):
            data = self._past_zeros(file, data, final)
        end = data.rfind(b"\n") + 1
        if not end:
            data = self._grown(file, data)
            end = data.rfind(b"\n") + 1
            if not end:
                if len(data) > LINE_CAP:
                    self._long_from = self.offset
                    self.offset += len(data)
                return []
        end = self._before_zeros(data, end, final)
        if not end:
            return []
        self.offset += end
        return data[: end - 1].split(b"\n")

    def tail(self, file: File) -> bytes:
        """What stands after the last newline, unsettled; empty while an over-long line is being skipped."""
        if self._long_from is not None:
            self._report_long()
            return b""
        return file.read_at(self.offset, LINE_CAP)

    def problems(self) -> list[Problem]:
        """What has been met since the last call."""
        problems, self._problems = self._problems, []
        return problems

    def _grown(self, file: File, data: bytes) -> bytes:
        """More of a line that is longer than one look: until its newline, the end, or the cap."""
        if len(data) > LINE_CAP:
            return data
        pieces, length = [data], len(data)
        while length and length <= LINE_CAP:
            piece = file.read_at(self.offset + length, min(max(length, BLOCK), LINE_CAP + 1 - length))
            pieces.append(piece)
            length += len(piece)
            if not piece or b"\n" in piece:
                break
        return b"".join(pieces)

    def _skip(self, file: File, budget: int) -> None:
        data = file.read_at(self.offset, max(budget, 1))
        end = data.find(b"\n") + 1
        self.offset += end or len(data)
        if end:
            self._report_long()
            self._long_from = None

    def _report_long(self) -> None:
        begin = self._long_from or 0
        length = self.offset - begin
        message = f"a line of {length:,} bytes is longer than {LINE_CAP >> 20} MiB and was skipped"
        self._problems.append(Problem("warning", "long-line", self.path, message, begin, length))

    def _past_zeros(self, file: File, data: bytes, final: bool) -> bytes:
        """Leading zeros skipped, where text follows or the hole is larger than a page in flight can be."""
        text = _behind_zeros(data)
        zeros = len(data) - len(text)
        if not text and self.offset + zeros >= file.size():
            return b""
        if text and self._zeros + zeros < BLOCK and self._wait(final):
            return b""
        self._zeros += zeros
        self.offset += zeros
        self.start = self.offset
        if text:
            begin = self.offset - self._zeros
            message = f"{self._zeros:,} zero bytes were skipped, as a truncation under the writer leaves them"
            self._problems.append(Problem("warning", "zero-bytes", self.path, message, begin, self._zeros))
            self._zeros = self._waits = 0
        return text

    def _before_zeros(self, data: bytes, end: int, final: bool) -> int:
        """Where to stop so that a line with zeros in it is given time to fill in."""
        zero = data.find(b"\0", 0, end)
        if zero < 0:
            return end
        begin = data.rfind(b"\n", 0, zero) + 1
        if begin and not final:
            return begin
        if self._wait(final):
            return 0
        self._waits = 0
        return end

    def _wait(self, final: bool) -> bool:
        self._waits += 1
        return not final and self._waits <= MOST_WAITS


class SkippedLines:
    """Counts unusable lines of one log; `what` names them after their number."""

    def __init__(self, path: str, code: str, what: str) -> None:
        self._path, self._code, self._what = path, code, what
        self._count = self._reported = 0
        self._offset = 0
        self._first = ""

    def add(self, line: bytes, offset: int) -> None:
        """One more such line, which starts at `offset`."""
        if not self._count:
            self._offset = offset
            self._first = quote(line[:1024].decode("utf-8", "replace"))
        self._count += 1

    def problems(self) -> list[Problem]:
        """The diagnostic with its newest count, when it grew since the last call."""
        if self._count == self._reported:
            return []
        self._reported = self._count
        message = f"{self._count:,} {self._what}, the first: {self._first}"
        return [Problem("warning", self._code, self._path, message, self._offset, self._count)]

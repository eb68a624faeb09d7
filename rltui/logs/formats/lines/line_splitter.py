"""Complete lines of a growing file, with bounded memory for any content.

Besides splitting, this handles three cases. The last line may be torn, so it waits for its newline. A line
may be too long for memory, so it is skipped block by block. And there may be zeros in place of text: a page
that a network file system has not delivered yet (it will be filled in), or the hole that results if a file is
truncated while its writer has it open (it will not).
"""

from __future__ import annotations

from rltui.common.display_text import count_of, quote
from rltui.common.problem import CountedProblem, Problem
from rltui.draw.numbers import format_bytes
from rltui.logs.formats.interface import BLOCK, HEAD, LINE_CAP, File

MAX_WAITS = 4  # reads for which zeros before text may be filled in
_ZEROS = bytes(BLOCK)
_SEARCHED = 64 << 20  # bytes of leading zeros that are searched block by block


def first_text(file: File) -> bytes:
    """The first HEAD bytes of a file after leading zeros, left by truncation. Empty if there is no text.

    The end of a very large hole is found by bisection.
    """
    low, data = 0, file.read_at(0, HEAD)
    while data and low < _SEARCHED:
        if text := _after_zeros(data):
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


def _after_zeros(data: bytes) -> bytes:
    """The bytes after leading zeros. Blocks of zeros are compared at once, not byte by byte."""
    if data[:1] != b"\0":
        return data
    return b"" if data == _ZEROS[: len(data)] else data.lstrip(b"\0")


class LineSplitter:
    """Splits one file into lines. Everything before `offset` was returned or skipped.

    cap: bytes; longer lines are skipped in constant memory.
    """

    def __init__(self, path: str, cap: int = LINE_CAP) -> None:
        self.path = path
        self._cap = cap
        self.offset = 0
        self.start = 0  # offset of the first line of the last `take`
        self.at_end = False  # the last `take` left no complete line
        self._problems: list[Problem] = []
        self._long_line: int | None = None  # start of an overlong line that is being skipped
        self._zeros = 0  # bytes of the hole that is being skipped
        self._waits = 0

    def take(self, file: File, budget: int = BLOCK, *, final: bool = False) -> list[bytes]:
        """Complete lines of about the next `budget` bytes, without their newlines; they may contain zeros.

        Empty with an unchanged offset if there is no complete line. final: do not wait for zeros to be filled
        in.
        """
        self.start, self.at_end = self.offset, False
        if self._long_line is not None:
            self._skip(file, budget)
            return []
        data = file.read_at(self.offset, max(budget, 1))
        self.at_end = len(data) < max(budget, 1)
        if data[:1] == b"\0" or (self._zeros and data):
            data = self._skip_zeros(file, data, final)
        end = data.rfind(b"\n") + 1
        if not end:
            data = self._read_more(file, data)
            end = data.rfind(b"\n") + 1
            if not end:
                if len(data) > self._cap:
                    self._long_line = self.offset
                    self.offset += len(data)
                self.at_end = self._long_line is None
                return []
        end = self._end_before_zeros(data, end, final)
        if not end:
            return []
        self.offset += end
        return data[: end - 1].split(b"\n")

    def tail(self, file: File) -> bytes:
        """The unread text after the last newline; empty while an overlong line is being skipped."""
        if self._long_line is not None:
            self._report_long()
            return b""
        return file.read_at(self.offset, self._cap)

    def problems(self) -> list[Problem]:
        """Problems since the last call."""
        problems, self._problems = self._problems, []
        return problems

    def _read_more(self, file: File, data: bytes) -> bytes:
        """More of a line that is longer than one read: to its newline, the end of the file, or the limit."""
        if len(data) > self._cap:
            return data
        pieces, length = [data], len(data)
        while length and length <= self._cap:
            piece = file.read_at(self.offset + length, min(max(length, BLOCK), self._cap + 1 - length))
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
            self._long_line = None

    def _report_long(self) -> None:
        begin = self._long_line or 0
        length = self.offset - begin
        message = f"a line of {format_bytes(length)} is longer than {format_bytes(self._cap)} and was skipped"
        self._problems.append(Problem("warning", "long-line", self.path, message, begin, length))

    def _skip_zeros(self, file: File, data: bytes, final: bool) -> bytes:
        """Skip leading zeros, if text follows them or there are too many for a page that is still to come."""
        text = _after_zeros(data)
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

    def _end_before_zeros(self, data: bytes, end: int, final: bool) -> int:
        """The end of the lines before one with zeros, which may still be filled in."""
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
        return not final and self._waits <= MAX_WAITS


class SkippedLines(CountedProblem):
    """Counts unusable lines of one log. noun: what one of them is called. why: stands behind their number."""

    def __init__(self, path: str, code: str = "", noun: str = "line", why: str = "") -> None:
        super().__init__(code, path, lambda count: f"{count_of(count, noun)} {why}, the first: {self._first}")
        self._first = ""

    def add_line(self, line: bytes, offset: int) -> None:
        """Count a line that starts at `offset`."""
        if not self.count:
            self._first = quote(line[:1024].decode("utf-8", "replace"))
        self.add(offset)

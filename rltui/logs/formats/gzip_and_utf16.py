"""Encoded logs: any format in gzip, and text formats in UTF-16, as written by `>` in Windows PowerShell."""

from __future__ import annotations

import codecs
import zlib
from collections.abc import Sequence

from rltui.common.problem import Problem
from rltui.common.regex import regex
from rltui.draw.numbers import format_bytes
from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.formats.interface import BLOCK, HEAD, RECORD_CAP, File, Format, LogReader, ReadFromStart
from rltui.logs.log_contents import GZIP, WBITS, decompressed_head
from rltui.logs.log_file_names import rotated_from

_CONTENT_CAP = RECORD_CAP + 2 * BLOCK  # decompressed bytes kept for a format that needs more to continue
_MARK = regex(rb"\xff\xfe[^\0]\0|\xfe\xff\0[^\0]")  # a byte order mark and an ASCII character


class _Content:
    """Decoded bytes as a growing file, without those that the inner reader has read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.start = 0  # offset of the first byte in `data`
        self.data = bytearray()

    def size(self) -> int:
        """Bytes decoded so far."""
        return self.start + len(self.data)

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes that have not been dropped."""
        begin = offset - self.start
        return bytes(self.data[begin : begin + length]) if begin >= 0 else b""

    def drop_before(self, offset: int) -> None:
        """Drop the bytes before `offset`, in large pieces."""
        count = offset - self.start
        if count >= BLOCK or count == len(self.data):
            del self.data[:count]
            self.start = offset


class _EncodedReader(ReadFromStart):
    """Reads one log in UTF-16. `offset` counts bytes of the file, those of a torn line included."""

    def __init__(self, path: str, formats: Sequence[Format], verify: bool) -> None:
        self.offset = 0
        self._path, self._formats, self._verify = path, formats, verify
        self._content = _Content(path)
        self._inner: LogReader | None = None
        self._needs_all = False  # the format cannot read a part of its file
        self._ended = False
        self._text = codecs.getincrementaldecoder("utf-16")("replace")

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode more and read complete records; at the end of the data, read the rest."""
        if self._ended:
            return EMPTY
        problem = self._decode(file, max(budget, 1))
        batch = self._read_decoded(budget)
        return batch if problem is None else concat([batch, Batch(problems=(problem,))])

    def finish(self, file: File) -> Batch:
        """Read to the end; a truncated file is read as far as possible and reported."""
        batches = []
        while not self._ended:
            before = self.offset, self._content.size()
            batches.append(self.read(file))
            if (self.offset, self._content.size()) == before and not self._ended:
                self._ended = True
                batches += [self._read_decoded(BLOCK), Batch(problems=self._truncated())]
        return concat(batches)

    def close(self) -> None:
        """Free buffers."""
        if self._inner is not None:
            self._inner.close()

    def _decode(self, file: File, budget: int) -> Problem | None:
        """Decode about `budget` more bytes; a problem ends the reading."""
        data = file.read_at(self.offset, budget)
        self._content.data += self._text.decode(data).encode("utf-8", "replace")
        self.offset += len(data)
        return None

    def _truncated(self) -> tuple[Problem, ...]:
        """Problems of a file without a proper end."""
        return ()

    def _inner_format(self) -> Format | None:
        """The format of the content; the first metrics line of a console may be far from its start."""
        if not self._content.size():
            return None
        known = _format_of_content(self._path, self._content.read_at(0, HEAD), self._formats)
        return known or next((form for form in self._formats if form.name == "console"), None)

    def _read_decoded(self, budget: int) -> Batch:
        """Read the decoded bytes with the inner format; at the end, all of the rest."""
        if self._inner is None:
            form = self._inner_format()
            if form is None:
                return EMPTY
            self._inner = form.open(self._path, verify=self._verify)
            self._needs_all = form.name == "document"
        inner, batches = self._inner, []
        while not self._needs_all or self._ended:
            before = inner.offset
            batches.append(inner.read(self._content, budget))
            self._content.drop_before(inner.offset)
            if inner.offset == before:
                break
        if self._ended:
            batches.append(inner.finish(self._content))
            self._content.drop_before(self._content.size())
        return concat(batches)


class _GzipReader(_EncodedReader):
    """Reads one compressed log. `offset` counts compressed bytes."""

    def __init__(self, path: str, formats: Sequence[Format], verify: bool) -> None:
        super().__init__(path, formats, verify)
        self._member = zlib.decompressobj(WBITS)
        self._between = True  # no gzip member has started after the last one

    def _decode(self, file: File, budget: int) -> Problem | None:
        problem = self._decompress(file, budget)
        self._ended = problem is not None or (self._between and self.offset >= file.size() > 0)
        if self._ended:
            self.offset = file.size()
        return problem

    def _decompress(self, file: File, budget: int) -> Problem | None:
        if len(self._content.data) > _CONTENT_CAP:
            message = f"a record of more than {format_bytes(RECORD_CAP)}; the rest of the file was not read"
            return Problem("error", "too-large", self._path, message, self.offset)
        data = file.read_at(self.offset, max(budget // 4, 64))
        if self._between and not data.strip(b"\0"):
            self.offset += len(data)  # padding after the last member
            return None
        try:
            self._content.data += self._member.decompress(data, budget)
        except zlib.error:
            message = "damaged compressed data; the rest of the file was not read"
            return Problem("error", "corrupt-gzip", self._path, message, self.offset)
        self._between = self._between and not data
        self.offset += len(data) - len(self._member.unconsumed_tail) - len(self._member.unused_data)
        if self._member.eof:
            self._member, self._between = zlib.decompressobj(WBITS), True
        return None

    def _truncated(self) -> tuple[Problem, ...]:
        message = "the compressed data are truncated; complete records were read"
        return (Problem("warning", "torn-tail", self._path, message, self.offset),)

    def _inner_format(self) -> Format | None:
        content = self._content
        if content.size() < HEAD and not self._ended:
            return None
        form = _format_of_content(self._path, content.read_at(0, HEAD), self._formats)
        if form is None:
            content.drop_before(content.size())
        return form


def gzipped(formats: Sequence[Format]) -> Format:
    """Any of the formats, compressed with gzip."""

    def matches(name: str, head: bytes) -> bool:
        """By the name without its ending and by the first decompressed bytes."""
        if not name.endswith(".gz"):
            return False
        content = decompressed_head(head) if head.startswith(GZIP) else b""
        return (bool(content) or not head) and _format_of_content(name, content, formats) is not None

    return Format("gzip", matches, lambda path, verify: _GzipReader(path, formats, verify))


def utf16(formats: Sequence[Format]) -> Format:
    """Any of these text formats in UTF-16."""

    def matches(name: str, head: bytes) -> bool:
        """By the byte order mark, and by name and text."""
        if not _MARK.match(head):
            return False
        text = head[: len(head) & ~1].decode("utf-16", "replace").encode("utf-8", "replace")
        return _format_of_content(name, text, formats) is not None

    return Format("utf-16", matches, lambda path, verify: _EncodedReader(path, formats, verify))


def _format_of_content(path: str, head: bytes, formats: Sequence[Format]) -> Format | None:
    """The format of the content of a file whose decoded bytes start with `head`."""
    inner = path.rpartition("/")[2].removesuffix(".gz")
    inner = rotated_from(inner) or inner
    return next((form for form in formats if form.matches(inner, head)), None)

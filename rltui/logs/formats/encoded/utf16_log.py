"""Text logs in UTF-16, as Windows PowerShell's `>` writes a console: any other format, read as UTF-8."""

from __future__ import annotations

import codecs
from collections.abc import Sequence

from rltui.common.regex import regex
from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.formats.encoded.gzip_log import HeldContent, inner_format
from rltui.logs.formats.interface import BLOCK, HEAD, File, Format, LogReader

_MARK = regex(rb"\xff\xfe[^\0]\0|\xfe\xff\0[^\0]")  # a byte order mark and an ASCII character


class Utf16Reader:
    """Reads one log. `offset` counts bytes of the file; what is decoded of a torn line is held."""

    def __init__(self, path: str, formats: Sequence[Format]) -> None:
        self.offset = 0
        self._path, self._formats = path, formats
        self._content = HeldContent(path)
        self._decoder = codecs.getincrementaldecoder("utf-16")("replace")
        self._inner: LogReader | None = None

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Decode on."""
        data = file.read_at(self.offset, max(budget, 1))
        self._content.held += self._decoder.decode(data).encode("utf-8", "replace")
        self.offset += len(data)
        if self._inner is None:
            head = self._content.read_at(0, HEAD)
            form = inner_format(self._path.rpartition("/")[2], head, self._formats)
            form = form or _console(self._formats)
            if not data or form is None:
                return EMPTY
            self._inner = form.open(self._path)
        batches = []
        while True:
            before = self._inner.offset
            batches.append(self._inner.read(self._content, budget))
            if self._inner.offset == before:
                break
            self._content.drop_before(self._inner.offset)
        return concat(batches)

    def newest(self, file: File, length: int) -> Batch:
        """Nothing: text is decoded from its beginning."""
        return EMPTY

    def finish(self, file: File) -> Batch:
        """Read to the end."""
        batches = []
        while self.offset < file.size():
            batches.append(self.read(file))
        if self._inner is not None:
            batches.append(self._inner.finish(self._content))
        return concat(batches)

    def close(self) -> None:
        """Let go of what was collected."""
        if self._inner is not None:
            self._inner.close()


def utf16(formats: Sequence[Format]) -> Format:
    """Any of these formats of text in UTF-16."""

    def matches(name: str, head: bytes) -> bool:
        """By the mark at the beginning, and by name and text like any other."""
        if not _MARK.match(head):
            return False
        text = head[: len(head) & ~1].decode("utf-16", "replace").encode("utf-8", "replace")
        return inner_format(name, text, formats) is not None

    return Format("utf-16", matches, lambda path, _: Utf16Reader(path, formats))


def _console(formats: Sequence[Format]) -> Format | None:
    """The format of a console whose first metrics line stands far from its beginning."""
    return next((form for form in formats if form.name == "console"), None)

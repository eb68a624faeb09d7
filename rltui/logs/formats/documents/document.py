"""Documents: files that are written at once and replaced by their continuation.

A document is read completely after each change, and only its new records are delivered. An incomplete
document is not read, except by `finish`, which reads the complete records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rltui.common.problem import Problem
from rltui.logs.batch import EMPTY, Batch, concat
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File, ReadFromStart
from rltui.logs.records.record_batcher import RecordBatcher

Records = list[dict[str, object]]
Parts = dict[str, Records]  # by name; each part grows independently of the others


class DocumentReader(ReadFromStart):
    """Reads one document.

    parse: returns the records of a document and its planned steps, if known. Raises ValueError or
    RecursionError if it is incomplete. parse_truncated: returns the complete records of a truncated document.
    """

    def __init__(
        self,
        path: str,
        parse: Callable[[bytes], tuple[Parts, int | None]],
        parse_truncated: Callable[[bytes], Records] = lambda _: [],
    ) -> None:
        self._path = path
        self._parse = parse
        self._parse_truncated = parse_truncated
        self._records = RecordBatcher(path)
        self.offset = 0  # the size when it was last read completely
        self._delivered: dict[str, int] = {}  # records delivered of each part
        self._reported_too_large = False

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Read the document if it is complete. It cannot be read in parts, so `budget` does not apply."""
        size = file.size()
        if size <= self.offset:
            return EMPTY
        if size > RECORD_CAP:
            return self._report_too_large(size)
        data = file.read_at(0, size)
        try:
            found, total = self._parse(data)
        except (ValueError, RecursionError):
            return EMPTY
        self.offset = len(data)
        return self._deliver(found, total)

    def finish(self, file: File) -> Batch:
        """Read the complete records of a truncated document."""
        batch = self.read(file)
        size = file.size()
        if size <= self.offset or size > RECORD_CAP:
            self._records.add_held()
            return concat([batch, self._records.batch()])
        data = file.read_at(0, size)
        found = self._parse_truncated(data)
        delivered = self._deliver({"": found}, None, final=True)
        message = f"the document is cut or damaged; {len(found):,} complete records of it were read"
        problem = Problem("warning", "torn-tail", self._path, message)
        return replace(delivered, problems=(*delivered.problems, problem))

    def _deliver(self, found: Parts, total: int | None, *, final: bool = False) -> Batch:
        if total is not None:
            self._records.plan(total)
        for part, records in found.items():
            delivered = self._delivered.get(part, 0)
            for record in records[delivered:]:
                self._records.add(record)
            self._delivered[part] = max(delivered, len(records))
        if final:
            self._records.add_held()
        return self._records.batch()

    def _report_too_large(self, size: int) -> Batch:
        if self._reported_too_large:
            return EMPTY
        self._reported_too_large = True
        message = f"a document of {size:,} bytes is more than is read at once"
        return Batch(problems=(Problem("error", "too-large", self._path, message),))

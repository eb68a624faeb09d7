"""JSON documents: `trainer_state.json` with its `log_history`, arrays of records, pretty-printed objects.

A document is written whole and replaced by its continuation, so it is read whole whenever it changed,
and only the records that are new since then are delivered. While it is incomplete nothing is taken, until
`finish` takes the records that are complete.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace

import orjson

from rltui.batch import EMPTY, Batch, Text
from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.interface import BLOCK, RECORD_CAP, File, Format
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of
from rltui.logs.records.record_batcher import RecordBatcher
from rltui.problem import Problem

_DECODER = json.JSONDecoder()
_BETWEEN = " \t\r\n\0\ufeff,"
_HISTORY = re.compile(r'"log_history"\s*:\s*\[')


class JsonDocumentReader:
    """One document being read."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._records = RecordBatcher(path)
        self._offset = 0
        self._delivered = 0  # records delivered
        self._planned_steps: int | None = None
        self._reported: set[str] = set()

    @property
    def offset(self) -> int:
        """Bytes that are done with: the size at the last complete reading."""
        return self._offset

    def read(self, file: File, budget: int = BLOCK) -> Batch:
        """Read the document when it is complete. A part of it says nothing, so the budget does not apply."""
        size = file.size()
        if size <= self._offset:
            return EMPTY
        if size > RECORD_CAP:
            return self._problem("too-large", f"a document of {size:,} bytes is more than is read at once")
        data = file.read_at(0, size)
        try:
            found, total = _parse(data)
        except (ValueError, RecursionError):
            return EMPTY
        self._offset = len(data)
        return self._deliver(found, total)

    def newest(self, file: File, length: int) -> Batch:
        """Nothing: a document has no meaning without its beginning, and is read at once anyway."""
        return Batch(tags=self._records.tags.names)

    def finish(self, file: File) -> Batch:
        """Take the complete records of a document that was cut."""
        batch = self.read(file)
        size = file.size()
        if size <= self._offset or size > RECORD_CAP:
            return batch
        data = file.read_at(0, size)
        found = _complete_records(data.decode("utf-8", "replace"))
        delivered = self._deliver(found, None)
        message = f"the document is cut or damaged; {len(found):,} complete records of it were read"
        problem = Problem("warning", "torn-tail", self._path, message)
        return replace(delivered, problems=(*delivered.problems, problem))

    def close(self) -> None:
        """Let go of what was collected."""
        self._records.batch()

    def _deliver(self, found: list[dict[str, object]], total: int | None) -> Batch:
        texts = []
        for record in found[self._delivered :]:
            self._records.add(record)
        self._delivered = max(self._delivered, len(found))
        if total is not None and total != self._planned_steps:
            self._planned_steps = total
            texts.append(Text("max_steps", 0, math.nan, "total-steps", str(total)))
        batch = self._records.batch()
        return replace(batch, texts=(*batch.texts, *texts)) if texts else batch

    def _problem(self, code: str, message: str) -> Batch:
        if code in self._reported:
            return EMPTY
        self._reported.add(code)
        return Batch(problems=(Problem("error", code, self._path, message),))


def _parse(data: bytes) -> tuple[list[dict[str, object]], int | None]:
    """Records of a complete document and the planned number of steps. Raises ValueError, RecursionError."""
    try:
        whole = orjson.loads(data)
    except ValueError:
        text = data.decode("utf-8", "replace").strip(_BETWEEN)
        try:
            whole = json.loads(text)
        except ValueError:
            found, end = _objects(text, 0)
            if not found or text[end:].strip(_BETWEEN):
                raise
            return found, None
    if isinstance(whole, list):
        return [record for record in whole if isinstance(record, dict)], None
    if not isinstance(whole, dict):
        return [], None
    history = whole.get("log_history")
    if isinstance(history, list):
        total = step_of(whole.get("max_steps"))
        records = [record for record in history if isinstance(record, dict)]
        return records, total if total is not None and total > 0 else None
    return [whole], None


def _objects(text: str, place: int) -> tuple[list[dict[str, object]], int]:
    """Whole objects from a place on, one after another, and where they end."""
    found: list[dict[str, object]] = []
    while True:
        while place < len(text) and text[place] in _BETWEEN:
            place += 1
        if text[place : place + 1] != "{":
            return found, place
        try:
            record, place = _DECODER.raw_decode(text, place)
        except (ValueError, RecursionError):
            return found, place
        found.append(record)


def _complete_records(text: str) -> list[dict[str, object]]:
    """The complete records of a document that was cut."""
    text = text.lstrip(_BETWEEN)
    if history := _HISTORY.search(text, 0, 1 << 16):
        return _objects(text, history.end())[0]
    return _objects(text, 1 if text.startswith("[") else 0)[0]


def _matches(name: str, head: bytes) -> bool:
    """`trainer_state.json`, or JSON over several lines whose first record looks like one of a log."""
    if not log_file_names.is_json(name):
        return False
    if not head:
        return True
    text = head.decode("utf-8", "replace").lstrip(_BETWEEN)
    if name == "trainer_state.json" or _HISTORY.search(text):
        return text.startswith("{")
    if not re.match(r'\[\s*\{\s*"|\{\s*\n\s*"', text):
        return False
    found = _complete_records(text)
    telling = log_file_names.is_telling(name)
    if found and text.startswith("{") and name.lower().endswith(".json"):
        # A single object is settings or results, unless more of its kind follow.
        return len(found) > 1 and all(record_keys.step_keys(record) for record in found[:2])
    if found:
        return log_contents.is_point(found[0], telling and not text.startswith("{"))
    return text.startswith("[") and log_contents.is_cut_point(text[1:].lstrip().encode(), telling)


FORMAT = Format("document", _matches, lambda path, _: JsonDocumentReader(path), rewrites=True)

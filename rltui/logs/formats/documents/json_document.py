"""JSON documents: `trainer_state.json` with its `log_history`, arrays of records, pretty-printed objects."""

from __future__ import annotations

import json
import re

import orjson

from rltui.logs import log_contents, log_file_names
from rltui.logs.formats.documents.document import DocumentKind, DocumentReader
from rltui.logs.formats.interface import Format
from rltui.logs.formats.jsonl import whole_objects
from rltui.logs.records import record_keys
from rltui.logs.records.parse_number import step_of

_BETWEEN = " \t\r\n\0\ufeff,"
_HISTORY = re.compile(r'"log_history"\s*:\s*\[')


def _parse(data: bytes) -> tuple[list[dict[str, object]], int | None]:
    """Records of a complete document and the planned number of steps. Raises ValueError, RecursionError."""
    try:
        whole = orjson.loads(data)
    except ValueError:
        text = data.decode("utf-8", "replace").strip(_BETWEEN)
        try:
            whole = json.loads(text)
        except ValueError:
            found, end = whole_objects(text, 0, _BETWEEN)
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


def _complete_records(text: str) -> list[dict[str, object]]:
    """The complete records of a document that was cut."""
    text = text.lstrip(_BETWEEN)
    if history := _HISTORY.search(text, 0, 1 << 16):
        return whole_objects(text, history.end(), _BETWEEN)[0]
    return whole_objects(text, 1 if text.startswith("[") else 0, _BETWEEN)[0]


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


_KIND = DocumentKind(_parse, lambda data: _complete_records(data.decode("utf-8", "replace")))
FORMAT = Format("document", _matches, lambda path, _: DocumentReader(path, _KIND), rewrites=True)

"""All formats in the order in which they are asked, and the one question: which of them is this file?"""

from __future__ import annotations

from rltui.logs.formats import console, csv_table, json_document, jsonl, samples, tfevents
from rltui.logs.formats.gzip_log import GzipFormat, UnreadableFormat
from rltui.logs.formats.interface import Format

_PLAIN: tuple[Format, ...] = (
    tfevents.FORMAT,
    json_document.FORMAT,
    samples.FORMAT,
    jsonl.FORMAT,
    csv_table.FORMAT,
    console.FORMAT,
)

FORMATS: tuple[Format, ...] = (*_PLAIN, GzipFormat(_PLAIN), UnreadableFormat(_PLAIN))


def recognise(name: str, head: bytes) -> Format | None:
    """The format of a file named `name` (base name) that starts with `head`; None when it is no log."""
    for form in FORMATS:
        if form.matches(name, head):
            return form
    return None


def could_be_log(name: str) -> bool:
    """Whether a file of that base name may be a log at all: cheap, nothing is opened."""
    return recognise(name, b"") is not None

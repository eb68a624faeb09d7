"""All formats in the order in which they are asked, and the one question: which of them is this file?"""

from __future__ import annotations

from importlib import import_module

from rltui.logs import jsonl
from rltui.logs.base import Format


def _formats() -> tuple[Format, ...]:
    found: list[Format] = []
    for name in ("tfevents", "document", "samples"):
        try:
            found.append(import_module(f"rltui.logs.{name}").FORMAT)
        except (ImportError, AttributeError):
            continue
    return (*found, jsonl.FORMAT)


FORMATS = _formats()


def recognise(name: str, head: bytes) -> Format | None:
    """The format of a file named `name` (base name) that starts with `head`; None when it is no log."""
    return next((form for form in FORMATS if form.matches(name, head)), None)


def could_be_log(name: str) -> bool:
    """Whether a file of that base name may be a log at all: cheap, nothing is opened."""
    return recognise(name, b"") is not None

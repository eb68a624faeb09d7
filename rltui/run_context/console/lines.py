"""The lines of a console for display: progress bars and repeats collapsed, tracebacks folded, cleaned."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

from rltui.common.display_text import clean
from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.line_items import ANSI
from rltui.logs.records.parse_number import iso_time
from rltui.run_context.console.failures import console_facts

LineLevel = Literal["", "warning", "error"]
Bar = tuple[str, int, int]  # of a progress bar: name, done, total
MAX_CHARACTERS = 2000  # of one line that are kept
MAX_BYTES = 64 << 10  # of one line that are read: a progress bar may rewrite a line of megabytes
_BAR = regex(r"(?P<name>[^|]{0,80}?)\b\d{1,3}%\|[^|]*\|\s*(?P<done>\d{1,15})/(?P<total>\d{1,15})\b")
TRACEBACK = "Traceback (most recent call last)"
_FRAME = '  File "'
_MARKS = regex(r"\s+[~^]+")  # below the code of a frame, of which Ray may leave out all but these


@dataclass(frozen=True, slots=True)
class ConsoleLine:
    """One displayed line. offset, end: bytes from the start of the file."""

    text: str  # cleaned
    offset: int
    end: int
    level: LineLevel = ""
    count: int = 1  # number of equal lines, or of states of a progress bar
    folded: tuple[str, ...] = ()  # the lines of a traceback, cleaned; `text` is that of the exception
    bar: Bar | None = None


def console_lines(data: bytes, offset: int = 0) -> list[ConsoleLine]:
    """The lines of a part of a console at `offset`, collapsed and folded; the last may be incomplete.

    Never raises; undecodable bytes become U+FFFD.
    """
    return list(collapsed(_folded(_lines(data, offset))))


def body_of(text: str) -> str:
    """A line without the prefix of its writer, such as `(TaskRunner pid=12)` or `[rank3]:`."""
    match = console_facts().prefix.match(text)
    return text if match is None else text[match.end() :]


def level_of(text: str) -> LineLevel:
    """Whether a line is an error or a warning."""
    facts = console_facts()
    if any(word in text for word in facts.error_words) and (
        facts.error.search(text) or facts.error.search(body_of(text))
    ):
        return "error"
    if any(word in text for word in facts.warning_words) and facts.warning.search(text):
        return "warning"
    return ""


def bar_of(text: str) -> Bar | None:
    """The progress bar in a line; None without one."""
    match = _BAR.search(text) if "|" in text else None
    return None if match is None else (match["name"].strip(), int(match["done"]), int(match["total"]))


def wall_time_of(text: str) -> float | None:
    """The time in a line in seconds since 1970, assuming the local time zone; None without one."""
    match = console_facts().time.search(text)
    time = math.nan if match is None else iso_time(f"{match['date']}T{match['time']}")
    return time if math.isfinite(time) else None


def step_of(text: str) -> int | None:
    """The training step in a line; None without one."""
    match = console_facts().step.search(text)
    return None if match is None else int(match["step"])


def plain_text(raw: bytes) -> str:
    """One raw line as text: the last state of an overwritten line, without colours, cleaned."""
    if len(raw) > MAX_BYTES:
        raw = raw[-MAX_BYTES:]
    raw = raw.rstrip(b"\r")
    if b"\r" in raw:
        raw = next((part for part in reversed(raw.split(b"\r")) if part.strip()), b"")
    text = raw.decode("utf-8", "replace")
    if "\x1b" in text:
        text = ANSI.sub("", text)
    if "\t" in text:
        text = text.expandtabs(8)
    return clean(text.rstrip(), MAX_CHARACTERS)


def _lines(data: bytes, offset: int) -> Iterator[ConsoleLine]:
    at = 0
    while at < len(data):
        end = data.find(b"\n", at)
        end = len(data) if end < 0 else end + 1
        raw = data[max(at, end - MAX_BYTES) : end].rstrip(b"\n")
        text = plain_text(raw)
        states = max(raw.rstrip(b"\r").count(b"\r") + (not raw.startswith(b"\r")), 1)
        bar = bar_of(text)
        yield ConsoleLine(
            text, offset + at, offset + end, level_of(text), 1 if bar is None else states, bar=bar
        )
        at = end


def _folded(lines: Iterator[ConsoleLine]) -> Iterator[ConsoleLine]:
    """Each traceback as the line of its exception."""
    held: list[ConsoleLine] = []
    exception = ""
    for line in lines:
        body = body_of(line.text)
        if exception and not body.startswith(_FRAME) and not _MARKS.fullmatch(body):
            yield _fold(held, exception)
            held, exception = [], ""
        if not held:
            if TRACEBACK in line.text:
                held = [line]
            else:
                yield line
            continue
        held.append(line)
        # Frames and their code are indented; the first line that is not is the exception. Ray continues with
        # the frames of the remote worker and ends with the exception that was raised there.
        exception = body if body and not body[0].isspace() and TRACEBACK not in body else ""
        if len(held) > 500:
            yield from held
            held, exception = [], ""
    yield from held if len(held) < 2 else [_fold(held, exception or TRACEBACK)]


def _fold(held: list[ConsoleLine], text: str) -> ConsoleLine:
    lines = tuple(line.text for line in held)
    return ConsoleLine(text, held[0].offset, held[-1].end, "error", folded=lines)


def collapsed(lines: Iterable[ConsoleLine]) -> Iterator[ConsoleLine]:
    """Merge the states of a progress bar, and equal lines, into one line with their number."""
    last: ConsoleLine | None = None
    for line in lines:
        if last is not None and _are_alike(last, line):
            last = replace(line, offset=last.offset, count=last.count + line.count)
            continue
        if last is not None:
            yield last
        last = line
    if last is not None:
        yield last


def _are_alike(one: ConsoleLine, other: ConsoleLine) -> bool:
    if one.bar is not None and other.bar is not None:
        return one.bar[0] == other.bar[0] and one.bar[2] == other.bar[2]
    return one.text == other.text and one.folded == other.folded

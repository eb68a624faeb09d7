"""What the end of a console tells of failures: which, where, and whether the training went on after them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools
from rltui.common.data_class import dataclass
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.trainer_lines import TrainerLines
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.failures import EVERYTHING, Failure, console_facts
from rltui.run_context.console.lines import ConsoleLine, body_of, console_lines, plain_text, wall_time_of

TAIL = 2 << 20  # bytes of a console's end that are scanned
MOST_CHECKED = 200  # lines per word of a failure, the last ones
LAST, LAST_LINES = 64 << 10, 60  # bytes and lines of a console's end in which the last error is looked for
CONTEXT = 16 << 10  # bytes before a failure in which a wall time is looked for
_STEP_LINE = regex(r"\s*step:\d+ - \S+:")  # of veRL's console logger
GOES_ON = 2  # rows of metrics, or states of a progress bar, after which a failure did not end the training


@dataclass(frozen=True, slots=True)
class FoundFailure:
    """A known failure in a console. `line` is None while the lines before it are not counted."""

    failure: Failure
    path: str  # of the console, relative to LOGDIR, cleaned
    offset: int
    text: str  # the line, cleaned; of a traceback the exception's
    line: int | None = None
    wall_time: float | None = None  # seconds since 1970
    over: bool = False  # the training went on after it


class ConsoleReport(NamedTuple):
    """What the last `TAIL` bytes of a console tell."""

    place: str  # of the console, as the system spells it
    path: str  # relative to LOGDIR, cleaned
    modified: float  # seconds since 1970
    size: int
    failures: tuple[FoundFailure, ...] = ()  # in the order of their lines; those explained by others left out
    before_training: bool = False  # it is of a training, and fails before any metrics
    last_error: str = ""  # the last line that is an error, after which the training did not go on; cleaned
    last_line: str = ""  # the last one that is not empty, cleaned; empty where that is one of metrics


def scan(file: ConsoleFile) -> ConsoleReport:
    """Look for failures in the end of a console. Raises OSError."""
    begin, data = file.tail(TAIL)
    found = unexplained(find_failures(data, begin, file.path))
    if found:
        while not file.index():
            if file.size > 256 << 20:
                break  # seconds of reading for a line number: the place is said in bytes
        found = [replace(each, line=file.line_number(each.offset)) for each in found]
    early = bool(found) and begin == 0 and _is_before_training(data)
    lines = console_lines(data[-LAST:])
    last_error = found[-1].text if found else _last_error(lines)
    last_line = next((line.text for line in reversed(lines) if line.text.strip()), "")
    if _is_metrics(last_line, TrainerLines()):
        last_line = ""
    return ConsoleReport(
        file.place, file.path, file.modified, file.size, tuple(found), early, last_error, last_line
    )


def _is_before_training(data: bytes) -> bool:
    """Whether a whole console is that of a training and holds no line of metrics."""
    if console_facts().training.search(data.decode("utf-8", "replace")) is None:
        return False
    trainer = TrainerLines()
    return not any(_is_metrics(line.text, trainer) for line in console_lines(data))


def _last_error(lines: Sequence[ConsoleLine]) -> str:
    """The last line of an error in the end of a console; empty where metrics or other pages follow it."""
    trainer = TrainerLines()
    for line in reversed(lines[-LAST_LINES:]):
        if line.level == "error" and not line.folded:
            return line.text
        if line.folded or _is_metrics(line.text, trainer):
            return ""
    return ""


def find_failures(data: bytes, offset: int = 0, path: str = "") -> list[FoundFailure]:
    """The failures that a piece of a console tells of, each at its first line since the training went on.

    offset: where the piece begins in its file.
    """
    found: list[FoundFailure] = []
    pairs = _pairs(data)
    if not any(pairs[own].all() and word in data for word, own in _all_words().items()):
        return found
    progress = _last_progress(data)
    for failure in console_facts().failure:
        hits = [hit for hit in _hits(data, failure) if not failure.general or hit[0] >= progress]
        if not hits:
            continue
        last = [hit for hit in hits if hit[0] >= progress]
        # The line of an exception says more than the line of code that raised it.
        at, text = next((hit for hit in last or hits if hit[1][:1].strip()), (last or hits)[0])
        if failure.general:
            at = hits[-1][0]
            ended = _exception_at(data, at)
            if ended is None:
                continue
            text = ended
        wall = _wall_time(data, at)
        found.append(FoundFailure(failure, path, offset + at, text, wall_time=wall, over=not last))
    return sorted(found, key=lambda each: each.offset)


def unexplained(found: Sequence[FoundFailure]) -> list[FoundFailure]:
    """Failures without those that another one of the same end explains."""
    ids = {each.failure.id for each in found if not each.over}
    kept = []
    for each in found:
        others = ids - {each.failure.id}
        causes = others if EVERYTHING in each.failure.caused_by else others & each.failure.caused_by
        if not causes:
            kept.append(each)
    return kept


@cache
def _all_words() -> dict[bytes, NDArray[np.intp]]:
    """Each word of a failure and the numbers of its pairs of bytes."""
    words = [word.encode() for failure in console_facts().failure for word in failure.words]
    return {word: np.flatnonzero(_pairs(word)) for word in words}


def _pairs(data: bytes) -> Bools:
    """Which pairs of bytes follow each other in a piece of a console, bool of 65,536 by 256 * first + second.

    Few words of failures consist of pairs that a console has: 2 MB are searched for all in 10, not 50 ms.
    """
    found = np.zeros(1 << 16, np.bool_)
    for start in range(0, len(data), 1 << 18):  # so much at a time that it stays in the processor's cache
        codes = np.frombuffer(data[start : start + (1 << 18) + 1], np.uint8)
        found[codes[:-1].astype(np.uint16) << 8 | codes[1:]] = True
    return found


def _hits(data: bytes, failure: Failure) -> list[tuple[int, str]]:
    """Places of lines, and the lines, that match a failure, in their order: the last few of each word."""
    places: dict[int, str] = {}
    for word in failure.words:
        needle, end = word.encode(), len(data)
        for _ in range(MOST_CHECKED):
            hit = data.rfind(needle, 0, end)
            if hit < 0:
                break
            first = max(data.rfind(b"\n", 0, hit), data.rfind(b"\r", 0, hit)) + 1
            last = data.find(b"\n", hit)
            raw = data[first : last if last >= 0 else None]
            text = plain_text(raw.split(b"\r", 1)[0] if b"\r" in raw.rstrip(b"\r") else raw)
            if failure.found(text) or failure.found(body_of(text)):
                places[first] = text
            end = first
            if end <= 0:
                break
    return sorted(places.items())


def _last_progress(data: bytes) -> int:
    """Where the training was last seen to go on: the `GOES_ON`th last row of metrics or state of a bar.

    A bar is often printed once more, unchanged, when its program dies.
    """
    trainer, rows = TrainerLines(), []
    bars: dict[tuple[str, int], int] = {}
    for line in _states(data):
        if line.bar is not None:
            name, done, total = line.bar
            if done > bars.get((name, total), 0) and (name, total) in bars:
                rows.append(line.offset)
            bars[name, total] = max(done, bars.get((name, total), 0))
        elif _is_metrics(line.text, trainer):
            rows.append(line.offset)
    return rows[-GOES_ON] if len(rows) >= GOES_ON else 0


def _is_metrics(text: str, trainer: TrainerLines) -> bool:
    return _STEP_LINE.match(body_of(text)) is not None or any(True for _ in trainer.feed(text))


def _states(data: bytes) -> Iterator[ConsoleLine]:
    """Lines one by one, of a line that was overwritten each of its states."""
    at = 0
    for part in re.split(rb"[\r\n]", data):
        if part.strip():
            yield from console_lines(part, at)
        at += len(part) + 1


def _exception_at(data: bytes, offset: int) -> str | None:
    """The exception of the traceback at a place, if the program ended with it; None otherwise.

    What follows it may be words of launchers and other ranks, but no page of an ordinary console.
    """
    lines = console_lines(data[offset:], offset)
    if not lines or not lines[0].folded or len(lines) > 60:
        return None
    body = body_of(lines[0].text)
    match = console_facts().exception.match(body)
    if match is None or match["name"].rpartition(".")[2] in ("KeyboardInterrupt", "SystemExit"):
        return None
    return lines[0].text


def _wall_time(data: bytes, offset: int) -> float | None:
    """The wall time that the line at a place says, else the nearest line before it."""
    end = data.find(b"\n", offset)
    text = plain_text(data[offset : end if end >= 0 else None])
    wall = wall_time_of(text)
    if wall is None:
        before = data[max(offset - CONTEXT, 0) : offset].split(b"\n")
        walls = (wall_time_of(plain_text(raw)) for raw in reversed(before))
        wall = next((each for each in walls if each is not None), None)
    return wall

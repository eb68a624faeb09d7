"""Searches the end of a console for known failures, and whether the training continued after them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from rltui.common.arrays import Bools
from rltui.common.named_tuple import NamedTuple
from rltui.common.regex import regex
from rltui.logs.formats.printed_metrics.trainer_lines import TrainerLines
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.failures import EVERYTHING, Failure, console_facts
from rltui.run_context.console.lines import (
    ConsoleLine,
    bar_of,
    body_of,
    console_lines,
    plain_text,
    wall_time_of,
)
from rltui.run_context.console.traceback_frames import Frame, innermost_frame

TAIL = 2 << 20  # bytes of a console's end that are scanned
MAX_CHECKED = 200  # lines per word of a failure, the last ones
END, END_LINES = 64 << 10, 60  # bytes and lines at the end that are searched for the last error
# Bytes whose lines are counted; of more that would take seconds, and the offset is reported instead.
MAX_COUNTED = 256 << 20
CONTEXT = 16 << 10  # bytes before a failure that are searched for a wall time
_STEP_LINE = regex(r"\s*step:\d+ - \S+:")  # of veRL's console logger
_LABELLED = regex(r"\w[\s\]\)'\"]*[:=]\s*-?\d")
_INTERRUPT = "KeyboardInterrupt"
ROWS_AFTER = 2  # rows of metrics, or states of a progress bar, after which the training had continued


class FoundFailure(NamedTuple):
    """A known failure in a console. line: its number; None in consoles that are too large to count lines."""

    failure: Failure
    path: str  # of the console, relative to LOGDIR, cleaned
    offset: int
    text: str  # the line, cleaned; for a traceback that of the exception
    line: int | None = None
    wall_time: float | None = None  # seconds since 1970
    over: bool = False  # the training continued after it
    frame: Frame | None = None  # of a traceback: the innermost one of the program's own code


class ConsoleReport(NamedTuple):
    """What was found in the last `TAIL` bytes of a console."""

    place: str  # absolute path
    path: str  # relative to LOGDIR, cleaned
    modified: float  # seconds since 1970
    size: int
    failures: tuple[FoundFailure, ...] = ()  # in order, without those that are caused by others
    before_training: bool = False  # the console of a training that failed before any metrics
    last_error: str = ""  # the last line of an error after which the training did not continue; cleaned
    last_line: str = ""  # the last line that is not empty, cleaned; empty if it is one of metrics
    exception: bool = False  # the program ended with an exception, maybe that of a known failure
    end: tuple[str, ...] = ()  # its last lines, cleaned, if it failed before any metrics
    interrupted: bool = False  # it ended with Ctrl-C, or another SIGINT, and no failure
    full_bar: int | None = None  # steps of a progress bar that is full, if its last line is one


def scan(file: ConsoleFile) -> ConsoleReport:
    """Search the end of a console for failures. Raises OSError."""
    begin, data = file.tail(TAIL)
    failures = find_failures(data, begin, file.path)
    exception = any(each.failure.general for each in failures)
    found = without_consequences(failures)
    if found:
        while not file.index():
            if file.size > MAX_COUNTED:
                break
        found = [each._replace(line=file.line_number(each.offset)) for each in found]
    early = bool(found) and begin == 0 and _is_before_training(data)
    lines = console_lines(data[-END:])
    interrupted = all(each.over for each in found) and _is_interrupted(lines)
    last_error = found[-1].text if found else _last_error(lines)
    last = next((line for line in reversed(lines) if line.text.strip()), None)
    last_line = "" if last is None else last.text
    if _is_metrics(last_line, TrainerLines()):
        last_line = ""
    return ConsoleReport(
        file.place,
        file.path,
        file.modified,
        file.size,
        tuple(found),
        early,
        last_error,
        last_line,
        exception,
        tuple(each for line in lines for each in line.folded or (line.text,))[-END_LINES:] if early else (),
        interrupted,
        None if last is None else _full_bar(last),
    )


def _full_bar(line: ConsoleLine) -> int | None:
    """The steps of a line that is a full progress bar, not one of an epoch, an evaluation or a file."""
    if line.bar is None:
        return None
    name, done, total = line.bar
    return total if done == total and not console_facts().other_bars.search(name) else None


def _is_before_training(data: bytes) -> bool:
    """Whether a complete console is that of a training and has no line of metrics."""
    if console_facts().training.search(data.decode("utf-8", "replace")) is None:
        return False
    trainer = TrainerLines()
    return not any(_is_metrics(line.text, trainer) for line in console_lines(data))


def _last_error(lines: Sequence[ConsoleLine]) -> str:
    """The last line of an error at the end of a console; empty if metrics or other tracebacks follow."""
    trainer = TrainerLines()
    for line in reversed(lines[-END_LINES:]):
        if line.level == "error" and not line.folded:
            return line.text
        if line.folded or _is_metrics(line.text, trainer):
            return ""
    return ""


def _is_interrupted(lines: Sequence[ConsoleLine]) -> bool:
    """Whether a console ends with KeyboardInterrupt, after which at most launchers and trackers printed."""
    trainer = TrainerLines()
    for line in reversed(lines[-END_LINES:]):
        if line.folded and _exception_name(line.text) == _INTERRUPT:
            return True
        more = len(_LABELLED.findall(line.text)) > 1  # of a console that is the log of its run
        if line.folded or more or _is_metrics(line.text, trainer):
            return False
    return False


def find_failures(data: bytes, offset: int = 0, path: str = "") -> list[FoundFailure]:
    """The failures in a part of a console, each at its first line since the training last continued.

    offset: of the part in its file.
    """
    found: list[FoundFailure] = []
    bigrams = _bigrams(data)
    if not any(bigrams[own].all() and word in data for word, own in _bigrams_of_words().items()):
        return found
    progress = _last_progress(data)
    for failure in console_facts().failure:
        hits = [hit for hit in _hits(data, failure) if not failure.general or hit[0] >= progress]
        if not hits:
            continue
        last = [hit for hit in hits if hit[0] >= progress]
        # The line of an exception is more specific than the line of code that raised it.
        frame = None
        at, text = next((hit for hit in last or hits if hit[1][:1].strip()), (last or hits)[0])
        if failure.general:
            at = hits[-1][0]
            exception = _exception_at(data, at)
            if exception is None:
                continue
            text, frame = exception.text, innermost_frame(exception.folded)
        wall = _wall_time(data, at)
        found.append(
            FoundFailure(failure, path, offset + at, text, wall_time=wall, over=not last, frame=frame)
        )
    return sorted(found, key=lambda each: each.offset)


def without_consequences(found: Sequence[FoundFailure]) -> list[FoundFailure]:
    """Failures without those that are caused by another one."""
    ids = {each.failure.id for each in found if not each.over}
    kept = []
    for each in found:
        others = ids - {each.failure.id}
        causes = others if EVERYTHING in each.failure.caused_by else others & each.failure.caused_by
        if not causes:
            kept.append(each)
    return kept


@cache
def _bigrams_of_words() -> dict[bytes, NDArray[np.intp]]:
    """The words of all failures, each with the codes of its bigrams."""
    words = [word.encode() for failure in console_facts().failure for word in failure.words]
    return {word: np.flatnonzero(_bigrams(word)) for word in words}


def _bigrams(data: bytes) -> Bools:
    """The bigrams in a part of a console, bool (65536,) indexed by 256 * first byte + second byte.

    A console has all bigrams of few words of failures: 2 MB are searched for all words in 10 instead of 50
    ms.
    """
    found = np.zeros(1 << 16, np.bool_)
    for start in range(0, len(data), 1 << 18):  # fits into the processor's cache
        codes = np.frombuffer(data[start : start + (1 << 18) + 1], np.uint8)
        found[codes[:-1].astype(np.uint16) << 8 | codes[1:]] = True
    return found


def _hits(data: bytes, failure: Failure) -> list[tuple[int, str]]:
    """Offsets and texts of lines that match a failure, in order: the last few for each word."""
    places: dict[int, str] = {}
    for word in failure.words:
        needle, end = word.encode(), len(data)
        for _ in range(MAX_CHECKED):
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
    """Where the training last continued: the `ROWS_AFTER`th last row of metrics or state of a bar.

    A progress bar is often printed again, unchanged, when its program ends.
    """
    trainer, rows, offset = TrainerLines(), [], 0
    bars: dict[tuple[str, int], int] = {}
    for part in re.split(rb"[\r\n]", data):  # lines, and states of lines that were overwritten
        text = plain_text(part)
        if (bar := bar_of(text)) is not None:
            name, done, total = bar
            if done > bars.get((name, total), 0) and (name, total) in bars:
                rows.append(offset)
            bars[name, total] = max(done, bars.get((name, total), 0))
        elif text and _is_metrics(text, trainer):
            rows.append(offset)
        offset += len(part) + 1
    return rows[-ROWS_AFTER] if len(rows) >= ROWS_AFTER else 0


def _is_metrics(text: str, trainer: TrainerLines) -> bool:
    return _STEP_LINE.match(body_of(text)) is not None or any(True for _ in trainer.feed(text))


def _exception_at(data: bytes, offset: int) -> ConsoleLine | None:
    """The line of the exception of the traceback at an offset, if the program ended with it; None otherwise.

    Messages of launchers and other ranks may follow, but not many lines.
    """
    lines = console_lines(data[offset:], offset)
    if not lines or not lines[0].folded or len(lines) > END_LINES:
        return None
    return None if _exception_name(lines[0].text) in ("", _INTERRUPT, "SystemExit") else lines[0]


def _exception_name(text: str) -> str:
    """The name of the exception in the last line of a traceback, without its modules; empty without one."""
    match = console_facts().exception.match(body_of(text))
    return "" if match is None else match["name"].rpartition(".")[2]


def _wall_time(data: bytes, offset: int) -> float | None:
    """The wall time in the line at an offset, else in the nearest line before it."""
    end = data.find(b"\n", offset)
    text = plain_text(data[offset : end if end >= 0 else None])
    wall = wall_time_of(text)
    if wall is None:
        before = data[max(offset - CONTEXT, 0) : offset].split(b"\n")
        walls = (wall_time_of(plain_text(raw)) for raw in reversed(before))
        wall = next((each for each in walls if each is not None), None)
    return wall

"""Finds the line of a time or step in a console, by the wall times or steps in its lines, which rise."""

from __future__ import annotations

from collections.abc import Callable

from rltui.common.named_tuple import NamedTuple
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.lines import ConsoleLine, console_lines, step_of, wall_time_of

SPAN = 64 << 10  # bytes that are read line by line at the end of the search
AHEAD = 1 << 20  # bytes after an offset that are searched for a line with a time or step


class TimeAndStep(NamedTuple):
    """A wall time in seconds since 1970 and a step, if known. total: the planned number of steps."""

    wall_time: float | None = None
    step: int | None = None
    total: int | None = None


def time_and_step_of(line: ConsoleLine, total: int | None = None) -> TimeAndStep:
    """The time and step of a line. A progress bar counts steps if its total is that of the run."""
    texts = (line.text, *line.folded)
    wall = next((wall for text in texts if (wall := wall_time_of(text)) is not None), None)
    step = step_of(line.text)
    if step is None and line.bar is not None and total is not None and line.bar[2] == total:
        step = line.bar[1]
    return TimeAndStep(wall, step, total)


def offset_at(file: ConsoleFile, wanted: TimeAndStep) -> int | None:
    """The offset of the last line at or before that, by its wall time, else by its step.

    None for a console whose lines have neither. Raises OSError.
    """
    offset = None
    if wanted.wall_time is not None:
        offset = _last_until(file, wanted.wall_time, lambda of_line: of_line.wall_time, wanted.total)
    if offset is None and wanted.step is not None:
        offset = _last_until(file, wanted.step, lambda of_line: of_line.step, wanted.total)
    return offset


def _last_until(
    file: ConsoleFile, wanted: float, read: Callable[[TimeAndStep], float | None], total: int | None
) -> int | None:
    """The offset of the last line with a value up to `wanted`, by bisection: values are assumed to rise."""
    low, high = 0, file.size
    known = False
    while high - low > SPAN:
        center = (low + high) // 2
        first = _first_after(file, center, min(high, center + AHEAD), read, total)
        known |= first is not None
        if first is None or first[1] > wanted:
            high = center
        else:
            low = first[0] + 1  # never the same line again
    begin = max(low - 1, 0)
    best = None
    for line in file.after(file.line_around(begin)[0] if begin else 0, 10_000):
        if line.offset > high + SPAN:
            break
        value = read(time_and_step_of(line, total))
        if value is None:
            continue
        known = True
        if value > wanted:
            break
        best = line.offset
    return best if best is not None or not known else begin


def _first_after(
    file: ConsoleFile, begin: int, end: int, read: Callable[[TimeAndStep], float | None], total: int | None
) -> tuple[int, float] | None:
    """Offset and value of the first line with a value between two offsets."""
    at = begin
    while at < end:
        data = file.read(at, min(at + SPAN, end))
        cut = data.find(b"\n") + 1 if at == begin else 0
        last = data.rfind(b"\n") + 1 or len(data)
        for line in console_lines(data[cut:last], at + cut):
            value = read(time_and_step_of(line, total))
            if value is not None:
                return line.offset, value
        at += last
    return None

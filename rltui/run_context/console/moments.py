"""Where in a console a moment is: by the wall times or the steps that its lines say, which rise."""

from __future__ import annotations

from collections.abc import Callable

from rltui.common.named_tuple import NamedTuple
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.lines import ConsoleLine, console_lines, step_of, wall_time_of

SPAN = 64 << 10  # bytes that are read line by line at the end of the search
AHEAD = 1 << 20  # bytes behind a place in which a line that says a moment is looked for


class Moment(NamedTuple):
    """A wall time in seconds since 1970 and a step, each where it is known; `total` steps are planned."""

    wall_time: float | None = None
    step: int | None = None
    total: int | None = None


def moment_of(line: ConsoleLine, total: int | None = None) -> Moment:
    """What a line says of its moment. A progress bar counts steps where its total is that of the run."""
    texts = (line.text, *line.folded)
    wall = next((wall for text in texts if (wall := wall_time_of(text)) is not None), None)
    step = step_of(line.text)
    if step is None and line.bar is not None and total is not None and line.bar[2] == total:
        step = line.bar[1]
    return Moment(wall, step, total)


def place_of(file: ConsoleFile, moment: Moment) -> int | None:
    """Where the last line at or before a moment begins, by its wall time, else by its step.

    None for a console whose lines say neither. Raises OSError.
    """
    ways: list[tuple[float, Callable[[Moment], float | None]]] = []
    if moment.wall_time is not None:
        ways.append((moment.wall_time, lambda said: said.wall_time))
    if moment.step is not None:
        ways.append((float(moment.step), lambda said: said.step))
    for wanted, read in ways:
        found = _last_until(file, wanted, read, moment.total)
        if found is not None:
            return found
    return None


def _last_until(
    file: ConsoleFile, wanted: float, read: Callable[[Moment], float | None], total: int | None
) -> int | None:
    """Bisect, as if what lines say rose through the whole file."""
    low, high = 0, file.size
    known = False
    while high - low > SPAN:
        middle = (low + high) // 2
        first = _first_behind(file, middle, min(high, middle + AHEAD), read, total)
        known |= first is not None
        if first is None or first[1] > wanted:
            high = middle
        else:
            low = first[0] + 1  # never the same place again
    begin = max(low - 1, 0)
    best = None
    for line in file.after(file.line_around(begin)[0] if begin else 0, 10_000):
        if line.offset > high + SPAN:
            break
        said = read(moment_of(line, total))
        if said is None:
            continue
        known = True
        if said > wanted:
            break
        best = line.offset
    return best if best is not None or not known else begin


def _first_behind(
    file: ConsoleFile, begin: int, end: int, read: Callable[[Moment], float | None], total: int | None
) -> tuple[int, float] | None:
    """The first line in a piece that says something, and what."""
    at = begin
    while at < end:
        data = file.read(at, min(at + SPAN, end))
        cut = data.find(b"\n") + 1 if at == begin else 0
        last = data.rfind(b"\n") + 1 or len(data)
        for line in console_lines(data[cut:last], at + cut):
            said = read(moment_of(line, total))
            if said is not None:
                return line.offset, said
        at += last
    return None

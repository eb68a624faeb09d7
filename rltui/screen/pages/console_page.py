"""The page of the console pane: failures, and the lines of one console with the selected one visible."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from itertools import accumulate

from rltui.common.display_text import cell_width, fit
from rltui.draw.cells import BLANK, Line, Span, crop, line, sides, wrap
from rltui.draw.numbers import format_bytes, format_progress
from rltui.panes.context_panes.console_pane import LINES, console_end, console_findings_of
from rltui.panes.render.console_lines import (
    LEVEL_ROLES,
    NO_CONSOLE,
    console_lines,
    failure_lines,
    fitted_frame,
    level_counts,
    line_spans,
)
from rltui.rules.finding import Finding
from rltui.run_context.console.failure_search import ConsoleReport
from rltui.run_context.console.line_window import index_at
from rltui.run_context.console.lines import ConsoleLine
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, PanePage, Spot, scrolled
from rltui.screen.state import AppState, PaneDrawn
from rltui.screen.threads.console_view_thread import ConsoleRequest, ConsoleWindow

MAX_FAILURES = 2  # above the lines; the findings pane shows all
LINE_HINTS = ("open", "filter", "next-finding", "console-level", "console-chart", "end")  # of keys for lines
TALL_ROWS = 14  # from here on failures are shown with their advice


# ---- the console shown, and what has been read of it


def reports(state: AppState) -> tuple[ConsoleReport, ...]:
    """The consoles of the run shown, by name, so that their order is stable."""
    view = shown_run.run(state)
    return () if view is None else tuple(sorted(view.consoles, key=lambda one: one.path))


def request_of(state: AppState) -> ConsoleRequest | None:
    """The request to the thread that reads the console shown; None without a console."""
    chosen = state.console
    report = next((one for one in reports(state) if one.place == chosen.place), None)
    if report is None:
        return None
    return ConsoleRequest(report.place, report.path, chosen.at, chosen.query, chosen.level, chosen.wanted)


def console_window(state: AppState) -> ConsoleWindow | None:
    """The part of the console shown that has been read."""
    request, window = request_of(state), state.threads.console.window
    return window if request is not None and window is not None and window.path == request.path else None


def lines_shown(window: ConsoleWindow, state: AppState) -> tuple[ConsoleLine, ...]:
    """The lines that can be selected: those around the selected one, or those of a level."""
    return window.levels.lines if state.console.level else window.lines


def selected_index(lines: tuple[ConsoleLine, ...], state: AppState) -> int:
    """The index of the selected line; the last one while the end is followed."""
    return len(lines) - 1 if state.console.at is None else index_at(lines, state.console.at)


def has_more(each: ConsoleLine, width: int) -> bool:
    """Whether a line is only shown in full, or with what is folded below it, once it is unfolded."""
    return bool(each.folded) or sum(cell_width(text) for text, _ in line_spans(each)) > width


# ---- the page


def console_page(state: AppState, width: int, height: int) -> Page:
    """Failures, name and size of the console, its lines."""
    view, window = shown_run.run(state), console_window(state)
    failures = console_findings_of(view) if view is not None else []
    top = _failures(failures, width, height)
    if window is None:
        looked = NO_CONSOLE if state.session.consoles_searched else "Looking for consoles."
        words = looked if view is None or not view.consoles else "reading"
        return Page([*top, line((f" {words}", "dim"))][:height])
    top.append(_title(state, window, width))
    if window.error:
        return Page([*top, line((f" {window.error}", "warn"))][:height])
    lines = lines_shown(window, state)
    if not lines:
        word = {"error": "no errors", "warning": "no errors or warnings", "": "nothing yet"}[
            state.console.level
        ]
        return Page([*top, line((f" {word}", "dim"))][:height])
    room = max(height - len(top), 1)
    page = Page(top[: height - room])
    _draw(page, state, lines, width, room)
    return page


def _failures(failures: list[Finding], width: int, height: int) -> list[Line]:
    lines: list[Line] = []
    for finding in failures[:MAX_FAILURES]:
        told = failure_lines(finding, width)
        lines += told if height >= TALL_ROWS else told[:1]
    if len(failures) > MAX_FAILURES and height >= TALL_ROWS:
        lines.append(line((f"   and {len(failures) - MAX_FAILURES} more among the findings", "dim")))
    return lines[: height // 2]


def _title(state: AppState, window: ConsoleWindow, width: int) -> Line:
    """The console's name, size, counted errors and warnings, and the position in it."""
    paths = [report.path for report in reports(state)]
    levels = window.levels
    words = _counted(levels.lines) or ("no errors or warnings" if levels.over or not levels.begin else "")
    if levels.full:
        words = f"the last {words}"
    elif words and levels.begin:
        words += f" in the last {format_bytes(window.size - levels.begin)}"
    left: list[Span] = [(f" {fit(window.path, max(width // 3, 16))}", "strong")]
    if len(paths) > 1 and window.path in paths:
        left.append((f"  {paths.index(window.path) + 1} of {len(paths)}", "accent"))
    if width >= 60:
        left.append((f"   {format_bytes(window.size)}", "dim"))
    left.append((f"   {words}", "dim"))
    right: list[Span] = []
    if state.console.level:
        right.append(
            (f"only {'errors' if state.console.level == 'error' else 'errors and warnings'}   ", "mark")
        )
    place = "following" if state.console.at is None else format_progress(_share(window, state))
    right.append((f"{place} ", "good" if state.console.at is None else "dim"))
    return sides(left, right, width, back="bar")


def _counted(lines: Sequence[ConsoleLine]) -> str:
    """`12 errors (2 tracebacks), 1 warning`, repeated lines each time; empty without any."""
    counts = Counter[str]()
    for each in lines:
        counts[each.level] += each.count
        counts["traceback"] += each.count if each.folded else 0
    words = [level_counts({level: counts[level]}) for level in ("error", "warning") if counts[level]]
    if counts["traceback"]:
        words[0] += f" ({level_counts({'traceback': counts['traceback']})})"
    return ", ".join(words)


def _share(window: ConsoleWindow, state: AppState) -> float:
    return min((state.console.at or 0) / max(window.size, 1), 1.0)


def _draw(page: Page, state: AppState, lines: tuple[ConsoleLine, ...], width: int, room: int) -> None:
    """The lines in sight."""
    at = selected_index(lines, state)
    heights = [len(_unfolded(each, width)) if each.offset in state.console.unfolded else 1 for each in lines]
    ends = list(accumulate(heights))
    starts = [end - height for end, height in zip(ends, heights, strict=True)]
    last = min(ends[at], starts[at] + room) - 1
    if state.console.at is None:
        top = max(ends[-1] - room, 0)
    else:
        top = scrolled(starts[index_at(lines, state.drawn_pane.top)], starts[at], last, ends[-1], room)
    first = next(index for index, end in enumerate(ends) if end > top)
    page.drawn = PaneDrawn(lines[first].offset, max(room - 2, 1), width=width)
    skipped = top - starts[first]
    for index in range(first, len(lines)):
        each = lines[index]
        drawn = (
            _unfolded(each, width) if each.offset in state.console.unfolded else [_line(each, state, width)]
        )
        if index == at:
            drawn[0] = Line(drawn[0].spans, "select")
        drawn = drawn[skipped:] if index == first else drawn
        drawn = drawn[:room]
        page.spots.append(Spot(0, len(page.lines), width, len(drawn), "select", str(each.offset)))
        page.lines += drawn
        room -= len(drawn)
        if room <= 0:
            return
    page.lines += [BLANK] * room


def _line(each: ConsoleLine, state: AppState, width: int) -> Line:
    """One line; a match of the search is highlighted and visible."""
    (text, role), note = line_spans(each)
    room = width - cell_width(note[0])
    wanted = state.console.query.lower()
    hit = text.lower().find(wanted) if wanted else -1
    if hit < 0:
        return line(*crop(line((text, role)), room).spans, note)
    shift = max(hit + len(wanted) - room + 2, 0)
    text, hit = ("…" + text[shift + 1 :] if shift else text), hit - shift
    spans = ((text[:hit], role), (text[hit : hit + len(wanted)], "mark"), (text[hit + len(wanted) :], role))
    return line(*crop(line(*spans), room).spans, note)


def _unfolded(each: ConsoleLine, width: int) -> list[Line]:
    """A line in full, and the lines folded below it."""
    role = LEVEL_ROLES[each.level]
    note = f"  ×{each.count:,}" if each.count > 1 else ""
    lines = [line((f" {part}", role)) for part in wrap(each.text, width - 2)] or [BLANK]
    lines[-1] = line(*lines[-1].spans, (note, "dim"))
    return lines + [crop(line((f"   {fitted_frame(text, width - 3)}", "dim")), width) for text in each.folded]


def _filtered(state: AppState) -> tuple[str, int, int]:
    """How many lines match the search so far."""
    window = console_window(state)
    return "line", 0 if window is None or window.found is None else len(window.found.lines), 0


def _text(state: AppState, width: int) -> list[Line]:
    """The lines before the selected one, of the console shown."""
    view, window, ends = shown_run.run(state), console_window(state), []
    if window is not None and window.lines:
        lines = lines_shown(window, state)
        lines = lines[: selected_index(lines, state) + 1][-LINES:] if lines else ()
        ends = [console_end(window.path, window.size, lines)]
    return [] if view is None else console_lines(view, ends, width)


def _hints(state: AppState, width: int) -> dict[str, str]:
    """Without a console no key for lines; unfolding and folding only where there is something to."""
    window = console_window(state)
    if window is None:
        return dict.fromkeys(LINE_HINTS, "")
    lines = lines_shown(window, state)
    selected = lines[selected_index(lines, state)] if lines else None
    if selected is None or not has_more(selected, width):
        return {"open": ""}
    return {"open": "fold"} if selected.offset in state.console.unfolded else {}


PAGE = PanePage(console_page, _filtered, _hints, text=_text)

"""The console pane in its forms: lines of cells, Markdown, and data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from rltui.common.display_text import cell_width, count_of
from rltui.common.markdown_text import code_in_markdown
from rltui.common.regex import regex
from rltui.draw.cells import BLANK, Line, Span, crop, cut, fill, line, wrap
from rltui.draw.numbers import format_bytes
from rltui.draw.symbols import SEVERITY_ROLE
from rltui.panes.context_panes.console_pane import ConsoleEnd, console_findings_of
from rltui.rules.finding import Finding, as_json
from rltui.run_context.console.failures import points_to_console
from rltui.run_context.console.lines import ConsoleLine, level_of
from rltui.session.run_view import RunView

MIN_PATH_CELLS = 8  # of a file in a traceback
_FRAME = regex(r'(\s*File ")([^"]+)(", line \d+.*)')
NO_CONSOLE = "No console was found next to this run's logs."
LEVEL_ROLES = {"error": "bad", "warning": "warn", "": "text"}


def console_lines(view: RunView, ends: Sequence[ConsoleEnd], width: int) -> list[Line]:
    """Findings of the job, and the last lines of each console."""
    lines: list[Line] = []
    for finding in console_findings_of(view):
        lines += failure_lines(finding, width)
    for end in ends:
        counts = level_counts(end.levels)
        lines += [BLANK, line((f" {end.path}", "strong"), (f"   {format_bytes(end.size)}, {counts}", "dim"))]
        lines += [fill(line(*line_spans(each)), width) for each in end.lines]
    if not ends:
        lines.append(line((f" {NO_CONSOLE}", "dim")))
    return lines


def fitted_frame(text: str, width: int) -> str:
    """A line of a traceback in at most `width` cells: the file's name and the number of the line stay."""
    found = _FRAME.fullmatch(text)
    if found is None or cell_width(text) <= width:
        return text
    before, path, after = found.groups()
    room = width - cell_width(before) - cell_width(after) - 1
    return f"{before}…{path[len(path) - room :]}{after}" if room >= MIN_PATH_CELLS else text


def failed_start_lines(view: RunView, width: int, most: int) -> list[Line]:
    """The end of the console of a run that failed before any metrics, in at most so many lines."""
    report = next((one for one in view.consoles if one.end), None)
    if report is None or view.run.series:
        return []
    *lines, last = [one for one in report.end if one.strip()] or [""]
    role = LEVEL_ROLES[level_of(last)]
    ending = [line((f" {part}", role)) for part in wrap(last, width - 2)]
    told = []
    for one in lines:
        role = LEVEL_ROLES[level_of(one)] if one[:1].strip() else "dim"
        told.append(crop(line((f" {fitted_frame(one, width - 1)}", role)), width))
    title = line((f" {cut(report.path, max(width - 20, 8))}", "strong"), ("   its last lines", "dim"))
    room = most - 1
    return [title, *[*told, *ending][-room:]] if room > 0 else []


def console_markdown(view: RunView, ends: Sequence[ConsoleEnd]) -> str:
    """The last lines of each console as code."""
    lines: list[str] = []
    for end in ends:
        lines += ["", code_in_markdown(end.path), ""]
        lines += [f"    {each.text}{line_note(each)}" for each in end.lines]
    return "\n".join([*lines[1:], ""])


def console_record(view: RunView, ends: Sequence[ConsoleEnd]) -> dict[str, Any]:
    """Findings of the job and the ends of the consoles for JSON, including folded lines."""
    findings = [as_json(one) for one in console_findings_of(view)]
    return {"findings": findings, "consoles": [asdict(end) for end in ends]}


def failure_lines(finding: Finding, width: int) -> list[Line]:
    """The message of a finding and its advice, unless that is to look here."""
    role = SEVERITY_ROLE[finding.severity]
    lines = [line((f" {part}", role)) for part in wrap(finding.message, width - 2)]
    advice = "" if points_to_console(finding.id) else finding.advice
    return lines + [line((f"   {part}", "dim")) for part in wrap(advice, width - 4)] if advice else lines


def level_counts(levels: dict[str, int]) -> str:
    """`1 error, 0 warnings`."""
    return ", ".join(count_of(count, word) for word, count in levels.items())


def line_spans(each: ConsoleLine) -> tuple[Span, Span]:
    """A line of a console, and a note on folded or repeated lines."""
    return (f" {each.text}", LEVEL_ROLES[each.level]), (line_note(each), "dim")


def line_note(each: ConsoleLine) -> str:
    """The numbers of folded and of repeated lines; empty for a single line."""
    repeated = f"  ×{each.count:,}" if each.count > 1 else ""
    return f"  ▸ {count_of(len(each.folded), 'line')}{repeated}" if each.folded else repeated

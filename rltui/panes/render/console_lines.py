"""The console pane as lines of cells, as Markdown, and as data for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from rltui.console.lines import ConsoleLine
from rltui.draw.cells import BLANK, Line, Span, fill, line, wrap
from rltui.draw.numbers import format_si
from rltui.draw.symbols import SEVERITY_ROLE
from rltui.panes.header import header
from rltui.panes.render.lines.header_lines import header_lines
from rltui.panes.render.markdown import as_markdown
from rltui.panes.render.plain_data import as_record
from rltui.panes.report import pane_report
from rltui.panes.special.console_pane import ConsoleEnd, console_findings_of
from rltui.rules.finding import Finding, as_json
from rltui.session.run_view import RunView
from rltui.text import code_in_markdown

LEVEL_ROLES = {"error": "bad", "warning": "warn", "": "text"}


def console_pane_lines(view: RunView, ends: Sequence[ConsoleEnd], now: float, width: int) -> list[Line]:
    """The pane with the header above it: findings of the job, the last lines of each console."""
    made = [*header_lines(header(view, now), width), line(("─" * width, "faint"))]
    for finding in console_findings_of(view):
        made += failure_lines(finding, width)
    for end in ends:
        counts = count_words(end.levels)
        made += [BLANK, line((f" {end.path}", "strong"), (f"   {format_si(end.size)}B, {counts}", "dim"))]
        made += [fill(line(*line_spans(each)), width) for each in end.lines]
    if not ends:
        made.append(line((" No console beside this run's logs.", "dim")))
    return made


def failure_lines(finding: Finding, width: int) -> list[Line]:
    """What failed, and what to do about it."""
    role = SEVERITY_ROLE[finding.severity]
    lines = [line((f" {part}", role)) for part in wrap(finding.message, width - 2)]
    return lines + [line((f"   {part}", "dim")) for part in wrap(finding.advice, width - 4)]


def count_words(levels: dict[str, int]) -> str:
    """`1 error, 0 warnings`."""
    return ", ".join(f"{count:,} {word}{'s' * (count != 1)}" for word, count in levels.items())


def line_spans(each: ConsoleLine) -> tuple[Span, Span]:
    """A line of a console, and how many lines or states it stands for."""
    return (f" {each.text}", LEVEL_ROLES[each.level]), (line_note(each), "dim")


def line_note(each: ConsoleLine) -> str:
    """What a line stands for besides itself; empty for itself alone."""
    repeated = f"  ×{each.count:,}" if each.count > 1 else ""
    return f"  ▸ {len(each.folded)} lines{repeated}" if each.folded else repeated


def console_data(view: RunView, ends: Sequence[ConsoleEnd], form: str, now: float) -> object:
    """The pane as Markdown text, or as data for programs: with the lines that are folded."""
    report = pane_report(view, "console", now)
    if form != "markdown":
        found = [as_json(one) for one in console_findings_of(view)]
        return as_record(report) | {"findings": found, "consoles": [asdict(end) for end in ends]}
    parts = [as_markdown(report).rstrip("\n")]
    for end in ends:
        parts.append(f"\n{code_in_markdown(end.path)}\n")
        parts += [f"    {each.text}{line_note(each)}" for each in end.lines]
    return "\n".join(parts) + "\n"

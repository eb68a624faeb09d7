"""The console pane of `snapshot`: the last lines of a run's consoles, collapsed and folded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from rltui.console.console_file import ConsoleFile
from rltui.console.lines import ConsoleLine
from rltui.console.run_consoles import RunConsoles
from rltui.draw.cells import BLANK, Line, fill, line, wrap
from rltui.draw.numbers import format_si
from rltui.panes.header import header
from rltui.panes.render.header_lines import header_lines
from rltui.panes.render.markdown import as_markdown
from rltui.panes.render.plain_data import as_record
from rltui.panes.report import pane_report
from rltui.rules.finding import as_json
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import code_in_markdown

LINES = 40  # shown of one console
CONSOLES = 4  # of a run, those written last
_ROLES = {"error": "critical", "warning": "warning", "": "text"}


@dataclass(frozen=True, slots=True)
class ConsoleEnd:
    """The last lines of one console."""

    path: str
    size: int  # bytes
    lines: tuple[ConsoleLine, ...]
    levels: dict[str, int]  # lines of each level among the last ones


def read_consoles(
    views: Sequence[RunView], logdirs: Sequence[str], session: Session
) -> list[list[ConsoleEnd]]:
    """The ends of the consoles of each run, those written last first."""
    files = RunConsoles(logdirs).files(session.sources())
    return [
        [end for file in files.get(view.name, ())[:CONSOLES] if (end := _end(file)) is not None]
        for view in views
    ]


def _end(file: ConsoleFile) -> ConsoleEnd | None:
    try:
        lines = tuple(file.before(file.size, LINES))
    except OSError:
        return None  # the reader of logs tells what cannot be read
    levels = Counter[str]()
    for each in lines:
        levels[each.level] += each.count if each.level else 0
    return ConsoleEnd(file.path, file.size, lines, {key: levels[key] for key in ("error", "warning")})


def console_lines_of(view: RunView, ends: Sequence[ConsoleEnd], now: float, width: int) -> list[Line]:
    """The pane as lines of cells: header, findings of the job, the last lines of each console."""
    made = [*header_lines(header(view, now), width), line(("─" * width, "faint"))]
    for finding in view.evaluator.findings():
        if finding.console is not None:
            role = _ROLES["error" if finding.rank > 1 else "warning" if finding.rank else ""]
            made += [line((f" {part}", role)) for part in wrap(finding.message, width - 2)]
            made += [line((f"   {part}", "dim")) for part in wrap(finding.advice, width - 4)]
    for end in ends:
        counts = ", ".join(f"{count} {word}{'s' * (count != 1)}" for word, count in end.levels.items())
        made += [BLANK, line((f" {end.path}", "strong"), (f"   {format_si(end.size)}B, {counts}", "dim"))]
        for each in end.lines:
            made.append(fill(line((f" {each.text}", _ROLES[each.level]), (_note(each), "dim")), width))
    if not ends:
        made.append(line((" No console beside this run's logs.", "dim")))
    return made


def _note(each: ConsoleLine) -> str:
    if each.folded:
        return f"  ▸ {len(each.folded)} lines"
    return f"  ×{each.count:,}" if each.count > 1 else ""


def console_data(view: RunView, ends: Sequence[ConsoleEnd], form: str, now: float) -> object:
    """The pane as Markdown text, or as data for programs: with the lines that are folded."""
    report = pane_report(view, "console", now)
    if form != "markdown":
        found = [as_json(one) for one in view.evaluator.findings() if one.console is not None]
        return as_record(report) | {"findings": found, "consoles": [asdict(end) for end in ends]}
    parts = [as_markdown(report).rstrip("\n")]
    for end in ends:
        parts.append(f"\n{code_in_markdown(end.path)}\n")
        parts += [f"    {each.text}{_note(each)}" for each in end.lines]
    return "\n".join(parts) + "\n"

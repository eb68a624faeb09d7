"""The console pane as data: failures found in a run's consoles, and the last lines of each console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.lines import ConsoleLine
from rltui.run_context.console.run_consoles import RunConsoles

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

LINES = 40  # of one console in printed output
CONSOLES = 4  # of a run, the most recently written ones


@dataclass(frozen=True, slots=True)
class ConsoleEnd:
    """The last lines of one console."""

    path: str
    size: int  # bytes
    lines: tuple[ConsoleLine, ...]
    levels: dict[str, int]  # count of lines by level


def console_ends(
    views: Sequence[RunView],
    logdirs: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    others: Mapping[str, Sequence[str]],
) -> list[list[ConsoleEnd]]:
    """The ends of the consoles of each run, the most recently written first.

    sources: paths of logs by run; others: the same for runs that were not selected.
    """
    files = RunConsoles(logdirs).files(sources, others)
    return [
        [end for file in files.get(view.name, ())[:CONSOLES] if (end := _end(file)) is not None]
        for view in views
    ]


def _end(file: ConsoleFile) -> ConsoleEnd | None:
    try:
        lines = tuple(file.before(file.size, LINES))
    except OSError:
        return None  # the reader of logs reports files that cannot be read
    return console_end(file.path, file.size, lines)


def console_end(path: str, size: int, lines: tuple[ConsoleLine, ...]) -> ConsoleEnd:
    """Lines, with the numbers of errors and warnings among them."""
    levels = Counter[str]()
    for each in lines:
        levels[each.level] += each.count
    return ConsoleEnd(path, size, lines, {key: levels[key] for key in ("error", "warning")})


def console_findings_of(view: RunView) -> list[Finding]:
    """Findings from the consoles of a run, the worst first."""
    return [finding for finding in view.evaluator.findings() if finding.console is not None]

"""The console pane as data: what its run's consoles tell of failures, and the last lines of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from rltui.common.data_class import dataclass
from rltui.run_context.console.console_file import ConsoleFile
from rltui.run_context.console.lines import ConsoleLine
from rltui.run_context.console.run_consoles import RunConsoles

if TYPE_CHECKING:
    from rltui.rules.finding import Finding
    from rltui.session.run_view import RunView

LINES = 40  # shown of one console without a screen
CONSOLES = 4  # of a run, those written last


@dataclass(frozen=True, slots=True)
class ConsoleEnd:
    """The last lines of one console."""

    path: str
    size: int  # bytes
    lines: tuple[ConsoleLine, ...]
    levels: dict[str, int]  # lines of each level among these lines


def console_ends(
    views: Sequence[RunView],
    logdirs: Sequence[str],
    sources: Mapping[str, Sequence[str]],
    others: Mapping[str, Sequence[str]],
) -> list[list[ConsoleEnd]]:
    """The ends of the consoles of each run, those written last first.

    sources: paths of logs by run; others: of runs that were not asked for.
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
        return None  # the reader of logs tells what cannot be read
    return console_end(file.path, file.size, lines)


def console_end(path: str, size: int, lines: tuple[ConsoleLine, ...]) -> ConsoleEnd:
    """Lines with how many of them are errors and warnings."""
    levels = Counter[str]()
    for each in lines:
        levels[each.level] += each.count if each.level else 0
    return ConsoleEnd(path, size, lines, {key: levels[key] for key in ("error", "warning")})


def console_findings_of(view: RunView) -> list[Finding]:
    """What consoles tell of failures of a run, the worst first."""
    return [finding for finding in view.evaluator.findings() if finding.console is not None]

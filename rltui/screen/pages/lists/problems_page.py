"""The table of training problems: symptom, meaning, what to check, what to do; then the glossary of terms."""

from __future__ import annotations

from functools import lru_cache

from rltui.common.display_text import fit
from rltui.draw.cells import BLANK, Line, hanging, line, wrap
from rltui.draw.numbers import format_step
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.metrics.definitions import Term, TrainingProblem, definitions
from rltui.rules.finding import Finding
from rltui.screen import shown_run
from rltui.screen.pages.lists.list_page import ListContent
from rltui.screen.state import AppState

LABEL_CELLS, NARROW_LABEL_CELLS = 11, 10  # of the labels before the text
TEXT_WIDTH = 84  # cells of running text; longer lines are hard to read


def problems_content(state: AppState, width: int) -> ListContent:
    """All problems, current ones of the run shown first; the items are metrics of the run."""
    label_cells = LABEL_CELLS if width >= 50 else NARROW_LABEL_CELLS
    width = min(width, TEXT_WIDTH)
    view = shown_run.run(state)
    findings = view.evaluator.findings() if view is not None else []
    lines: list[Line] = []
    items: list[tuple[int, str]] = []
    told = {finding.id: finding.rank for finding in findings}
    worst_first = sorted(
        definitions().problem, key=lambda one: -max((told.get(rule, -1) for rule in one.findings), default=-1)
    )
    for problem in worst_first:
        lines += _problem(problem, findings, label_cells, width)
        for label, names in (("first", problem.check_first), ("then", problem.check_next)):
            for name in names:
                tag = shown_run.tag_of(state, name)
                if tag is not None and view is not None:
                    items.append((len(lines), tag))
                    title = view.title_of(tag)
                    link = fit(f"→ {title}", width - label_cells)
                    lines.append(line((_label(label, label_cells), "dim"), (link, "accent")))
                    label = ""
        lines.append(BLANK)
    lines += _terms(definitions().term, label_cells, width)
    return ListContent(lines, items, "Problems and terms")


def _problem(problem: TrainingProblem, findings: list[Finding], label_cells: int, width: int) -> list[Line]:
    told = [finding for finding in findings if finding.id in problem.findings]
    worst = max(told, key=lambda finding: finding.rank, default=None)
    lines = [line((part, "strong")) for part in wrap(problem.title, width)]
    if worst is not None:
        glyph, role = SEVERITY_GLYPH[worst.severity], SEVERITY_ROLE[worst.severity]
        text = f"{worst.title or worst.id}, since step {format_step(worst.since_step)}"
        lines += hanging(_label(f"{glyph} now", label_cells), "dim", text, role, width)
    for label, text in (("means", problem.meaning), ("look at", problem.look), ("do", problem.do)):
        lines += hanging(_label(label, label_cells), "dim", text, "text", width)
    return lines


def _label(label: str, cells: int) -> str:
    return f"  {label:{cells - 2}}"


@lru_cache(maxsize=4)
def _terms(terms: tuple[Term, ...], label_cells: int, width: int) -> list[Line]:
    """The glossary, which no run changes, wrapped once per width."""
    lines = [line(("Terms", "strong"))]
    for term in terms:
        lines += [BLANK, *_term(term, label_cells, width)]
    return lines


def _term(term: Term, label_cells: int, width: int) -> list[Line]:
    title = term.title + (f"  ({', '.join(term.aliases[:3])})" if term.aliases else "")
    lines = [line((part, "text")) for part in wrap(title, width)]
    return lines + hanging(_label("", label_cells), "dim", term.meaning, "dim", width)

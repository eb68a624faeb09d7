"""The page of findings: each with its evidence, its advice and the metrics to check next."""

from __future__ import annotations

from rltui.common.problem import merged
from rltui.draw.cells import BLANK, Line, Span, hanging, line
from rltui.draw.symbols import LEVEL_GLYPH, LEVEL_ROLE
from rltui.panes.header import onset_age
from rltui.panes.render.lines.evidence_lines import FindingBlock, finding_block, no_findings
from rltui.rules.finding import Finding, explained
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, PanePage, Spot, scrolled
from rltui.screen.shown_pane import evidence_rows
from rltui.screen.state import SAMPLES, AppState, PaneDrawn

MAX_PROBLEMS = 20  # of the data; the others are counted
MIN_HINT_CELLS = 60  # of a screen with hints on the keys for evidence


def findings_page(state: AppState, width: int, height: int) -> Page:
    """Firing findings with their evidence, resolved ones, then problems of the data."""
    listed = shown_run.listed_findings(state)
    past = shown_run.past_findings(state)
    at = shown_run.selected_index(state, len(listed))
    causes = {one.id for one in shown_run.findings(state)}
    lead: list[list[Line]] = []
    if past is not None and not past.whole:
        lead.append(
            [line((" Old values are no longer in memory; these findings were reported then.", "mark"))]
        )
    view = shown_run.run(state)
    if view is not None and not any(one.state != "resolved" for one in listed):
        nothing = [line((" ✓ ", "good"), ("Nothing to report.", "text"))]
        lead.append(nothing if past is not None else no_findings(view, width))
    lines: list[Line] = []
    for part in lead:
        lines += [*([BLANK] if lines else []), *part]
    spots: list[Spot] = []
    first = last = 0
    over = False  # resolved findings have no blank lines between them
    for index, one in enumerate(listed):
        nested, over_before, over = one.explained_by in causes, over, one.state == "resolved"
        block, unfolds = _block(state, one, width, nested=nested, selected=index == at)
        lines += [BLANK] if lines and not nested and not (over and over_before) else []
        start = len(lines)
        if index == at:
            first, last = start, start + len(block.lines) - 1
        lines += block.lines
        spots.append(Spot(0, start, width, len(block.lines), "select-evidence", f"{index} 0"))
        spots += [
            Spot(0, start + block.first + evidence, width, 1, "select-evidence", f"{index} {evidence}")
            for evidence in range(block.evidence)
        ]
        if unfolds:
            spots.append(Spot(0, len(lines) - 1, width, 1, "unfold", str(index)))
    problems = _problems(state, width)
    if problems:
        lines += [*([BLANK] if lines else []), *problems]
    top = scrolled(state.drawn_pane.top, first, min(last, first + height - 1), len(lines), height)
    moved = [spot._replace(y=spot.y - top) for spot in spots]
    visible = [spot for spot in moved if spot.y + spot.height > 0]
    return Page(lines[top : top + height], visible, PaneDrawn(top))


def _block(
    state: AppState, finding: Finding, width: int, *, nested: bool, selected: bool
) -> tuple[FindingBlock, bool]:
    """One finding in a few lines, with evidence where it fires, is not handled and no other one explains it.

    True where the last line shows how many findings it explains.
    """
    view, resolved = shown_run.run(state), finding.state == "resolved"
    handled = ""  # acknowledged or snoozed
    if view is not None and not resolved:
        handled = state.acknowledgements.status(view.name, finding, state.options.clock())
    told = handled or resolved or nested or view is None
    rows = [] if told else evidence_rows(state, finding)
    now = state.options.clock() if not told and shown_run.past_findings(state) is None else None
    block = finding_block(
        finding, width, view=None if told else view, rows=rows, nested=nested, handled=handled,
        age="" if now is None or view is None else onset_age(view, finding, now),
        window=None if told or view is None else shown_run.window(state, view),
        selected=state.selection.evidence % len(rows) if selected and rows else -1,
    )  # fmt: skip
    lines, count = block.lines, 0
    if not told:
        lines += _hints(state, finding, width) if selected else []
        if count := len(explained(shown_run.findings(state), finding)):
            sign = "▾" if finding.id in state.selection.unfolded else "▸"
            key = state.options.keys.hint_of("unfold")
            lines.append(line((f"     explains {count} more {sign} ", "dim"), (key, "accent")))
    if selected:
        lines[0] = Line(lines[0].spans, "select")
    return block, count > 0


def _hints(state: AppState, finding: Finding, width: int) -> list[Line]:
    """The keys for the evidence of a finding."""
    if width < MIN_HINT_CELLS or not (finding.metrics or finding.console):
        return []
    keys = state.options.keys
    spans: list[Span] = [("     ", "text")]
    hints = [("open", "chart where it began"), ("next-evidence", "next evidence")]
    if finding.console is not None:
        hints = [("open", "the console at this line")]
    for action, words in hints:
        spans += [(keys.hint_of(action), "accent"), (f" {words}   ", "dim")]
    return [line(*spans)]


def _problems(state: AppState, width: int) -> list[Line]:
    view, past = shown_run.run(state), shown_run.past_findings(state)
    if view is None:
        return []
    problems = view.file_problems(state.options.clock())
    problems += view.evaluator.diagnostics() if past is None else past.diagnostics
    problems = merged([*problems, *state.session.problems.values()])
    if not problems:
        return []
    lines = [line((" About the data", "strong"))]
    for one in problems[:MAX_PROBLEMS]:
        role, glyph = LEVEL_ROLE[one.level], LEVEL_GLYPH[one.level]
        text = one.message + (f"  ({one.path})" if one.path not in ("", view.run.name) else "")
        lines += hanging(f" {glyph} ", role, text, "dim", width - 2)
    if len(problems) > MAX_PROBLEMS:
        lines.append(line((f"   and {len(problems) - MAX_PROBLEMS} more", "dim")))
    return lines


def _footer_hints(state: AppState, _width: int) -> dict[str, str]:
    there = any(tab.id == SAMPLES for tab in shown_run.tabs(state))
    return {} if there else {f"pane:{SAMPLES}": ""}


PAGE = PanePage(findings_page, hints=_footer_hints)

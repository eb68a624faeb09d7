"""The findings pane: what is wrong, since when, what it may mean, where to look next."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, Span, hanging, line
from rltui.draw.symbols import LEVEL_GLYPH, LEVEL_ROLE
from rltui.panes.render.lines.evidence_lines import finding_block
from rltui.rules.finding import Finding, explained
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, PanePage, Spot, scrolled
from rltui.screen.shown_pane import evidence_rows
from rltui.screen.state import SAMPLES, AppState, PaneDrawn


def findings_page(state: AppState, width: int, height: int) -> Page:
    """What stalls, firing findings with their evidence, resolved ones, then problems of the data."""
    listed = shown_run.listed_findings(state)
    past = shown_run.past_findings(state)
    at = shown_run.selected_index(state, len(listed))
    blocks = [_Block(state, one, width, selected=index == at) for index, one in enumerate(listed)]
    lead: list[list[Line]] = []
    if past is not None and not past.whole:
        lead.append([line((" Told as far as this moment is remembered, without values.", "mark"))])
    if not any(one.state != "resolved" for one in listed):
        lead.append([line((" ✓ ", "good"), ("Nothing to report.", "text"))])
    lines: list[Line] = []
    for part in lead:
        lines += [*([BLANK] if lines else []), *part]
    spots: list[Spot] = []
    first = last = 0
    brief = False  # what is over stands close together
    for index, block in enumerate(blocks):
        lines += [BLANK] if lines and not block.nested and not (block.brief and brief) else []
        brief = block.brief
        start = len(lines)
        if index == at:
            first, last = start, start + len(block.lines) - 1
        lines += block.lines
        spots.append(Spot(0, start, width, len(block.lines), "select-evidence", f"{index} 0"))
        spots += [
            Spot(0, start + block.first + evidence, width, 1, "select-evidence", f"{index} {evidence}")
            for evidence in range(block.evidence)
        ]
    problems = _problems(state, width)
    if problems:
        lines += [*([BLANK] if lines else []), *problems]
    top = scrolled(state.drawn_pane.top, first, min(last, first + height - 1), len(lines), height)
    moved = [spot._replace(y=spot.y - top) for spot in spots]
    visible = [spot for spot in moved if spot.y + spot.height > 0]
    return Page(lines[top : top + height], visible, PaneDrawn(top))


class _Block:
    """One finding in a few lines; `first` of its `evidence` lines of evidence."""

    def __init__(self, state: AppState, finding: Finding, width: int, *, selected: bool) -> None:
        view = shown_run.run(state)
        every = shown_run.findings(state)
        resolved = finding.state == "resolved"
        self.nested = finding.explained_by in {one.id for one in every}
        handled = ""  # acknowledged or snoozed
        if view is not None and not resolved:
            handled = state.acknowledgements.status(view.name, finding, state.options.clock())
        self.brief = resolved
        told = handled or resolved or self.nested or view is None
        rows = [] if told else evidence_rows(state, finding)
        block = finding_block(
            finding, width, view=None if told else view, rows=rows, nested=self.nested, handled=handled,
            window=None if told or view is None else shown_run.window(state, view),
            selected=state.selection.evidence % len(rows) if selected and rows else -1,
        )  # fmt: skip
        self.lines, self.first, self.evidence = block.lines, block.first, block.evidence
        if not told:
            self.lines += _hints(state, width) if selected and finding.metrics else []
            self.lines += self._consequences(state, finding, every)
        if selected:
            self.lines[0] = Line(self.lines[0].spans, "select")

    @staticmethod
    def _consequences(state: AppState, finding: Finding, every: list[Finding]) -> list[Line]:
        count = len(explained(every, finding))
        if not count:
            return []
        unfolded = finding.id in state.selection.unfolded
        words = f"     explains {count} more {'▾' if unfolded else '▸'} "
        return [line((words, "dim"), (state.options.keys.hint_of("unfold"), "accent"))]


def _hints(state: AppState, width: int) -> list[Line]:
    """The keys that lead to what a finding is about."""
    if width < 60:
        return []
    keys = state.options.keys
    spans: list[Span] = [("     ", "text")]
    for action, words in (("open", "chart where it began"), ("next-evidence", "next evidence")):
        spans += [(keys.hint_of(action), "accent"), (f" {words}   ", "dim")]
    return [line(*spans)]


def _problems(state: AppState, width: int) -> list[Line]:
    view, past = shown_run.run(state), shown_run.past_findings(state)
    if view is None:
        return []
    problems = view.file_problems(state.options.clock())
    problems += view.evaluator.diagnostics() if past is None else past.diagnostics
    problems += state.session.problems.values()
    if not problems:
        return []
    lines = [line((" About the data", "strong"))]
    for one in problems[:20]:
        role, glyph = LEVEL_ROLE[one.level], LEVEL_GLYPH[one.level]
        text = f"{one.message}" + (f"  ({one.path})" if one.path else "")
        lines += hanging(f" {glyph} ", role, text, "dim", width - 2)
    if len(problems) > 20:
        lines.append(line((f"   and {len(problems) - 20} more", "dim")))
    return lines


def _footer_hints(state: AppState) -> dict[str, str]:
    there = any(tab.id == SAMPLES for tab in shown_run.tabs(state))
    return {} if there else {f"pane:{SAMPLES}": ""}


PAGE = PanePage(findings_page, hints=_footer_hints)

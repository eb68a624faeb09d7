"""The findings pane: what is wrong, since when, what it may mean, where to look next."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, line, wrap
from rltui.draw.numbers import format_plain, format_step
from rltui.draw.symbols import LEVEL_GLYPH, LEVEL_ROLE, SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.render.pane_lines import finding_text
from rltui.rules.finding import Finding
from rltui.screen import shown
from rltui.screen.pages.page import Page, Spot, scrolled
from rltui.screen.state import AppState, PaneDrawn
from rltui.session.session import Session
from rltui.text import cell_width


def selected_finding(state: AppState, count: int) -> int:
    """The index of the selected one of so many findings."""
    at = state.selection.rows.get("findings", "0")
    return min(int(at) if at.isdigit() else 0, max(count - 1, 0))


def findings_page(session: Session, state: AppState, width: int, height: int) -> Page:
    """Firing findings, then resolved ones, then problems of the data."""
    findings, resolved = shown.findings(session, state), shown.resolved_findings(session, state)
    past = shown.past_findings(session, state)
    blocks = [finding_block(session, state, one, width) for one in [*findings, *resolved]]
    lead: list[list[Line]] = []
    if past is not None and not past.whole:
        lead.append([line((" Told as far as this moment is remembered, without values.", "mark"))])
    if not findings:
        lead.append([line((" ✓ ", "good"), ("Nothing to report.", "text"))])
    blocks = lead + blocks
    problems = _problems(session, state, width)
    if problems:
        blocks.append(problems)
    count = len(findings) + len(resolved)
    at = selected_finding(state, count)
    offset = len(lead)
    lines: list[Line] = []
    spots: list[Spot] = []
    first = last = 0
    for index, block in enumerate(blocks):
        if lines:
            lines.append(BLANK)
        start = len(lines)
        if count and index - offset == at:
            block = [Line(block[0].spans, "select"), *block[1:]]
            first, last = start, start + len(block) - 1
        lines += block
        if 0 <= index - offset < count:
            spots.append(Spot(0, start, width, len(block), "go-finding", str(index - offset)))
    top = scrolled(state.drawn_pane.top, first, min(last, first + height - 1), len(lines), height)
    moved = [Spot(s.x, s.y - top, s.width, s.height, s.action, s.argument) for s in spots]
    visible = [spot for spot in moved if spot.y + spot.height > 0]
    return Page(lines[top : top + height], visible, PaneDrawn(top))


def finding_block(session: Session, state: AppState, finding: Finding, width: int) -> list[Line]:
    """One finding in a few lines."""
    view, resolved = shown.run(session, state), finding.state == "resolved"
    handled = ""  # acknowledged or snoozed
    if view is not None and not resolved:
        handled = state.acknowledgements.status(view.name, finding, state.options.clock())
    role = "dim" if resolved or handled else SEVERITY_ROLE[finding.severity]
    glyph = "✓" if resolved else SEVERITY_GLYPH[finding.severity]
    head = wrap(finding_text(finding), width - 4)
    lines = [line((f" {glyph} " if not at else "   ", role), (part, role)) for at, part in enumerate(head)]
    if lines[-1].width + cell_width(finding.pane) + 3 <= width:
        lines[-1] = line(*lines[-1].spans, (f"   {finding.pane}", "dim"))
    if handled:
        lines[0] = line(*lines[0].spans, (f"   {handled}", "info"))
        return lines
    inner = width - 6
    if finding.title and finding.message not in ("", finding.title):
        lines += [line(("     " + part, "text")) for part in wrap(finding.message, inner)]
    for one in finding.evidence:
        before = "?" if one.before is None else format_plain(one.before)
        now = "NaN" if one.now is None else format_plain(one.now)  # a level that is none
        since = f"since step {format_step(one.since_step)}"
        lines.append(
            line(("     ", "text"), (one.tag, "dim"), (f"  {before} → {now}  ", "text"), (since, "dim"))
        )
    if not finding.evidence and finding.value is not None:
        limit = "" if finding.limit is None else f", limit {format_plain(finding.limit)}"
        keys = ", ".join(finding.metrics[:3])
        lines.append(
            line(("     ", "text"), (keys, "dim"), (f"  {format_plain(finding.value)}{limit}", "text"))
        )
    if finding.advice and not resolved:
        parts = wrap(finding.advice, inner - 2)
        lines += [
            line(("     → " if not at else "       ", "accent"), (part, "text"))
            for at, part in enumerate(parts)
        ]
    nexts = [tag for one in finding.check_next if (tag := shown.tag_of(session, state, one)) is not None]
    if nexts and not resolved:
        titles = [view.names.name(tag).title for tag in nexts[:4]] if view is not None else nexts[:4]
        lines.append(line(("     look next at  ", "dim"), (", ".join(titles), "text")))
    return lines


def _problems(session: Session, state: AppState, width: int) -> list[Line]:
    view, past = shown.run(session, state), shown.past_findings(session, state)
    if view is None:
        return []
    problems = view.file_problems(state.options.clock())
    problems += view.evaluator.diagnostics() if past is None else past.diagnostics
    problems += session.problems.values()
    if not problems:
        return []
    lines = [line((" About the data", "strong"))]
    for one in problems[:20]:
        role, glyph = LEVEL_ROLE[one.level], LEVEL_GLYPH[one.level]
        text = wrap(f"{one.message}" + (f"  ({one.path})" if one.path else ""), width - 5)
        lines += [
            line((f" {glyph} " if not at else "   ", role), (part, "dim")) for at, part in enumerate(text)
        ]
    if len(problems) > 20:
        lines.append(line((f"   and {len(problems) - 20} more", "dim")))
    return lines

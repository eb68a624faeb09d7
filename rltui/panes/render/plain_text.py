"""A pane as text without a screen, plain or with colours."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

from rltui.common.display_text import count_of
from rltui.draw.cells import BLANK, Line, line, wrap
from rltui.draw.themes import ANSI, Theme
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs
from rltui.panes.answers.pane_answers import outcome_sentence
from rltui.panes.charts.step_window import window_for
from rltui.panes.evidence import rows_of_evidence
from rltui.panes.header import onset_age
from rltui.panes.pane_report import pane_report
from rltui.panes.render.console_lines import failed_start_lines
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.lines.evidence_lines import finding_block, no_findings
from rltui.panes.render.lines.header_lines import finding_lines, header_lines
from rltui.panes.render.lines.pane_lines import pane_lines
from rltui.rules.finding import explained, unexplained

END_LINES = 20  # of the console of a run that failed before any metrics

if TYPE_CHECKING:
    from rltui.session.run_view import RunView
    from rltui.session.time_travel import PastFindings


def pane_text(
    view: RunView,
    pane: str,
    now: float,
    *,
    width: int = 100,
    at_step: int | None = None,
    then: PastFindings | None = None,
    content: Callable[[int], list[Line]] | None = None,
    inputs: AnswerInputs = NO_INPUTS,
) -> list[Line]:
    """A pane with its header as lines of cells.

    content: the lines of a pane without metrics for a width. then: the findings at `at_step`.
    """
    report = pane_report(view, pane, now, at_step, then, inputs)
    shown = report.pane
    lines = [*header_lines(report.header, width), line(("─" * width, "faint"))]
    if content is not None:
        return lines + content(width)
    if pane == "findings":
        return lines + findings_text(view, now, width, at_step, then)
    if pane == "overview":
        sentence = "" if any(one.rank for one in report.findings) else outcome_sentence(view, at_step)
        lines += [line((" " + part, "strong")) for part in wrap(sentence, width - 2) if sentence]
        lines += finding_lines(report.findings, width, 12, told=width >= 60)
    else:
        lines.append(
            line(
                (f" {shown.title}", "strong"),
                (f"   {count_of(len(shown.metrics), 'row')}", "dim"),
            )
        )
    if shown.answer is not None:
        lines += [BLANK, *answer_lines(shown.answer, width)]
        lines += [
            line((" " + part, "faint")) for one in shown.answer.formulas for part in wrap(one, width - 2)
        ]
    if pane == "overview" and not shown.metrics and (ends := failed_start_lines(view, width, END_LINES)):
        return [*lines, BLANK, *ends]
    if shown.metrics or shown.answer is None:
        lines += [BLANK, *pane_lines(shown, width)]
    if shown.notes:
        lines += [BLANK, line((" " + " · ".join(shown.notes), "dim"))]
    return lines


def findings_text(
    view: RunView,
    now: float,
    width: int,
    at_step: int | None = None,
    then: PastFindings | None = None,
) -> list[Line]:
    """All findings, symptoms with what they explain, as on the page of findings."""
    findings = view.evaluator.findings() if then is None else list(then.findings)
    history = view.evaluator.history() if then is None else list(then.history)
    window = window_for(view, now, at_step=at_step)
    nothing = [line((" ✓ ", "good"), ("Nothing to report.", "text"))]
    nothing = nothing if then is not None else no_findings(view, width)
    lines: list[Line] = [] if findings else [*nothing, BLANK]
    for finding in unexplained(findings):
        rows = rows_of_evidence(view, finding, at_step, findings)
        age = onset_age(view, finding, now) if at_step is None and then is None else ""
        lines += finding_block(finding, width, view=view, rows=rows, window=window, age=age).lines
        for one in explained(findings, finding):
            lines += finding_block(one, width, nested=True).lines
        lines.append(BLANK)
    for finding in history:
        lines += finding_block(finding, width).lines
    return lines if history else lines[:-1]


def as_text(lines: list[Line]) -> str:
    """Lines without colours and trailing blanks."""
    return "\n".join(one.text.rstrip() for one in lines) + "\n"


_STYLE = {"bold": "1", "dim": "2", "italic": "3", "underline": "4", "reverse": "7"}


def as_ansi(lines: Iterable[Line], theme: Theme) -> str:
    """Lines as text with SGR sequences: the colours of a theme, or the terminal's sixteen."""
    return "".join(_line(one, theme) + "\n" for one in lines)


def _line(one: Line, theme: Theme) -> str:
    words, before = [], ""
    for text, role in one.spans:
        codes = _codes(role, theme)
        if codes != before:
            words.append(f"\x1b[0;{codes}m" if codes else "\x1b[0m")
            before = codes
        words.append(text)
    return "".join(words).rstrip() + ("\x1b[0m" if before else "")


def _codes(role: str, theme: Theme) -> str:
    codes = [_STYLE[style] for style in sorted(theme.styles.get(role, ()))]
    color = theme.colors.get(role, "default")
    if color.startswith("#"):
        codes.append(f"38;2;{int(color[1:3], 16)};{int(color[3:5], 16)};{int(color[5:7], 16)}")
    elif color in ANSI:
        number = ANSI.index(color)
        codes.append(str(30 + number if number < 8 else 90 + number - 8))
    return ";".join(codes)

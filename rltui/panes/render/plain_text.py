"""A pane as plain text that reads well pasted into a chat: who, when, rows, warnings, 100 columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, line, wrap
from rltui.draw.numbers import format_step
from rltui.draw.sparkline import Glyphs
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.logs.samples.model import RunSamples
from rltui.panes.answers.beside import NOTHING, Beside
from rltui.panes.charts.attempt_history import history_lines
from rltui.panes.evidence import evidence_of
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.lines.header_lines import finding_lines, header_lines
from rltui.panes.render.lines.hparams_lines import hparams_lines
from rltui.panes.render.lines.pane_lines import finding_text, pane_lines
from rltui.panes.render.lines.samples_lines import Summaries, samples_lines
from rltui.panes.report import pane_report
from rltui.panes.special.hparams_pane import HParamsPane, columns_of, hparams_pane
from rltui.panes.special.samples_pane import SamplesPane, samples_pane
from rltui.text import fit

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
    glyphs: Glyphs = "blocks",
    hparams: HParamsPane | None = None,
    samples: tuple[SamplesPane, Summaries] | None = None,
    beside: Beside = NOTHING,
) -> list[Line]:
    """A pane with its header as lines of cells, as many as needed.

    `beside` is what files beside the logs say; `hparams` and `samples` are for the panes `config` and
    `samples`; `then` is what was wrong at `at_step`, for a run that has gone on since.
    """
    report = pane_report(view, pane, now, at_step, then, beside)
    shown = report.pane
    lines = [*header_lines(report.header, width), line(("─" * width, "faint"))]
    if pane == "config":
        hparams = hparams or hparams_pane(columns_of(view), history=history_lines(view))
        return lines + hparams_lines(hparams, width)
    if pane == "samples":
        return lines + samples_lines(*(samples or (samples_pane(RunSamples(), None), {})), width)
    if pane == "findings":
        return lines + findings_text(view, width, then)
    if pane == "overview":
        lines += finding_lines(report.findings, width, 12) if shown.rows or report.findings else []
    else:
        lines.append(
            line(
                (f" {shown.title}", "strong"),
                (f"   {len(shown.metrics)} row{'s' * (len(shown.metrics) != 1)}", "dim"),
            )
        )
    if shown.answer is not None:
        lines += [BLANK, *answer_lines(shown.answer, width, glyphs=glyphs)]
        lines += [
            line((" " + part, "faint")) for one in shown.answer.formulas for part in wrap(one, width - 2)
        ]
    if shown.metrics or shown.answer is None:
        lines += [BLANK, *pane_lines(shown, width, glyphs)]
    if shown.notes:
        lines += [BLANK, line((" " + " · ".join(shown.notes), "dim"))]
    return lines


def findings_text(view: RunView, width: int, then: PastFindings | None = None) -> list[Line]:
    """All findings with what to do about them."""
    lines: list[Line] = []
    findings, history = (
        (view.evaluator.findings(), view.evaluator.history())
        if then is None
        else (then.findings, then.history)
    )
    if not findings:
        lines.append(line((" ✓ ", "good"), ("nothing to report", "text")))
    for finding in findings:
        said = f" {SEVERITY_GLYPH[finding.severity]} {finding_text(finding)}"
        lines.append(line((said, SEVERITY_ROLE[finding.severity]), (f"   {finding.pane}", "dim")))
        for text in (finding.message, finding.advice):
            lines += [line(("     " + part, "text")) for part in wrap(text, width - 6)]
        evidence = [one.text for one in evidence_of(view, finding)]
        for text in evidence or [", ".join(finding.metrics[:4])]:
            lines.append(line(("     " + fit(text, width - 6), "dim")))
        lines.append(BLANK)
    for finding in history:
        until = "" if finding.resolved_step is None else f" to {format_step(finding.resolved_step)}"
        words = (
            f" ✓ {finding.title or finding.message} · step {format_step(finding.since_step)}{until}, resolved"
        )
        lines.append(line((words, "dim")))
    return lines


def as_text(lines: list[Line]) -> str:
    """Lines without colours, trailing blanks cut, one newline at the end."""
    return "\n".join(one.text.rstrip() for one in lines) + "\n"

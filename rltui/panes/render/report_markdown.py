"""A report of runs as Markdown: for an issue, a pull request, a wiki."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rltui.common.markdown_text import code_in_markdown, in_markdown, markdown_table
from rltui.draw.numbers import format_step
from rltui.draw.symbols import HEALTH_GLYPH, SEVERITY_GLYPH
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.render.markdown import sparkline_and_range, title_cells
from rltui.panes.run_report import ReportedFinding, RunReport
from rltui.panes.runs.run_columns import best_text
from rltui.run_context.hparams.known_hparams import KEY

MAX_PROBLEMS = 20


def reports_markdown(reports: Sequence[RunReport]) -> str:
    """Reports below each other."""
    return "\n".join("\n".join(_report(report)) + "\n" for report in reports)


def _report(report: RunReport) -> Iterator[str]:
    head = report.header
    yield f"# {in_markdown(head.shown_name)}"
    yield ""
    yield " · ".join(map(in_markdown, head.facts))
    yield ""
    yield f"{HEALTH_GLYPH.get(head.health, '?')} **{head.health}**: {in_markdown(head.sentence)}"
    if report.achieved:
        yield ""
        yield in_markdown(report.achieved)
    for one in report.findings:
        yield ""
        yield from _finding(one, report.window)
    if report.rows:
        yield ""
        yield "## Key metrics"
        yield ""
        rows = (
            title_cells(
                row.title,
                row.tag,
                row.value_text,
                best_text(outcome),
                sparkline_and_range(row, report.window)[0],
            )
            for row, outcome in zip(report.rows, report.outcomes, strict=True)
        )
        yield from markdown_table(("metric", "key", "last", "best", "over the run"), rows, (2,))
    key_rows = [row for row in report.hparams_pane.hparams if row.topic == KEY and row.first is not None]
    if key_rows:
        yield ""
        yield "## Settings"
        yield ""
        values = ((one.key, one.first.text if one.first is not None else "") for one in key_rows)
        yield from markdown_table(("setting", "value"), (list(map(code_in_markdown, one)) for one in values))
        others = len(report.hparams_pane.hparams) - len(key_rows)
        if others:
            yield ""
            yield f"and {others} more; `rltui snapshot --pane config` prints all"
    if report.problems:
        yield ""
        yield "## Files and data"
        yield ""
        for problem in report.problems[:MAX_PROBLEMS]:
            yield f"- {problem.level}: {in_markdown(problem.text)}"
        if len(report.problems) > MAX_PROBLEMS:
            yield f"- and {len(report.problems) - MAX_PROBLEMS} more"


def _finding(one: ReportedFinding, window: StepWindow) -> Iterator[str]:
    finding = one.finding
    yield f"## {SEVERITY_GLYPH[finding.severity]} {in_markdown(finding.title or finding.id)}, {finding.since}"
    yield ""
    yield in_markdown(finding.message)
    if finding.advice:
        yield ""
        yield f"**What to do:** {in_markdown(finding.advice)}"
    if one.evidence:
        yield ""
        rows = []
        for item in one.evidence:
            drawn = "" if item.row is None else sparkline_and_range(item.row, window)[0]
            name = f"{in_markdown(item.title)} {code_in_markdown(item.tag)}"
            rows.append((name, format_step(item.since_step), in_markdown(item.change), drawn))
        yield from markdown_table(("evidence", "since step", "course", "over the run"), rows, (1,))
    if one.explains:
        yield ""
        yield f"It explains: {in_markdown(', '.join(one.explains))}."
    if one.look_next:
        yield ""
        yield f"Look next at {', '.join(map(code_in_markdown, one.look_next))}."

"""A pane as Markdown for GitHub and Slack: headings, tables, findings with their onset."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from rltui.common.markdown_text import code_in_markdown, in_markdown, markdown_table
from rltui.draw.numbers import format_range, format_seconds, format_share, format_step, format_value
from rltui.draw.symbols import SEVERITY_GLYPH
from rltui.panes.answers.answer import Answer, Band, Gantt, Ridge
from rltui.panes.charts.curve import curve
from rltui.panes.charts.step_window import StepWindow
from rltui.panes.pane import PaneView
from rltui.panes.pane_report import PaneReport
from rltui.panes.render.lines.answer_lines import per_token_text, phase_times
from rltui.panes.rows.row import Row

if TYPE_CHECKING:
    from rltui.rules.finding import Finding

COLUMNS = 24  # cells of a sparkline in a table


def as_markdown(report: PaneReport) -> str:
    """The header as a heading and a line, findings as a list, rows as a table."""
    head, shown = report.header, report.pane
    out = [
        f"### {in_markdown(head.shown_name)}: {shown.title}",
        "",
        " · ".join(map(in_markdown, head.facts)),
        "",
        f"**{head.health}**: {in_markdown(head.sentence)}",
        "",
    ]
    out += _findings(report.findings)
    if shown.answer is not None:
        out += _answer(shown.answer)
    if shown.metrics or not report.findings:
        out += _table(shown)
    if shown.notes:
        out += ["", *(f"*{in_markdown(note)}*" for note in shown.notes)]
    return "\n".join(out) + "\n"


def _answer(answer: Answer) -> list[str]:
    """The sentence, the facts, tables of shares, phases and ranges, and how values were derived."""
    out = [f"**{in_markdown(answer.sentence)}**", ""]
    for fact in (one for one in answer.facts if not one.in_sentence):
        text = f"{fact.words} {fact.trend()}".rstrip()
        out.append(f"- {in_markdown(text)}{' (derived)' if fact.formula else ''}")
    if answer.shares:
        shares = ", ".join(f"{share.title} {format_share(share.share)}" for share in answer.shares)
        out.append(f"- {in_markdown(f'share of {answer.shares_of}: {shares}')}")
    charts = [(one.title, one.text) for one in answer.ranges]
    charts += [(one.title, one.text) for one in answer.strips]
    charts += [(one.title, f"{_band_text(one)} ({one.words})") for one in answer.bands]
    charts += [(one.title, f"{_ridge_text(one)} ({one.source})") for one in answer.ridges]
    charts += [(answer.gantt.title, _gantt_text(answer.gantt))] if answer.gantt is not None else []
    out += [f"- {in_markdown(f'{title}: {text}')}" for title, text in charts]
    rows: list[list[str]] = []
    for part in answer.parts:
        share = format_share(part.share) if part.share is not None else part.note
        cells = (*phase_times(part), share, per_token_text(part))
        rows.append(title_cells("\u2003" * part.depth + part.title, part.tag, *cells))
    if rows:
        heads: Sequence[str] = ("phase", "key", "median", "p95", "share", "per token")
        out += ["", *markdown_table(heads, rows, range(2, 6))]
    if answer.devices is not None:
        heads = ("GPU", *answer.devices.columns, "")
        rows = [
            [in_markdown(text) for text in (one.title, *(cell.text for cell in one.cells), one.note)]
            for one in answer.devices.devices
        ]
        out += ["", *markdown_table(heads, rows, range(1, len(heads) - 1))]
    if answer.amounts:
        title, amount = map(in_markdown, answer.amounts_words)
        rows = [
            title_cells(
                one.title, one.tag, one.note if one.share is None else format_share(one.share), one.text
            )
            for one in answer.amounts
        ]
        out += ["", *markdown_table((title, "key", "share", amount), rows, (2, 3))]
    out += ["", *(f"*{in_markdown(text)}*  " for text in (*answer.notes, *answer.formulas)), ""]
    return out


def _band_text(band: Band) -> str:
    """The last known ends and mean of a band: `24 … 118 … 256`."""
    ends = (next((v for v in reversed(one) if v == v), None) for one in (band.low, band.middle, band.high))
    return " … ".join(format_value(value, band.unit) for value in ends if value is not None)


def _gantt_text(chart: Gantt) -> str:
    """The begin of the first and the end of the last span of each name: `train 1.5 s to 9.0 s`."""
    return ", ".join(
        f"{row.title} {format_seconds(row.spans[0][0])} to {format_seconds(row.spans[-1][1])}"
        for row in chart.rows
    )


def _ridge_text(ridge: Ridge) -> str:
    """The extremes of a ridge: `0 … 1.2 over 6 stretches of steps`."""
    low, high = format_range(ridge.low, ridge.high, ridge.unit)
    return f"{low} … {high} over {len(ridge.rows)} stretches of steps"


def _findings(findings: Iterable[Finding]) -> list[str]:
    lines = []
    for finding in findings:
        glyph = SEVERITY_GLYPH[finding.severity]
        title = in_markdown(finding.title or finding.id)
        lines.append(f"- {glyph} **{title}** {finding.since}: {in_markdown(finding.message)}")
        for item in sorted(finding.evidence, key=lambda item: item.since_step):
            since = f"since step {format_step(item.since_step)}"
            lines.append(f"  - {code_in_markdown(item.name)} {in_markdown(item.course())}, {since}")
        if finding.advice:
            lines.append(f"  - {in_markdown(finding.advice)}")
    return [*lines, ""] if lines else []


def _table(shown: PaneView) -> list[str]:
    if not shown.metrics:
        return [shown.empty] if shown.empty else []
    heads = ("metric", "key", "last", "change", "over the window", "range", "warning")
    return markdown_table(heads, (_row(row, shown) for row in shown.rows), (2, 3))


def title_cells(title: str, tag: str, *others: str) -> list[str]:
    """The cells of a row that has a title, a key, which is set as code, and other texts."""
    return [in_markdown(title), code_in_markdown(tag) if tag else "", *map(in_markdown, others)]


def _row(row: Row, shown: PaneView) -> list[str]:
    if row.kind == "heading":
        return [f"**{in_markdown(row.title)}**", *[""] * 6]
    spark, ends = sparkline_and_range(row, shown.window)
    span = "" if ends is None else " … ".join(format_value(end, row.unit) for end in ends)
    warning = ""
    if row.finding is not None:
        warning = f"{SEVERITY_GLYPH[row.severity]} {row.finding.title or row.finding.id}, {row.finding.since}"
    return title_cells(row.title, row.tag, row.value_text, row.change_text, spark, span, warning)


def sparkline_and_range(row: Row, window: StepWindow) -> tuple[str, tuple[float, float] | None]:
    """The curve of a row in one line, and its finite extremes; ("", None) without points."""
    drawn = curve(row, window, COLUMNS)
    return ("", None) if drawn is None else (drawn.spark().text.rstrip(), drawn.range)

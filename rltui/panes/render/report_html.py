"""A report of runs as one HTML file with charts; without scripts and references, all text escaped."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape

from rltui.draw.chart_svg import pictures_svg
from rltui.draw.numbers import format_step
from rltui.draw.symbols import HEALTH_GLYPH, SEVERITY_GLYPH
from rltui.draw.themes import Theme
from rltui.panes.charts.chart_picture import chart_picture
from rltui.panes.rows.row import Row
from rltui.panes.run_report import ReportedFinding, RunReport
from rltui.panes.runs.run_columns import best_text
from rltui.run_context.hparams.known_hparams import KEY

MAX_CHARTS = 4  # of one finding
CHART, SMALL = (720, 260), (360, 220)  # pixels
MAX_PROBLEMS = 50

_STYLE = """
body{font:15px/1.5 system-ui,sans-serif;max-width:760px;margin:2em auto;padding:0 1em}
body{color:#20242c;background:#fff}
h1{font-size:1.4em;overflow-wrap:anywhere}h2{font-size:1.15em;margin-top:2em}
table{border-collapse:collapse;margin:.8em 0;width:100%}
td,th{border-bottom:1px solid #ddd;padding:.25em .6em;text-align:left;vertical-align:top}
td{overflow-wrap:anywhere}
.n{text-align:right;white-space:nowrap}code{font-size:.9em}.dim{color:#5b6270}
.critical{color:#a91d2c}.warning{color:#7a4c00}.ok{color:#1d6331}.info,.unjudged{color:#0a5f70}
.verdict{font-size:1.1em;border-left:5px solid;padding-left:.7em}
svg{max-width:100%;height:auto;display:block;margin:.6em 0}
.grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(330px,1fr));gap:0 1em}
"""


def reports_html(reports: Sequence[RunReport], theme: Theme) -> str:
    """The document; its content security policy forbids loading and scripts."""
    title = reports[0].header.shown_name if len(reports) == 1 else f"{len(reports)} runs"
    policy = "default-src 'none'; style-src 'unsafe-inline'"
    lines = [
        "<!DOCTYPE html>",
        '<html lang="en"><head><meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head><body>",
    ]
    for report in reports:
        lines += _report(report, theme)
    return "\n".join([*lines, "</body></html>", ""])


def _report(report: RunReport, theme: Theme) -> Iterator[str]:
    head = report.header
    yield f"<h1>{escape(head.shown_name)}</h1>"
    yield f'<p class="dim">{escape(" · ".join(head.facts))}</p>'
    glyph = HEALTH_GLYPH.get(head.health, "?")
    sentence = f"{glyph} <b>{escape(head.health)}</b>: {escape(head.sentence)}"
    yield f'<p class="verdict {escape(head.health)}">{sentence}</p>'
    if report.achieved:
        yield f"<p>{escape(report.achieved)}</p>"
    for one in report.findings:
        yield from _finding(one, report, theme)
    if report.rows:
        yield "<h2>Key metrics</h2>"
        yield from _table(
            ("metric", "key", "last", "best"),
            [
                (escape(row.title), f"<code>{escape(row.tag)}</code>", escape(row.value_text),
                 escape(best_text(outcome)))
                for row, outcome in zip(report.rows, report.outcomes, strict=True)
            ],
        )  # fmt: skip
        yield '<div class="grid">'
        yield from (_chart(row, report, theme, SMALL) for row in report.rows)
        yield "</div>"
    yield from _hparams(report)
    if report.problems:
        yield "<h2>Files and data</h2><ul>"
        for problem in report.problems[:MAX_PROBLEMS]:
            yield f"<li>{escape(f'{problem.level}: {problem.text}')}</li>"
        if len(report.problems) > MAX_PROBLEMS:
            yield f"<li>and {len(report.problems) - MAX_PROBLEMS} more</li>"
        yield "</ul>"


def _finding(one: ReportedFinding, report: RunReport, theme: Theme) -> Iterator[str]:
    finding = one.finding
    title = f"{SEVERITY_GLYPH[finding.severity]} {finding.title or finding.id}"
    yield f'<h2 class="{finding.severity}">{escape(title)} <small>{finding.since}</small></h2>'
    yield f"<p>{escape(finding.message)}</p>"
    if finding.advice:
        yield f"<p><b>What to do:</b> {escape(finding.advice)}</p>"
    if one.evidence:
        yield from _table(
            ("evidence", "key", "since step", "course"),
            [
                (escape(item.title), f"<code>{escape(item.tag)}</code>", format_step(item.since_step),
                 escape(item.change))
                for item in one.evidence
            ],
        )  # fmt: skip
    rows = [item.row for item in one.evidence if item.row is not None]
    yield from (_chart(row, report, theme, CHART) for row in rows[:MAX_CHARTS])
    if len(rows) > MAX_CHARTS:
        yield f'<p class="dim">{len(rows) - MAX_CHARTS} more of them are not drawn.</p>'
    if one.explains:
        yield f"<p>It explains: {escape(', '.join(one.explains))}.</p>"
    if one.look_next:
        keys = ", ".join(f"<code>{escape(key)}</code>" for key in one.look_next)
        yield f"<p>Look next at {keys}.</p>"


def _chart(row: Row, report: RunReport, theme: Theme, size: tuple[int, int]) -> str:
    sisters = report.sisters.get(row.tag, ())
    picture = chart_picture(row, report.header.shown_name, report.window, sisters=sisters)
    return "" if picture is None else pictures_svg([picture], theme, *size)


def _hparams(report: RunReport) -> Iterator[str]:
    key: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for row in report.hparams_pane.hparams:
        if row.first is not None:
            cells = f"<code>{escape(row.key)}</code>", escape(row.first.text)
            (key if row.topic == KEY else others).append(cells)
    if key or others:
        yield "<h2>Settings</h2>"
        yield from _table(("setting", "value"), key)
    if others:
        yield f"<details><summary>{len(others)} more</summary>"
        yield from _table(("setting", "value"), others)
        yield "</details>"


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    """A table of escaped cells; nothing without rows."""
    if rows:
        yield "<table><tr>" + "".join(f"<th>{head}</th>" for head in heads) + "</tr>"
        yield from ("<tr>" + "".join(f"<td>{cell}</td>" for cell in row) + "</tr>" for row in rows)
        yield "</table>"

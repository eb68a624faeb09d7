"""The explanation of a metric: meaning, healthy range, what to check next; and a hyperparameter in full."""

from __future__ import annotations

import math

from rltui.common.display_text import count_of, fit
from rltui.draw.cells import BLANK, Line, cut, hanging, line, wrap
from rltui.draw.numbers import format_limits, format_step, format_value
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.charts.healthy_range import healthy_range_of
from rltui.panes.explanations import explained_entry_of_name
from rltui.panes.render.lines.hparams_lines import labels
from rltui.panes.render.lines.pane_lines import finding_text
from rltui.panes.render.sample_view import wrapped
from rltui.panes.rows.row import Row
from rltui.screen import shown_run
from rltui.screen.pages.hparams_page import hparams
from rltui.screen.pages.lists.list_page import ListContent
from rltui.screen.state import AppState

LABEL_CELLS, NARROW_LABEL_CELLS = 14, 11  # of the labels before the text
LABEL_ROLES = {"healthy": "good", "watch for": "warn"}
HIDDEN_LABELS = ("check next", "written as", "sources")  # drawn otherwise, or only in `rltui explain`
TEXT_WIDTH = 84  # cells of running text; longer lines are hard to read
HPARAM_WIDTH = 92  # cells of the value of a setting


def explanation(state: AppState, row: Row, width: int) -> ListContent:
    """The glossary entry of a row; its items are links to related metrics."""
    label_cells = LABEL_CELLS if width >= 50 else NARROW_LABEL_CELLS
    width = min(width, TEXT_WIDTH)
    name = row.name
    metric = name.metric if name is not None else None
    lines: list[Line] = [line((fit(tag, width), "dim")) for tag in row.tags[:6]]
    if row.equals:
        lines.append(line((fit("these keys have equal values", width), "faint")))
    if name is not None:
        origin = name.framework or "unknown framework"
        origin += f" → {name.canonical}" if name.canonical else ""
        origin += "  (a guess from its name)" if name.guessed and name.canonical else ""
        lines.append(line((fit(origin, width), "faint" if not name.guessed else "dim")))
    lines.append(BLANK)
    for finding in row.findings:
        glyph, role = SEVERITY_GLYPH[finding.severity], SEVERITY_ROLE[finding.severity]
        text = f"{finding_text(finding)}. {finding.message}"
        lines += hanging(f"{glyph} ", role, text, role, width)
        if finding.advice:
            lines += hanging("→ ", "accent", finding.advice, "text", width)
        lines.append(BLANK)
    parts = [("meaning", "No glossary entry knows this key. It is shown as it was logged.")]
    entry = explained_entry_of_name(name, state.session.config) if name is not None else None
    if entry is not None:
        parts = [("meaning", entry.metric.meaning)]
        for label, text in entry.parts():
            parts.append((label, text))
            if label == "healthy" and (own := _beside_healthy_range(row)):
                parts.append(("this run", own))
    heading = ""
    for label, text in parts:
        heading = label or heading
        if heading not in HIDDEN_LABELS:
            lines += hanging(f"{label:{label_cells}}", "dim", text, LABEL_ROLES.get(heading, "text"), width)
    lines.append(BLANK)
    for label, text in _facts(row):
        value = fit(text, width - label_cells) if label != "possible" else text
        lines.append(line((f"{label:{label_cells}}", "dim"), (value, "text")))
    items = _links(state, row, lines, width)
    if metric is not None and metric.sources:
        lines.append(BLANK)
        lines += [line((part, "faint")) for part in wrap("from " + "; ".join(metric.sources), width)]
    return ListContent(lines, items, row.title)


def _beside_healthy_range(row: Row) -> str:
    """`0.947, within the healthy range (0.8 to 1)`; empty where that is not known."""
    healthy, last = healthy_range_of(row), row.last
    if healthy is None or last is None or not math.isfinite(last) or row.unreported:
        return ""
    where = "within" if healthy[0] <= last <= healthy[1] else "outside"
    return f"{format_value(last, row.unit).strip()}, {where} the healthy range ({format_limits(*healthy)})"


def _links(state: AppState, row: Row, lines: list[Line], width: int) -> list[tuple[int, str]]:
    """Add links to the metrics to check next that the run has; returns line and tag of each."""
    metric, view = row.name.metric if row.name is not None else None, shown_run.run(state)
    links = metric.check_next if metric is not None else ()
    found = [tag for one in links if (tag := shown_run.tag_of(state, one)) is not None]
    if found:
        lines += [BLANK, line(("look next at", "strong"))]
    items = []
    for tag in found:
        title = view.title_of(tag) if view is not None else tag
        items.append((len(lines), tag))
        lines.append(line(("  → ", "accent"), (fit(title, 30), "text"), (f"  {fit(tag, width - 40)}", "dim")))
    return items


def _facts(row: Row) -> list[tuple[str, str]]:
    """Facts about the logged values."""
    main = row.main
    if main is None or not main.count:
        return []
    newest = row.last
    compared = row.against is not None and newest is not None
    facts = [("last", format_value(newest, row.unit) if compared and newest is not None else row.value_text)]
    first, last, at_step, counted = main.first_step, main.last_step, row.at_step, row.counted
    if counted is not None:
        facts.append(("points", f"{counted[0]:,}"))
    if first is not None and last is not None:
        last = last if at_step is None else min(last, at_step)
        facts.append(("steps", f"{format_step(first)} – {format_step(last)}"))
    if counted is not None and counted[1]:
        facts.append(("NaN or Inf", f"{counted[1]:,}"))
    if main.superseded and (at_step is None or last == main.last_step):
        facts.append(("before", f"{count_of(main.superseded, 'point')} of earlier attempts"))
    for statistic, value in row.last_of.items():
        facts.append((statistic, format_value(value, row.unit)))
    if row.against is not None and row.against.step is not None:
        median = f"{row.value_text}, the median up to step {format_step(row.against.step)}"
        facts.insert(1, ("compared", f"{median}: {row.change_text.strip()} against the baseline"))
    exact = newest is not None and repr(newest) == facts[0][1].strip()
    if newest is not None and not exact and abs(newest) >= 1e-12 and "." in facts[0][1]:
        facts[0] = ("last", f"{facts[0][1]}   ({newest!r})")
    metric = row.name.metric if row.name is not None else None
    if metric is not None and metric.bounds is not None:
        possible = format_limits(*metric.bounds, above="at least", below="at most")
        facts.append(("possible", f"{possible}; a value outside is a bug"))
    return facts


def hparam_details(state: AppState, key: str, width: int) -> ListContent:
    """The values of a setting in full, by run, with their sources."""
    lines: list[Line] = []
    width = min(width, HPARAM_WIDTH)
    pane = hparams(state)
    row = next((one for one in pane.hparams if one.key == key), None) if pane is not None else None
    if pane is None or row is None:
        return ListContent([line(("said nowhere", "faint"))], title=key)
    names = labels(pane.columns)
    for name, cell in zip(names, row.cells, strict=True):
        if lines:
            lines.append(BLANK)
        if len(names) > 1:
            lines.append(line((name, "strong")))
        text = "said nowhere" if cell is None else cell.text
        role = "text" if cell is not None else "faint"
        lines += [line((part.rstrip(), role)) for _, part in wrapped(text, width)]
        if cell is not None:
            lines.append(line((f"said by {cell.source}", "dim")))
    for other in row.others:
        lines += [BLANK, line((cut(other.text, width), "warn")), line((f"said by {other.source}", "dim"))]
    return ListContent(lines, title=key)

"""What a metric means: meaning, healthy values, what to fear, what to look at next, how it is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, Span, line, wrap
from rltui.draw.numbers import format_plain, format_step, format_value
from rltui.draw.symbols import SEVERITY_GLYPH, SEVERITY_ROLE
from rltui.panes.metric_card import card_of_name
from rltui.panes.render.pane_lines import finding_text
from rltui.panes.row import Row
from rltui.screen.pages.list_page import ListPage
from rltui.text import fit

if TYPE_CHECKING:
    from rltui.screen.state import AppState

LABEL, NARROW_LABEL = 14, 11
ROLES = {"healthy": "good", "watch for": "warn"}
ELSEWHERE = ("check next", "written as", "sources")  # shown in another way, or only by `rltui explain`
WIDTH = 84  # cells of running text; longer lines are hard to read


class ExplainPage(ListPage):
    """The glossary entry of one row, with links to what to look at next."""

    def __init__(self, row: Row) -> None:
        super().__init__()
        self.row = row
        self.title = row.title
        self.label = LABEL  # cells of the words before the text

    def content(self, desk: AppState, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """The entry; only links can be chosen."""
        width = min(width, WIDTH)
        self.label = cells = LABEL if width >= 50 else NARROW_LABEL
        row, name = self.row, self.row.name
        metric = name.metric if name is not None else None
        lines: list[Line] = []
        heading = ""

        def say(label: str, text: str, role: str = "text") -> None:
            for at, part in enumerate(wrap(text, width - cells)):
                lines.append(line((f"{label if not at else '':{cells}}", "dim"), (part, role)))

        lines += [line((fit(tag, width), "dim")) for tag in row.tags[:6]]
        if name is not None:
            origin = name.framework or "unknown framework"
            origin += f" → {name.canonical}" if name.canonical else ""
            origin += "  (a guess from its name)" if name.guessed and name.canonical else ""
            lines.append(line((fit(origin, width), "faint" if not name.guessed else "dim")))
        lines.append(BLANK)
        for finding in row.findings:
            role = SEVERITY_ROLE[finding.severity]
            for at, part in enumerate(wrap(f"{finding_text(finding)}. {finding.message}", width - 2)):
                lines.append(
                    line((f"{SEVERITY_GLYPH[finding.severity]} " if not at else "  ", role), (part, role))
                )
            if finding.advice:
                lines += [line(("→ " if not at else "  ", "accent"), (part, "text"))
                          for at, part in enumerate(wrap(finding.advice, width - 2))]  # fmt: skip
            lines.append(BLANK)
        card = card_of_name(name, desk.session.config) if name is not None else None
        if card is None:
            say("meaning", "No glossary entry knows this key. It is shown as it was logged.")
        else:
            say("meaning", card.metric.meaning)
            for label, text in card.parts():
                heading = label or heading
                if heading not in ELSEWHERE:
                    say(label, text, ROLES.get(heading, "text"))
        lines.append(BLANK)
        self._facts(lines, width)
        items = self._links(desk, lines, width)
        if metric is not None and metric.sources:
            lines.append(BLANK)
            lines += [line((part, "faint")) for part in wrap("from " + "; ".join(metric.sources), width)]
        return lines, items

    def _links(self, desk: AppState, lines: list[Line], width: int) -> list[tuple[int, str]]:
        """Add what to look at next, as far as the run has it; the line of each link and its tag."""
        metric = self.row.name.metric if self.row.name is not None else None
        links = metric.check_next if metric is not None else ()
        found = [tag for one in links if (tag := desk.tag_of(one)) is not None]
        if found:
            lines += [BLANK, line(("look next at", "strong"))]
        items = []
        for tag in found:
            title = desk.view.names.name(tag).title if desk.view is not None else tag
            items.append((len(lines), tag))
            lines.append(
                line(("  → ", "accent"), (fit(title, 30), "text"), (f"  {fit(tag, width - 40)}", "dim"))
            )
        return items

    def _facts(self, lines: list[Line], width: int) -> None:
        main = self.row.main
        if main is None or not main.count:
            return
        unit = self.row.unit
        facts = [("last", self.row.value_text)]
        first, last, then, counted = main.first_step, main.last_step, self.row.at_step, self.row.counted
        if counted is not None:
            facts.append(("points", f"{counted[0]:,}"))
        if first is not None and last is not None:
            last = last if then is None else min(last, then)
            facts.append(("steps", f"{format_step(first)} – {format_step(last)}"))
        if counted is not None and counted[1]:
            facts.append(("NaN or Inf", f"{counted[1]:,}"))
        if main.superseded and (then is None or last == main.last_step):
            facts.append(("superseded", f"{main.superseded:,} points of earlier attempts"))
        for statistic, value in self.row.last_of.items():
            facts.append((statistic, format_value(value, unit)))
        if self.row.value is not None and abs(self.row.value) >= 1e-12 and "." in self.row.value_text:
            facts[0] = ("last", f"{self.row.value_text}   ({self.row.value!r})")
        for label, text in facts:
            lines.append(line((f"{label:{self.label}}", "dim"), (fit(text, width - self.label), "text")))
        bounds = (
            self.row.name.metric.bounds
            if self.row.name is not None and self.row.name.metric is not None
            else None
        )
        if bounds is not None:
            ends = f"{format_plain(bounds[0])} to {format_plain(bounds[1])}; a value outside is a bug"
            lines.append(line((f"{'possible':{self.label}}", "dim"), (ends, "text")))

    def foot(self, desk: AppState) -> list[Span]:
        """Keys of this page."""
        return [("Enter", "accent"), (" go there  ", "dim"), ("Esc", "accent"), (" back", "dim")]

    def choose(self, desk: AppState, argument: str) -> None:
        """Follow a link."""
        desk.go_to_tag(argument)

    def more(self, desk: AppState, action: str, argument: str) -> bool:
        """The same key closes it."""
        if action == "explain":
            desk.close()
        return True

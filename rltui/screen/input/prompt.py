"""What is typed: the filter of metrics in the footer, and the palette that finds everything by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, Span, cut, line
from rltui.panes.pane_list import WITHOUT_METRICS, panes_of
from rltui.panes.render.pane_lines import short_key, short_title
from rltui.screen.input.bindings import MOVE, shown
from rltui.screen.input.text_filter import SCATTERED, fuzzy
from rltui.screen.pages.list_page import ListPage
from rltui.screen.pages.page import Page
from rltui.text import cell_width, pad

if TYPE_CHECKING:
    from rltui.screen.state import AppState

KEY_LEAST = 24  # cells from which a key is worth its place beside a title
FEW_LETTERS = 3  # from which letters need not stand together
PALETTE_MOST = 200  # entries that are worth scrolling through; typing finds the others


class FilterPrompt:
    """A filter typed in the footer; the board follows at every letter."""

    where = "list"
    typing = True

    def __init__(self, desk: AppState) -> None:
        self.before = desk.query

    def page(self, desk: AppState, under: Page, width: int, height: int) -> Page:
        """The screen with the prompt in its last line."""
        what, count, _ = counted(desk)
        hint = f"{count} {what}   words, glob with *, or /regex/   Enter keep   Esc clear "
        text = f" filter {desk.query}"
        room = width - cell_width(text) - 2
        hint = hint if cell_width(hint) <= room else ""
        gap = max(width - cell_width(text) - 1 - cell_width(hint), 0)
        spans: list[Span] = [
            (" filter ", "accent"),
            (desk.query, "strong"),
            ("▏", "accent"),
            (" " * gap, "text"),
        ]
        lines = [*under.lines[: height - 1], line(*spans, (hint, "dim"), back="bar")]
        return Page(lines, under.spots)

    def act(self, desk: AppState, action: str, argument: str) -> bool:
        """Clicks and moves go to the board; Escape and Enter are taken as text."""
        if action in ("interrupt",):
            return False
        if action in ("up", "down", "page-up", "page-down"):
            return False
        desk.overlays.remove(self)
        return False

    def type(self, desk: AppState, key: str) -> bool:
        """A letter of the filter."""
        if key == "enter":
            desk.overlays.remove(self)
        elif key == "escape":
            desk.query = ""
            desk.overlays.remove(self)
        elif key == "backspace":
            desk.query = desk.query[:-1]
        elif key == "ctrl+u":
            desk.query = ""
        elif len(key) == 1 and key.isprintable():
            desk.query += key
        else:
            return False
        return True


def counted(desk: AppState) -> tuple[str, int, int]:
    """What the filter finds, how many of them, and of how many; 0 where nobody has counted."""
    if desk.pane == "config":
        from rltui.screen.pages import hparams_page

        settings = hparams_page.made(desk)
        return "settings", len(settings.settings) if settings is not None else 0, 0
    made = desk.board()
    return ("metrics", 0, 0) if made is None else ("metrics", len(made.metrics), made.of)


def _shown(desk: AppState) -> list[tuple[str, str, str, str]]:
    """The metrics of the run shown, as entries."""
    view = desk.view
    if view is None:
        return []
    named = [(tag, view.names.name(tag).title) for tag in list(view.run.series)]
    return [("metric", f"{title}  {tag}", "", f"metric {tag}") for tag, title in named]


class CommandPalette(ListPage):
    """Panes, metrics, runs, themes and every action, found by a few letters."""

    typing = True

    def __init__(self, desk: AppState) -> None:
        super().__init__()
        self.query = ""
        self.tall = 0  # the most lines that were shown

    @property
    def title(self) -> str:  # type: ignore[override]
        """The heading is where one types."""
        return f": {self.query}▏"

    def content(self, desk: AppState, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """The best matches first."""
        width = min(width, 84)
        scored = []
        for order, (kind, text, hint, argument) in enumerate(self._entries(desk)):
            cost = fuzzy(self.query, text)
            if cost is not None:
                scored.append((cost, order, kind, text, hint, argument))
        scored.sort(key=lambda entry: entry[:2])
        if len(self.query) < FEW_LETTERS and scored and scored[0][0] < SCATTERED:
            scored = [entry for entry in scored if entry[0] < SCATTERED]  # two letters are in every sentence
        scored = scored[:PALETTE_MOST]
        lines: list[Line] = []
        items: list[tuple[int, str]] = []
        titles = [cell_width(text.partition("  ")[0]) for _, _, kind, text, *_ in scored if kind == "metric"]
        column = min(max(titles, default=0), (width - 12) * 2 // 5)
        for _, _, kind, text, hint, argument in scored:
            items.append((len(lines), argument))
            title, _, key = text.partition("  ") if kind == "metric" else (text, "", "")
            room = width - 11 - cell_width(hint)
            if room - column < KEY_LEAST:
                key = ""
            if key:
                title = pad(short_title(title, column), column)
                key = f"  {short_key(key, max(room - column - 3, 1))}"
            spans: list[Span] = [(pad(kind, 9), "dim"), (cut(title, room - 1), "text"), (key, "dim")]
            blank = " " * (room - cell_width(spans[1][0] + key))
            lines.append(line(*spans, (blank, "text"), (hint, "accent")))
        lines = lines or [line((pad("nothing matches", width - 2), "dim"))]
        # The box keeps its size while one types: what is looked at must not move.
        self.tall = max(self.tall, min(len(lines), max(height - 4, 1)))
        return lines + [BLANK] * (self.tall - len(lines)), items

    def _entries(self, desk: AppState) -> list[tuple[str, str, str, str]]:
        there = WITHOUT_METRICS + tuple(desk.view.tag_index.panes) if desk.view is not None else ()
        entries = []
        for tab in panes_of(desk.view) if desk.view is not None else []:
            word = f"{tab.title}  hidden" if tab.id in desk.memory.hidden else tab.title
            if tab.id in there:
                entries.append(("pane", word, tab.key, f"do pane:{tab.id}"))
        entries += [
            ("show", f"{pane} among the tabs again", "", f"hide {pane}") for pane in desk.memory.hidden
        ]
        below = desk.overlays[-2].where if len(desk.overlays) > 1 else ""
        binds = [bind for bind in desk.keys.binds if not bind.action.startswith("pane:")]
        binds = [bind for bind in binds if bind.where in ("any", below) and bind.action != "palette"]
        binds.sort(key=lambda bind: bind.group == MOVE)  # whoever types does not look for an arrow key
        entries += [
            ("do", bind.words, shown(bind.keys[0]) if bind.keys else "", f"do {bind.action}")
            for bind in binds
        ]
        entries += [
            ("theme", theme.title, "", f"theme {name}") for name, theme in sorted(desk.themes.items())
        ]
        entries += _shown(desk)
        runs = desk.session.ordered()
        entries += [("run", other.name, "", f"run {other.name}") for other in runs]
        if desk.baseline:
            entries.append(("baseline", "no baseline any more", "", "baseline "))
        entries += [
            ("baseline", f"baseline: {other.name}", "", f"baseline {other.name}")
            for other in runs
            if other is not desk.view
        ]
        return entries

    def choose(self, desk: AppState, argument: str) -> None:
        """Do what was chosen."""
        desk.close()
        kind, _, rest = argument.partition(" ")
        if kind == "metric":
            desk.go_to_tag(rest)
        elif kind == "do":
            desk.do(rest)
        else:
            desk.do(kind, rest)

    def type(self, desk: AppState, key: str) -> bool:
        """A letter of the search."""
        if key == "escape":
            desk.close()
        elif key == "backspace":
            self.query = self.query[:-1]
        elif len(key) == 1 and key.isprintable():
            self.query += key
        else:
            return False
        self.at = 0
        return True


class MetricPicker(CommandPalette):
    """Metrics to draw beside the one on the chart; those that are drawn already are marked and leave it."""

    def __init__(self, desk: AppState, tag: str) -> None:
        super().__init__(desk)
        self._tag = tag

    @property
    def title(self) -> str:  # type: ignore[override]
        """What is chosen, and where one types."""
        return f"draw beside it: {self.query}▏"

    def _entries(self, desk: AppState) -> list[tuple[str, str, str, str]]:
        entries = [entry for entry in _shown(desk) if entry[3] != f"metric {self._tag}"]
        marked = [(f"metric {tag}") for tag in desk.together]
        entries.sort(key=lambda entry: entry[3] not in marked)
        return [("● drawn" if one[3] in marked else "", *one[1:]) for one in entries]

    def choose(self, desk: AppState, argument: str) -> None:
        """Draw it, or draw it no longer."""
        desk.close()
        desk.do_plain("together", argument.partition(" ")[2])

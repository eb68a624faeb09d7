"""The palette: panes, metrics, runs, themes and actions by name; and lists of choices for an overlay."""

from __future__ import annotations

from collections.abc import Sequence

from rltui.common.display_text import cell_width, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import BLANK, Line, Span, cut, line
from rltui.panes.pane_tabs import WITHOUT_METRICS, panes_of
from rltui.panes.render.lines.pane_lines import short_key, short_title
from rltui.screen import run_list, shown_run
from rltui.screen.input.key_table import MOVING
from rltui.screen.input.key_table import shown as shown_key
from rltui.screen.pages.lists.list_page import ListContent
from rltui.screen.state import SAMPLES, AppState, ListOverlay
from rltui.screen.text_filter import SCATTERED_COST, fuzzy

WIDTH = 84  # cells
MIN_KEY_CELLS = 24  # for the key of a metric behind its title
FEW_LETTERS = 3  # from here on letters need not be adjacent
MAX_ENTRIES = 200  # typing finds the others


class PaletteEntry(NamedTuple):
    """An entry of the palette. `argument` is an action and its argument."""

    kind: str
    text: str  # for a metric its title, two blanks, its key
    hint: str
    argument: str
    also: str = ""  # other words that find it


TITLES = {"beside": "draw beside it", "instead": "chart of", "group": "group runs by", "column": "column"}
NAMES = ("group", "column")  # lists of many names alike, such as those of settings


def palette(state: AppState, overlay: ListOverlay, width: int, height: int) -> ListContent:
    """The entries, best matches first. The box keeps its height while the user types."""
    match overlay.kind:
        case "beside":
            entries = _metrics_beside(state, overlay.of)
        case "instead":
            entries = _metrics(state)
        case "group":
            entries = _run_choices(run_list.group_choices(state), [state.saved.run_group])
        case "column":
            entries = _run_choices(run_list.column_choices(state), state.saved.run_columns)
        case _:
            entries = _everything(state)
    found = _matching(entries, overlay.query, scattered=overlay.kind not in NAMES)
    lines, items = _lines(found, min(width, WIDTH))
    tall = max(overlay.drawn.tall, min(len(lines), max(height - 4, 1)))
    lines += [BLANK] * (tall - len(lines))
    return ListContent(lines, items, f"{TITLES.get(overlay.kind, '')}: {overlay.query}▏", tall=tall)


def _matching(entries: list[PaletteEntry], query: str, *, scattered: bool = True) -> list[PaletteEntry]:
    """The matching entries, best first.

    scattered: whether letters may be apart also where another entry has them together.
    """
    scored = [
        (cost, order, entry) for order, entry in enumerate(entries)
        if (cost := _cost(query, entry)) is not None
    ]  # fmt: skip
    scored.sort(key=lambda one: one[:2])
    apart = scattered and len(query) >= FEW_LETTERS  # scattered letters match much
    if not apart and scored and scored[0][0] < SCATTERED_COST:
        scored = [one for one in scored if one[0] < SCATTERED_COST]
    return [entry for *_, entry in scored[:MAX_ENTRIES]]


def _cost(query: str, entry: PaletteEntry) -> int | None:
    """The cost of a match by key, text or other words; None for no match."""
    if query and query == entry.hint:
        return -1
    if query and any(word.startswith(query.lower()) for word in entry.also.split()):
        return 0
    return fuzzy(query, entry.text)


def _lines(entries: list[PaletteEntry], width: int) -> tuple[list[Line], list[tuple[int, str]]]:
    lines: list[Line] = []
    items: list[tuple[int, str]] = []
    titles = [cell_width(one.text.partition("  ")[0]) for one in entries if one.kind == "metric"]
    column = min(max(titles, default=0), (width - 12) * 2 // 5)
    for entry in entries:
        items.append((len(lines), entry.argument))
        title, _, key = entry.text.partition("  ") if entry.kind == "metric" else (entry.text, "", "")
        room = width - 11 - cell_width(entry.hint)
        if room - column < MIN_KEY_CELLS:
            key = ""
        if key:
            title = pad(short_title(title, column), column)
            key = f"  {short_key(key, max(room - column - 3, 1))}"
        spans: list[Span] = [(pad(entry.kind, 9), "dim"), (cut(title, room - 1), "text"), (key, "dim")]
        blank = " " * (room - cell_width(spans[1][0] + key))
        lines.append(line(*spans, (blank, "text"), (entry.hint, "accent")))
    return lines or [line((pad("nothing matches", width - 2), "dim"))], items


def _metrics(state: AppState) -> list[PaletteEntry]:
    """The metrics of the run shown."""
    view = shown_run.run(state)
    if view is None:
        return []
    titles = [(tag, view.title_of(tag)) for tag in list(view.run.series)]
    return [PaletteEntry("metric", f"{title}  {tag}", "", f"metric {tag}") for tag, title in titles]


def _metrics_beside(state: AppState, shown_tag: str) -> list[PaletteEntry]:
    """Metrics to draw beside that of the chart, those already drawn first."""
    found = [entry for entry in _metrics(state) if entry.argument != f"metric {shown_tag}"]
    drawn = {f"metric {tag}" for tag in state.selection.added_tags}
    found.sort(key=lambda entry: entry.argument not in drawn)
    return [
        PaletteEntry("● drawn" if one.argument in drawn else "", one.text, one.hint, one.argument)
        for one in found
    ]


def _run_choices(names: Sequence[str], chosen: Sequence[str]) -> list[PaletteEntry]:
    """Choices of groups or columns for the list of runs, the current ones first."""
    found = []
    for name in sorted(names, key=lambda name: name not in chosen):
        sort, colon, key = name.partition(":")
        word = "● shown" if name in chosen and name else sort if colon else ""
        found.append(PaletteEntry(word, key if colon else name or "no groups", "", name))
    return found


def _everything(state: AppState) -> list[PaletteEntry]:
    view, keys, hidden = shown_run.run(state), state.options.keys, state.saved.hidden
    entries: list[PaletteEntry] = []
    if view is not None:
        present = (*WITHOUT_METRICS, *view.tag_index.panes)
        entries += [
            PaletteEntry("pane", f"{tab.title}  hidden" if tab.id in hidden else tab.title, tab.key,
                  f"do pane:{tab.id}")
            for tab in panes_of(view, present=shown_run.panes_present(state, view)) if tab.id in present
        ]  # fmt: skip
    entries += [PaletteEntry("show", f"{pane} among the tabs again", "", f"hide {pane}") for pane in hidden]
    below = state.overlays[-2].key_context if len(state.overlays) > 1 else SAMPLES if state.on_samples else ""
    binds = [bind for bind in keys.binds if not bind.action.startswith("pane:")]
    binds = [bind for bind in binds if bind.where in ("any", below) and bind.action != "palette"]
    binds.sort(key=lambda bind: bind.group == MOVING)  # keys for moving come last
    entries += [
        PaletteEntry(
            "do", bind.words, shown_key(bind.keys[0]) if bind.keys else "", f"do {bind.action}", bind.also
        )
        for bind in binds
    ]
    themes = sorted(state.options.themes.items())
    entries += [PaletteEntry("theme", theme.title, "", f"theme {name}") for name, theme in themes]
    entries += _metrics(state)
    runs = state.session.ordered()
    entries += [PaletteEntry("run", other.name, "", f"run {other.name}") for other in runs]
    if state.selection.baseline:
        entries.append(PaletteEntry("baseline", "no baseline any more", "", "baseline "))
    entries += [
        PaletteEntry("baseline", f"baseline: {other.name}", "", f"baseline {other.name}")
        for other in runs
        if other is not view
    ]
    return entries

"""Pages of overlays: a large chart, a list, a sample, the prompt of the filter."""

from __future__ import annotations

from rltui.common.display_text import cell_width, count_of
from rltui.draw.cells import Span, line
from rltui.screen.pages.chart.chart_page import chart_page
from rltui.screen.pages.lists.explain_page import explanation, hparam_details
from rltui.screen.pages.lists.help_page import help_content
from rltui.screen.pages.lists.list_page import ListContent, list_page, list_size
from rltui.screen.pages.lists.palette_page import palette
from rltui.screen.pages.lists.problems_page import problems_content
from rltui.screen.pages.lists.runs_page import runs_page
from rltui.screen.pages.page import Page, Spot
from rltui.screen.pages.page_registry import page_of
from rltui.screen.pages.sample_details_page import sample_details
from rltui.screen.run_list import listing
from rltui.screen.state import AppState, ChartOverlay, ListOverlay, Overlay, SampleOverlay


def overlay_page(state: AppState, overlay: Overlay, under: Page, width: int, height: int) -> Page:
    """The screen with an overlay on it."""
    if isinstance(overlay, ChartOverlay):
        return chart_page(state, overlay, width, height)
    if isinstance(overlay, ListOverlay) and overlay.kind == "runs":
        return runs_page(state, overlay, width, height)
    if isinstance(overlay, ListOverlay):
        content = list_content(state, overlay, *list_size(width, height))
        return list_page(state.options.keys, overlay, content, under, width, height)
    if isinstance(overlay, SampleOverlay):
        return sample_details(state, overlay, width, height)
    return filter_prompt(state, under, width, height)


def covers(overlay: Overlay) -> bool:
    """Whether an overlay covers the whole screen."""
    return isinstance(overlay, ChartOverlay | SampleOverlay) or (
        isinstance(overlay, ListOverlay) and overlay.kind == "runs"
    )


def list_content(state: AppState, overlay: ListOverlay, width: int, height: int) -> ListContent:
    """The content of a list for a size in cells."""
    if overlay.row is not None:
        return explanation(state, overlay.row, width)
    match overlay.kind:
        case "help":
            return help_content(state.options.keys, width, _context_below(state, overlay))
        case "problems":
            return problems_content(state, width)
        case "setting":
            return hparam_details(state, overlay.of, width)
        case "runs":
            return ListContent([], list(listing(state, overlay.query).items))
    return palette(state, overlay, width, height)


def _context_below(state: AppState, overlay: ListOverlay) -> str:
    """The context of keys below a list, whose keys help shows first."""
    at = state.overlays.index(overlay) if overlay in state.overlays else 0
    return state.overlays[at - 1].key_context if at else state.selection.pane


def filter_prompt(state: AppState, under: Page, width: int, height: int) -> Page:
    """The screen with the filter and its number of matches in the last line."""
    query = state.query
    noun, count, _ = page_of(state).filtered(state)
    forms = "reward<0.5 stop=length words /regex/" if state.on_samples else "words, glob with *, or /regex/"
    hint = f"{count_of(count, noun)}   {forms}   Enter keep   Esc clear "
    text = f" filter {query}"
    hint = hint if cell_width(hint) <= width - cell_width(text) - 2 else ""
    gap = max(width - cell_width(text) - 1 - cell_width(hint), 0)
    spans: list[Span] = [(" filter ", "accent"), (query, "strong"), ("▏", "accent"), (" " * gap, "text")]
    lines = [*under.lines[: height - 1], line(*spans, (hint, "dim"), back="bar")]
    spots = [spot for spot in under.spots if spot.y < height - 1]
    if hint:
        spots += [Spot(width - 23, height - 1, 10, 1, "nothing"), Spot(width - 10, height - 1, 9, 1, "back")]
    return Page(lines, spots)

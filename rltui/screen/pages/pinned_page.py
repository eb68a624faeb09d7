"""The pinned metrics side by side, as large as there is room."""

from __future__ import annotations

from rltui.draw.cells import BLANK, empty_lines
from rltui.panes.pane import PaneView
from rltui.panes.pane_list import PANES
from rltui.panes.render.cards import card_grid, cards_lines
from rltui.screen import shown_run
from rltui.screen.pages.chart.overlaid_runs import card_style
from rltui.screen.pages.page import Page, PanePage, card_spots
from rltui.screen.pages.pane_page import notes, pane_page
from rltui.screen.shown_pane import rows
from rltui.screen.state import PINNED, AppState, PaneDrawn


def pinned_page(state: AppState, width: int, height: int) -> Page:
    """A card for each pinned metric; rows where cards do not fit."""
    found, pane, view = rows(state), PANES[PINNED], shown_run.run(state)
    if not found or view is None:
        return Page([BLANK, *empty_lines(pane.empty, width)][:height])
    window = shown_run.window(state, view)
    fitting = card_grid(len(found), width - 2, height, full=True)[1]
    if fitting < len(found) or width < 34 or state.saved.density == "compact":
        made = PaneView(pane.id, pane.title, tuple(found), window)
        return pane_page(state, made, width, height, column_words=False)
    at = next((index for index, row in enumerate(found) if row.tag == state.selection.row), 0)
    lines, cards = cards_lines(found, window, width, height, card_style(state), selected=at, full=True)
    columns = max(sum(card.y == cards[0].y for card in cards), 1)
    page = Page(
        lines, drawn=state.drawn.get(PINNED, PaneDrawn())._replace(card_columns=columns, cards=len(cards))
    )
    page.spots = card_spots(cards, found)
    return page


PAGE = PanePage(pinned_page, notes=notes)

"""What the mouse does to the desk: click, wheel, drag. Everything has a key, too."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rltui.screen.pages.chart.chart_page import ChartPage
    from rltui.screen.pages.page import Page
    from rltui.screen.state import AppState


def click(desk: AppState, page: Page, x: int, y: int) -> None:
    """A click on a page that was drawn."""
    spot = page.spot_at(x, y)
    if spot is not None:
        desk.do(spot.action, spot.argument)


def wheel(desk: AppState, page: Page, direction: int, x: int, y: int) -> None:
    """The wheel, upwards when negative: zoom in a chart, elsewhere to the previous or next line."""
    chart = _chart(desk)
    if chart is None:
        desk.do("down" if direction > 0 else "up")
        return
    spot = page.spot_at(x, y)
    if spot is not None and spot.action == "cursor":
        chart.wheel(desk, direction, int(spot.argument))


def drag(desk: AppState, cells: int) -> None:
    """The mouse was moved with its button held, so many cells to the right: pan a chart."""
    chart = _chart(desk)
    if chart is not None:
        chart.drag(desk, cells)


def _chart(desk: AppState) -> ChartPage | None:
    from rltui.screen.pages.chart.chart_page import ChartPage

    top = desk.overlays[-1] if desk.overlays else None
    return top if isinstance(top, ChartPage) else None

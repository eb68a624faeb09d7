"""What the mouse does: click, wheel, drag. Everything has a key, too."""

from __future__ import annotations

from rltui.screen.input import chart_actions, dispatch, navigation
from rltui.screen.pages.page import Page
from rltui.screen.state import AppState, ChartOverlay
from rltui.session.session import Session


def click(session: Session, state: AppState, page: Page, x: int, y: int) -> None:
    """A click on a page that was drawn."""
    spot = page.spot_at(x, y)
    if spot is None:
        return
    at = x - spot.x - spot.plot[0]
    if spot.plot[1] and 0 <= at < spot.plot[1]:  # on a curve: read all charts there
        navigation.put_crosshair(session, state, (at + 0.5) / spot.plot[1])
    dispatch.perform(session, state, spot.action, spot.argument)


def wheel(session: Session, state: AppState, page: Page, direction: int, x: int, y: int) -> None:
    """The wheel, upwards when negative: zoom in a chart, elsewhere to the previous or next line."""
    chart = state.overlay
    if not isinstance(chart, ChartOverlay):
        dispatch.perform(session, state, "down" if direction > 0 else "up")
        return
    spot = page.spot_at(x, y)
    if spot is not None and spot.action == "cursor":
        chart_actions.zoom_by_wheel(session, state, chart, direction, int(spot.argument))


def drag(session: Session, state: AppState, cells: int) -> None:
    """The mouse was moved with its button held, so many cells to the right: pan a chart."""
    chart = state.overlay
    if isinstance(chart, ChartOverlay):
        chart_actions.pan(session, state, chart, -cells / max(chart.drawn.columns - 1, 1))

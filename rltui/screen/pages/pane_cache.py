"""The board of the pane shown, kept until something that it shows has changed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from rltui.panes.pane import PaneView, pane_view, window_for
from rltui.screen.input.text_filter import matcher

if TYPE_CHECKING:
    from rltui.panes.row import Row
    from rltui.screen.state import AppState
    from rltui.session.run_view import RunView

LARGE = 300  # rows from which a board is not made anew for every point
NOTES_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class _Made:
    key: object
    version: int  # of the run
    made: float  # when, by the desk's clock
    board: PaneView


class PaneCache:
    """The last board made."""

    def __init__(self) -> None:
        self._made: _Made | None = None

    def of(self, desk: AppState, view: RunView) -> PaneView:
        """The board of the pane shown, filtered."""
        pane = "all" if desk.query and desk.pane in ("overview", "findings") else desk.pane
        merge = desk.memory.density != "full"
        found = desk.findings()
        against = desk.differences()
        told = tuple((one.id, one.severity, one.since_step) for one in found)
        key = (
            (view.name, len(view.run.series), id(view.names)),
            (pane, merge, desk.at_step, desk.share, desk.query, tuple(desk.memory.pins)),
            (told, id(against)),
        )
        if self._made is not None and self._made.key == key:
            again = self._again(self._made, desk, view)
            if again is not None:
                return again
        made = pane_view(
            view,
            pane,
            desk.now,
            desk.at_step,
            share=desk.part,
            merge=merge,
            pinned=desk.memory.pins,
            against=against,
            findings=found,
        )
        if desk.query:
            match = matcher(desk.query)
            kept = tuple(
                row for row in made.rows
                if row.kind != "heading" and any(match(words) for words in _words(row))
            )  # fmt: skip
            made = replace(made, rows=kept, empty=f"No metric matches {desk.query}.", of=len(made.metrics))
        self._made = _Made(key, view.run.version, desk.clock(), made)
        return made

    def _again(self, cached: _Made, desk: AppState, view: RunView) -> PaneView | None:
        """A board made before, if it still says what is so.

        The rows of a large pane look their values up when they are drawn, so that new points call for a new
        window only; what is counted for its notes may be half a minute old.
        """
        if cached.version == view.run.version:
            return cached.board
        first = next(iter(cached.board.metrics[:1]), None)
        stale = first is not None and first.main is not view.run.series.get(first.tag)
        if stale or len(cached.board.rows) <= LARGE or desk.clock() - cached.made > NOTES_SECONDS:
            return None
        live = view.liveness(desk.now).state == "live"
        window = window_for(view, live=live, share=desk.part, at_step=desk.at_step)
        again = replace(cached.board, window=window)
        self._made = replace(cached, version=view.run.version, board=again)
        return again


def _words(row: Row) -> list[str]:
    """What a filter looks at: title, key and canonical id, for each key of the row."""
    canonical = (row.name.canonical or "") if row.name is not None else ""
    return [f"{row.title} {tag} {canonical}" for tag in row.tags]

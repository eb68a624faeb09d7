"""The config pane on the screen: settings in columns, what differs, a setting in full."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rltui.draw.cells import BLANK, Line, line, wrap
from rltui.panes.hparams_pane import HParamsPane, HParamsRow, columns_of, hparams_pane, lineage_of
from rltui.panes.render.hparams_lines import HParamsLayout, labels, top_lines
from rltui.screen.input.text_filter import matcher
from rltui.screen.pages.list_page import ListPage
from rltui.screen.pages.page import Page, Scroll, Spot

if TYPE_CHECKING:
    from rltui.screen.state import AppState

PANE = "config"


def made(desk: AppState) -> HParamsPane | None:
    """The board of the run shown, marked runs and the baseline beside it; kept until something changes."""
    view = desk.view
    if view is None:
        return None
    state = desk.settings
    neighbours = desk.session.ordered()
    others = []
    base = desk.base
    for name in dict.fromkeys([base.name if base is not None else "", *desk.marked]):
        other = desk.session.runs.get(name)
        if other is not None and other is not view:
            others.append((other, "baseline" if other is base else ""))
    runs = [view, *(other for other, _ in others)]
    # Files are looked after here, even when the board is not made anew.
    beside = {one.name: state.shelf.of(one) for one in runs}
    key = (
        view.name, tuple((one.name, note) for one, note in others), tuple(one.run.version for one in runs),
        len(neighbours), state.shelf.version, state.shelf.loading, state.only, desk.query,
    )  # fmt: skip
    if state.cached is not None and state.cached[0] == key:
        return state.cached[1]
    columns = columns_of(
        view, others, beside=lambda one: beside.get(one.name) or state.shelf.of(one), neighbours=neighbours
    )
    only = state.only if state.only is not None else len(columns) > 1
    board = hparams_pane(
        columns,
        only_differences=only,
        match=matcher(desk.query) if desk.query else None,
        lineage=lineage_of(view, neighbours),
        loading=state.shelf.loading,
    )
    if state.only is None and only and not board.different and not desk.query:
        board = hparams_pane(columns, lineage=board.lineage, loading=state.shelf.loading)
    state.cached = (key, board)
    return board


def config_page(desk: AppState, width: int, height: int) -> Page:
    """Attempts and troubles, the words over the columns, the settings with the selected one in sight."""
    board = made(desk)
    if board is None:
        return Page()
    lines = top_lines(board, width, max(height // 5, 1))
    if lines and height >= 14:
        lines.append(BLANK)
    if not board.settings:
        words = wrap(board.empty, width - 4)
        return Page([*lines, BLANK, *(line(("   " + part, "dim")) for part in words)][:height])
    layout = HParamsLayout(board, width)
    heads = layout.head()
    lines += heads[-max(min(len(heads), height - len(lines) - 2), 0) :] if height > 6 else []
    room = max(height - len(lines), 1)
    desk.page_rows = max(room - 2, 1)
    body: list[tuple[Line, int]] = []
    at = _at(desk, board)
    for index, row in enumerate(board.rows):
        if row.kind == "heading" and index and height >= 14:
            body.append((BLANK, -1))
        body.append((layout.row(row, selected=index == at), index))
    first = next((number for number, (_, index) in enumerate(body) if index == at), 0)
    lead = 1 if first and board.rows[at - 1].kind == "heading" else 0
    top = desk.scrolls.setdefault(PANE, Scroll()).to(max(first - lead, 0), first, len(body), room)
    page = Page(lines)
    for one, index in body[top : top + room]:
        if index >= 0 and board.rows[index].kind == "setting":
            page.spots.append(Spot(0, len(page.lines), width, 1, "select", board.rows[index].key))
        page.lines.append(one)
    return page


def status(desk: AppState) -> list[str]:
    """The notes for the footer."""
    board = made(desk)
    return list(board.notes) if board is not None else []


def hints(desk: AppState, known: dict[str, str]) -> dict[str, str]:
    """The footer's hints in this pane: metrics are not charted or explained here, settings are, if any."""
    if selected(desk) is None:
        return {action: hint for action, hint in known.items() if action not in ("open", "explain")}
    words = {"open": "whole value", "differences": "differences", "copy": "copy"}
    return words | {action: hint for action, hint in known.items() if action not in ("open", "explain")}


def _at(desk: AppState, board: HParamsPane) -> int:
    key = desk.chosen.get(PANE, "")
    settings = [index for index, row in enumerate(board.rows) if row.kind == "setting"]
    return next((index for index in settings if board.rows[index].key == key), settings[0] if settings else 0)


def selected(desk: AppState) -> HParamsRow | None:
    """The selected setting."""
    board = made(desk)
    return board.rows[_at(desk, board)] if board is not None and board.settings else None


def step(desk: AppState, by: int) -> None:
    """Move the selection by some settings."""
    board = made(desk)
    if board is None or not board.settings:
        return
    keys = [row.key for row in board.settings]
    here = desk.chosen.get(PANE, "")
    at = keys.index(here) if here in keys else 0
    desk.chosen[PANE] = keys[min(max(at + by, 0), len(keys) - 1)]


def turn(desk: AppState) -> None:
    """Only what differs, or everything."""
    board = made(desk)
    desk.settings.only = not (board is not None and board.only_differences)
    desk.go(PANE)
    desk.say("only settings that differ" if desk.settings.only else "all settings")


def show(desk: AppState) -> None:
    """The selected setting in full."""
    row = selected(desk)
    board = made(desk)
    if row is not None and board is not None:
        desk.overlays.append(SettingPage(board, row))


def copied(desk: AppState) -> str:
    """The selected setting as `key = value`, to be copied."""
    row = selected(desk)
    return f"{row.key} = {row.first.text}" if row is not None and row.first is not None else ""


class SettingPage(ListPage):
    """A setting in full: what each run says of it, and where."""

    def __init__(self, board: HParamsPane, row: HParamsRow) -> None:
        super().__init__()
        self.title = row.key
        self._board, self._row = board, row

    def content(self, desk: AppState, width: int, height: int) -> tuple[list[Line], list[tuple[int, str]]]:
        """The values, unabridged."""
        lines: list[Line] = []
        width = min(width, 92)
        names = labels(self._board.columns)
        for name, cell in zip(names, self._row.cells, strict=True):
            if lines:
                lines.append(BLANK)
            if len(names) > 1:
                lines.append(line((name, "strong")))
            text = "said nowhere" if cell is None else cell.text
            lines += [line((part, "text" if cell is not None else "faint")) for part in _broken(text, width)]
            if cell is not None:
                lines.append(line((f"said by {cell.source}", "dim")))
        for other in self._row.others:
            lines += [BLANK, line((other.text[:width], "warn")), line((f"said by {other.source}", "dim"))]
        return lines, []


def _broken(text: str, width: int) -> list[str]:
    """A value in lines: at words where there are any, anywhere else in longer ones."""
    lines: list[str] = []
    for word in text.split(" "):
        pieces = [word[at : at + width] for at in range(0, len(word), width)] or [""]
        if lines and len(lines[-1]) + 1 + len(pieces[0]) <= width:
            lines[-1] += " " + pieces.pop(0)
        lines += pieces
    return lines

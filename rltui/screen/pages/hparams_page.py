"""The page of the config pane: hyperparameters in columns, and the differences between runs."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, Span, empty_lines
from rltui.panes.context_panes.attempt_history import history_lines
from rltui.panes.context_panes.hparams_pane import HParamsPane, HParamsRow, columns_of, hparams_pane
from rltui.panes.render.lines.hparams_lines import HParamsLayout, hparams_lines, top_lines
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, PanePage, Spot, scrolled
from rltui.screen.state import AppState, PaneDrawn
from rltui.screen.text_filter import matcher

PANE = "config"
HPARAM_HINTS = ("open", "differences", "copy")  # hints that need a selected setting


def hparams(state: AppState) -> HParamsPane | None:
    """The hyperparameters of the run shown, of marked runs and of the baseline."""
    view = shown_run.run(state)
    if view is None:
        return None
    files, only, query = state.threads.hparams, state.hparams.only_differences, state.metric_query
    version = files.version  # read before the files: data that arrive meanwhile must change the key
    base = shown_run.baseline(state)
    compared = sorted(shown_run.compared_runs(state, view), key=lambda one: one is not base)
    others = [(one, "baseline" if one is base else "") for one in compared]
    runs = [view, *(other for other, _ in others)]
    # Files are requested in every frame, also if the pane is cached.
    beside = {one.name: files.of(one) for one in runs}
    key = (
        view.name, tuple((one.name, note) for one, note in others), tuple(one.run.version for one in runs),
        len(state.session.runs), version, files.loading, only, query,
    )  # fmt: skip

    def made() -> HParamsPane:
        columns = columns_of(
            view,
            others,
            file_hparams=lambda one: beside.get(one.name) or files.of(one),
            session=state.session,
        )
        differences = only is not False and len(columns) > 1
        match, history = matcher(query) if query else None, history_lines(view, state.session)
        pane = hparams_pane(
            columns, only_differences=differences, match=match, history=history, loading=files.loading
        )
        if only is None and differences and not pane.different and not query:
            return hparams_pane(columns, history=history, loading=files.loading)
        return pane

    return state.caches.hparams.of(key, made)


def hparams_page(state: AppState, width: int, height: int) -> Page:
    """Attempts and problems, column titles, the rows with the selected one visible."""
    pane = hparams(state)
    if pane is None:
        return Page()
    lines = top_lines(pane, width, max(height // 5, 1))
    if lines and height >= 14:
        lines.append(BLANK)
    if not pane.hparams:
        return Page([*lines, BLANK, *empty_lines(pane.empty, width)][:height])
    layout = HParamsLayout(pane, width)
    heads = layout.head()
    lines += heads[-max(min(len(heads), height - len(lines) - 2), 0) :] if height > 6 else []
    room = max(height - len(lines), 1)
    body: list[tuple[Line, int]] = []
    at = _selected_index(state, pane)
    for index, row in enumerate(pane.rows):
        if row.kind == "heading" and index and height >= 14:
            body.append((BLANK, -1))
        body.append((layout.row(row, selected=index == at), index))
    first = next((number for number, (_, index) in enumerate(body) if index == at), 0)
    lead = 1 if first and pane.rows[at - 1].kind == "heading" else 0
    top = scrolled(state.drawn_pane.top, max(first - lead, 0), first, len(body), room)
    page = Page(lines, drawn=PaneDrawn(top, max(room - 2, 1)))
    for one, index in body[top : top + room]:
        if index >= 0 and pane.rows[index].kind == "hparam":
            page.spots.append(Spot(0, len(page.lines), width, 1, "select", pane.rows[index].key))
        page.lines.append(one)
    return page


def _selected_index(state: AppState, pane: HParamsPane) -> int:
    key = state.selection.rows.get(PANE, "")
    hparams = [index for index, row in enumerate(pane.rows) if row.kind == "hparam"]
    return next((index for index in hparams if pane.rows[index].key == key), hparams[0] if hparams else 0)


def selected_hparam(state: AppState) -> HParamsRow | None:
    """The selected hyperparameter."""
    pane = hparams(state)
    return pane.rows[_selected_index(state, pane)] if pane is not None and pane.hparams else None


def _filtered(state: AppState) -> tuple[str, int, int]:
    pane = hparams(state)
    return "setting", 0 if pane is None else len(pane.hparams), 0


def _notes(state: AppState) -> list[Span]:
    pane = hparams(state)
    return [] if pane is None else [(note, "dim") for note in pane.notes]


def _hints(state: AppState, _width: int) -> dict[str, str]:
    return dict.fromkeys(HPARAM_HINTS, "") if selected_hparam(state) is None else {}


def _text(state: AppState, width: int) -> list[Line]:
    pane = hparams(state)
    return [] if pane is None else hparams_lines(pane, width)


PAGE = PanePage(hparams_page, _filtered, _hints, _notes, _text)

"""A frame: header, tab bar, page, footer, and overlays, for a size of the screen."""

from __future__ import annotations

from pathlib import Path

from rltui.common.display_text import cell_width, clean, count_of, first_of, fit
from rltui.draw.cells import BLANK, Span, crop, line, wrap
from rltui.panes.render.lines.header_lines import header_lines, tab_bar
from rltui.screen import shown_run
from rltui.screen.pages.chart.compared_run_names import names_line
from rltui.screen.pages.footer import footer
from rltui.screen.pages.page import MIN_FOOTER_HEIGHT, MIN_SIZE, Page, Spot, too_small, with_message
from rltui.screen.pages.page_registry import page_of
from rltui.screen.state import AppState, Drawn, Searched
from rltui.session.run_view import RunView

MAX_WAITING_CELLS = 76  # of a line of the page without a run
MAX_OTHER_RUNS = 6  # whose names it gives
_LOGS = "Logs are event files, JSONL, CSV, consoles, and files of W&B, MLflow and others."
_WAITING = "A run appears here as soon as it is found."


def frame(state: AppState, width: int, height: int) -> tuple[Page, list[Drawn | None]]:
    """The page for the whole screen, and what was drawn of the pane and of each overlay."""
    if not state.overlays or too_small_for_pages(width, height):
        page = _without_overlays(state, width, height)
        drawn = [page.drawn, *(None for _ in state.overlays)]
        if not too_small_for_pages(width, height):
            page = with_message(state, page, width, height)
        return Page([crop(one, width) for one in page.lines[:height]], page.spots), drawn
    from rltui.screen.pages.overlays import covers, overlay_page  # 6 ms that the first frame does not need

    # What is covered is not drawn: a key in a list does not wait for the curves below it.
    first = max((at for at, overlay in enumerate(state.overlays) if covers(overlay)), default=-1)
    page = Page() if first >= 0 else _without_overlays(state, width, height)
    drawn = [page.drawn, *(None for _ in state.overlays[: max(first, 0)])]
    for overlay in state.overlays[max(first, 0) :]:
        page = overlay_page(state, overlay, page, width, height)
        drawn.append(page.drawn)
    page = with_message(state, page, width, height)
    return Page([crop(one, width) for one in page.lines[:height]], page.spots), drawn


def too_small_for_pages(width: int, height: int) -> bool:
    """Whether the screen is too small for any page."""
    return width < MIN_SIZE[0] or height < MIN_SIZE[1]


def _without_overlays(state: AppState, width: int, height: int) -> Page:
    if too_small_for_pages(width, height):
        return too_small(width, height)
    view = shown_run.run(state)
    if view is None:
        return _waiting(state, width, height)
    beside = (tuple(state.selection.marked_runs), state.selection.baseline)
    state.ranges.keep_drawn((view.name, view.run.version, view.names, beside))
    head = shown_run.header(state, view)
    lines = header_lines(head, width, right=_position(state, view, width), alone=height < 12)
    page = Page(lines, [Spot(0, 0, width, 1, "runs"), Spot(0, 1, width, 1, "pane:findings")][: len(lines)])
    if height >= 8:
        page = page.below(_tabs(state, view, width, height))
    room = height - len(page.lines) - (1 if height >= MIN_FOOTER_HEIGHT else 0)
    body = page_of(state).draw(state, width, room)
    body.lines = (body.lines + [BLANK] * room)[:room]
    page = page.below(body)
    if height >= MIN_FOOTER_HEIGHT:
        page = page.below(footer(state, width))
    return page


def _tabs(state: AppState, view: RunView, width: int, height: int) -> Page:
    """The tab bar, and the names of compared runs."""
    bar = tab_bar(shown_run.tabs(state), state.selection.pane, width)
    lines = [bar.line, bar.rule] if height >= 16 else [bar.line]
    spots = [Spot(0, 0, 1, 1, "previous-pane"), Spot(width - 1, 0, 1, 1, "next-pane")]
    spots += [Spot(first, 0, last - first, 1, f"pane:{name}") for first, last, name in bar.spots]
    names = names_line(state, view, width) if height >= 12 else None
    if names is not None:
        spots.append(Spot(0, len(lines), width, 1, "runs"))
        lines.append(names)
    return Page(lines, spots)


def _position(state: AppState, view: RunView, width: int) -> list[Span]:
    """The counts at the right: metrics that match the filter, the position of the run among all."""
    spans: list[Span] = []
    query = state.query
    if query:
        noun, count, total = page_of(state).filtered(state)
        words = count_of(total or count, noun) if width >= 60 else f"{total or count:,}"
        spans.append((f"/{fit(query, max(width // 5, 8))} ", "mark"))
        spans.append((f"{count:,} of {words}" if total else words, "dim"))
    total = len(state.session.runs)
    listed = state.session.ordered()
    if total > 1 and view in listed and (width >= 60 or not spans):
        place, total = listed.index(view) + 1, len(listed)
        spans.append((f"{'   ' if spans else ''}run {place} of {total}", "dim"))
    return spans


def _waiting(state: AppState, width: int, height: int) -> Page:
    """The page without a run: what was looked for, what is there, what to do; and the footer."""
    told = _what_is_there(state)
    problems = [one for one in state.session.problems.values() if one.level != "info"]
    top = max(height // 2 - len(told) // 2 - 1, 0)
    room = max(height - top - len(told) - 1, 0)
    told += [(one.text, "warn") for one in problems[:room] if one.path != "."]
    lines = [BLANK] * top
    for text, role in told:
        parts = wrap(text, max(min(width - 2, MAX_WAITING_CELLS), 8))
        lines += [line((" " * ((width - cell_width(part)) // 2) + part, role)) for part in parts]
    page = Page((lines + [BLANK] * height)[: height - 1])
    return page.below(footer(state, width))


def _what_is_there(state: AppState) -> list[tuple[str, str]]:
    """Sentences on the LOGDIRs while no run is known, with their roles."""
    wanted, session = state.options.run_glob, state.session
    folders = ", ".join(_folder(one) for one in state.options.logdirs or ("",))
    others = [*session.others, *(name for name in session.runs if wanted)]
    if state.loading is not None:
        return [(f"Reading {folders}", "text")]
    if state.looking:  # a slow file system takes seconds for a folder: nothing is missing yet
        return [(f"Looking for logs in {folders}", "text"), (_LOGS, "dim")]
    if others:
        there = f"{count_of(len(others), 'other run')}: {first_of(others, MAX_OTHER_RUNS)}"
        return [(f"No run in {folders} matches {wanted!r}", "text"), (there, "dim"), (_WAITING, "dim")]
    told = [(f"Waiting for logs in {folders}", "text")]
    if state.missing:
        there = "does" if len(state.missing) == 1 else "do"
        told.append((f"{', '.join(state.missing)} {there} not exist yet", "warn"))
    elif (closed := next((one for one in session.problems.values() if one.path == "."), None)) is not None:
        told.append((f"{folders} {closed.message.partition(';')[0]}; look at its permissions", "warn"))
    elif state.searched is not None:
        told.append((_searched(state.searched), "warn"))
    told.append((_LOGS, "dim"))
    told.append((f"{_WAITING} Are the logs elsewhere? Quit, and open their folder: rltui FOLDER", "dim"))
    return told


def _folder(logdir: str) -> str:
    """A LOGDIR as it was given; the current folder by its path, since a dot says nothing."""
    return clean(str(Path.cwd())) if logdir in ("", ".") else logdir


def _searched(found: Searched) -> str:
    """`3 files in 2 folders; notes.jsonl is empty so far`."""
    if not found.files:
        return "There are no files yet"
    there = f"{count_of(found.files, 'file')} in {count_of(found.folders, 'folder')}"
    if not found.unread:
        return f"{there}, none of them a log"
    path, size = max(found.unread.items(), key=lambda one: not one[1])
    more = f" (and {len(found.unread) - 1} more)" if len(found.unread) > 1 else ""
    return f"{there}; {path}{more} {'holds no metrics that rltui knows' if size else 'is empty so far'}"

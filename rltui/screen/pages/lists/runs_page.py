"""The list of runs: framework, state, step, age, a key metric, health; sorted, filtered, marked."""

from __future__ import annotations

from rltui.draw.cells import Line, Span, line
from rltui.draw.numbers import format_age
from rltui.draw.symbols import HEALTH_GLYPH, HEALTH_ROLE, STATE_GLYPH, STATE_ROLE
from rltui.panes.overview import key_rows
from rltui.panes.render.pane_lines import short_title
from rltui.screen import shown
from rltui.screen.pages.chart.overlaid_runs import sign_of
from rltui.screen.pages.lists.list_page import ListContent
from rltui.screen.pages.lists.run_sorting import COLUMNS, sorted_runs, sorting_arrow
from rltui.screen.state import AppState, ListOverlay, RunList
from rltui.screen.text_filter import matcher
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.text import cell_width, pad

_FOOT = (("open", "show"), ("mark", "mark"), ("sort", "sort"), ("reverse", "reverse"), ("filter", "filter"),
         ("back", "back"))  # fmt: skip


def listed_runs(session: Session, state: AppState, query: str) -> list[RunView]:
    """The runs that a filter leaves, sorted."""
    now, match = state.now, matcher(query)

    def health(view: RunView) -> str:
        return shown.health(session, state, view)

    def words(view: RunView) -> str:
        return f"{view.name} {view.framework} {view.liveness(now).state} {health(view)}"

    found = session.ordered()
    if query.strip():
        found = [one for one in found if match(one.name) or match(words(one))]
    return sorted_runs(state.filters.run_sorting, found, now, health)


def run_list(
    session: Session, state: AppState, overlay: ListOverlay, kind: RunList, width: int, height: int
) -> ListContent:
    """A line per run. Columns that do not fit are left out from the right.

    Only lines in sight ask for metrics. A click on a word over a column sorts by it.
    """
    views = listed_runs(session, state, overlay.query)
    longest = max((cell_width(view.name) for view in views), default=8)
    whole = longest <= max(width - 97, 24)  # names in full, with all columns beside them
    titles = [_title(session, state, view, whole) for view in views]
    names = max((cell_width(title) for title in titles), default=8)
    names = min(names, max(width - (26 if width < 56 else 48), 9))
    frames = min(max((cell_width(_framework(view)) for view in views), default=0), 17)
    frames = max(frames, len("framework"))
    content = ListContent([], title=_heading(state, overlay), foot=_foot(state))
    if height >= 12 and width >= 56 and views:
        content.fixed = 1
        words, content.heads = _column_words(state, names, frames, width)
        content.lines.append(words)
    known = [view.name for view in views]
    at = min(overlay.at, max(len(known) - 1, 0))
    content.at = at = known.index(kind.selected) if kind.selected in known else at
    room = max(height - 4, 1)
    for index, (view, title) in enumerate(zip(views, titles, strict=True)):
        content.items.append((len(content.lines), view.name))
        near = abs(index - at) <= room
        content.lines.append(
            _line(session, state, view, title, names, frames, width) if near else line((view.name, "text"))
        )
    content.lines = content.lines or [line(("no run matches", "dim"))]
    return content


def _heading(state: AppState, overlay: ListOverlay) -> str:
    sorting = state.filters.run_sorting
    text = f"Runs by {sorting.column} {sorting_arrow(sorting)}"
    if overlay.typing:
        return f"{text} · /{overlay.query}▏"
    return f"{text} · {overlay.query}" if overlay.query else text


def _title(session: Session, state: AppState, view: RunView, whole: bool) -> str:
    return shown.title(state, view.name) if whole else shown.short_name(session, state, view.name)


def _framework(view: RunView) -> str:
    return "" if view.framework == "unknown" else view.framework


def _column_words(
    state: AppState, names: int, frames: int, width: int
) -> tuple[Line, list[tuple[int, int, str]]]:
    """The faint words over the columns, the one that sorts with an arrow; those that do not fit go."""
    sorting = state.filters.run_sorting
    room = width - (names + 51 + frames) - 2
    cells = {"name": names, "state": 9, "health": 9, "step": 12, "age": 8, "framework": frames}
    spans: list[Span] = [("  ", "faint")]
    heads = []
    x = 2
    for column in COLUMNS:
        wide = cells.get(column.id, max(min(room - 11, 18), 0) if room >= 21 else 0)
        if x + wide > width or not wide:
            continue
        sorts = column.id == sorting.column
        word = f"{column.word} {sorting_arrow(sorting)}" if sorts else column.word
        text = pad(word, wide, right=column.id in ("step", "age"))
        heads.append((x, wide, column.id))
        spans += [(text, "strong" if sorts else "faint"), ("  ", "faint")]
        x += wide + 2
    return line(*spans[:-1]), heads


def _line(
    session: Session, state: AppState, view: RunView, title: str, names: int, frames: int, width: int
) -> Line:
    alive = view.liveness(state.now)
    health = shown.health(session, state, view)
    narrow = width < 56  # glyphs without their words
    age = format_age(alive.age)
    step = shown.step_text(state, view, 9 if narrow else 11)
    spans: list[Span] = [
        sign_of(session, state, view),
        (pad(title, names), "strong" if view is shown.run(session, state) else "text"),
        (
            f"  {STATE_GLYPH.get(alive.state, '?')}{'' if narrow else ' ' + pad(alive.word, 7)}",
            STATE_ROLE.get(alive.state, "dim"),
        ),
        (
            f"  {HEALTH_GLYPH.get(health, '?')}{'' if narrow else ' ' + pad(health, 8)}",
            HEALTH_ROLE.get(health, "text"),
        ),
        (f"  {pad(step, 9 if narrow else 11, right=True)}", "text"),
        (f"  {pad(age.removesuffix(' ago') if narrow else age, 5 if narrow else 8, right=True)}", "dim"),
    ]
    used = sum(cell_width(text) for text, _ in spans)
    if used + frames + 2 <= width:
        spans.append((f"  {pad(_framework(view), frames)}", "dim"))
        used += frames + 2
    room = min(width - used - 13, 18)
    if room >= 10:
        rows = key_rows(view, 1, at_step=state.time.at_step, findings=())
        if rows:
            spans += [
                (f"  {pad(short_title(rows[0].title, room), room)}", "dim"),
                (pad(rows[0].value_text, 11, right=True), "text"),
            ]
    return line(*spans)


def _foot(state: AppState) -> list[Span]:
    """Keys of this list."""
    words: list[Span] = []
    for action, what in _FOOT:
        words += [(state.options.keys.hint_of(action), "accent"), (f" {what}  ", "dim")]
    return [*words[:-1], (" back", "dim")]

"""The page of the list of runs: columns, groups, marks, filter."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from rltui.common.display_text import cell_width, fit, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import BLANK, Line, Span, crop, cut, fill, line, sides, wrap
from rltui.draw.cells import colored as in_roles
from rltui.draw.numbers import format_age
from rltui.draw.symbols import HEALTH_GLYPH, HEALTH_ROLE, STATE_GLYPH, STATE_ROLE
from rltui.panes.render.lines.pane_lines import short_title
from rltui.panes.runs.listed_run import fitted_summary, health_role
from rltui.panes.runs.run_columns import RunColumn, column_named, step_text
from rltui.panes.runs.run_expression import WORDS
from rltui.panes.runs.run_facts import RunFacts
from rltui.panes.runs.table import BY_METRIC, RunGroup, RunListing, counted_healths
from rltui.screen import run_list, shown_run
from rltui.screen.input.key_table import key_table
from rltui.screen.pages.chart.compared_run_names import sign_of
from rltui.screen.pages.page import Page, Spot, fitting, hint_bar, hints_for, scrolled, short_message
from rltui.screen.state import AppState, ListDrawn, ListOverlay

MIN_NAME_CELLS, MAX_NAME_CELLS = 12, 40  # cells
MIN_REASON_CELLS = 14
NARROW = 100  # cells below which reasons get the room of less important columns
VERY_NARROW = 60  # cells below which names get that of all columns but the last value
MIN_REASON_ROWS = 16  # of the screen, from which reasons that are too long have lines of their own
# Of the width, for names; beside short reasons, 80 cells have room for a last and a best value and the step
NAME_PERCENT, NAME_PERCENT_BESIDE_SHORT = 22, 42
NAME_PERCENT_VERY_NARROW = 55
WELL = "nothing is wrong"  # of a run without a reason
SIGN_CELLS = 6  # before the name: mark, state, health
TREND = "trend"
_WITHOUT_RUNS = ("filter", "back")  # hints of a list in which no run is shown
# Columns from the most to the least important, after those that the user has added.
_BY_IMPORTANCE = ("last", "step", "why", "best", "metric", TREND, "share", "eta", "age", "framework")
VALUES = ("last", "best", "step")  # what a run achieved, and where it is
# Columns from left to right.
_COLUMN_ORDER = (
    "name",
    "",
    "metric",
    "last",
    "best",
    TREND,
    "step",
    "share",
    "eta",
    "age",
    "framework",
    "why",
)


class _Cells(NamedTuple):
    """A column with its width."""

    id: str
    word: str
    width: int
    column: RunColumn | None = None  # None: the trend

    @property
    def right(self) -> bool:
        return self.column is not None and self.column.right


class _Reason(NamedTuple):
    """The reason of the run in the line above it."""

    run: RunFacts


def runs_page(state: AppState, overlay: ListOverlay, width: int, height: int) -> Page:
    """The whole screen. Only visible lines have curves; a click on a column title sorts by the column."""
    found = run_list.listing(state, overlay.query)
    columns = _layout(state, found, width)
    reasons_below = _reasons_below(found, columns, width, height)
    if reasons_below:
        columns = _layout(state, found, width, reasons_below=True)
    items = found.items_with_reasons if reasons_below else found.items
    at = min(overlay.at, max(len(items) - 1, 0))
    if items and overlay.of and items[at][1] != overlay.of:
        at = next((position for position, (_, name) in enumerate(items) if name == overlay.of), at)
    position = items[at][0] if items else 0
    head = [_title(state, overlay, found, columns, width)]
    if height >= 8:
        head.append(_column_titles(state, columns, width))
    foot = _foot(state, overlay, width, has_runs=bool(items))
    if height >= 10 and items:
        row = _selected(state, items[at][1], width, reasons_below=reasons_below)
        foot = Page([row]).below(foot)
    room = max(height - len(head) - len(foot.lines), 1)
    tall = _with_reasons(found) if reasons_below else ()
    count = len(tall) or len(found.runs) + len(found.groups)
    below = tall[position + 1] if position + 1 < len(tall) else None
    selected = (position, position + 1) if isinstance(below, _Reason) else (position,)
    top = scrolled(overlay.top, position - (1 if found.groups or not at else 0), selected[-1], count, room)
    titles = run_list.titles(state, columns[0].width)
    lines: list[Line] = []
    spots: list[Spot] = []
    by_line = {where: index for index, (where, _) in enumerate(items[: top + room + 1])}
    in_sight = list(enumerate(tall))[top : top + room] if tall else _in_sight(found, top, room)
    for where, run in in_sight:
        y = len(head) + len(lines)
        if isinstance(run, RunGroup):
            lines.append(_heading(run, width))
            continue
        if isinstance(run, _Reason):
            row, item = _reason(run, width), by_line[where - 1]
        else:
            row, item = _line(state, run, titles[run.view.name], columns, width), by_line[where]
        lines.append(Line(fill(row, width).spans, "select") if where in selected else row)
        spots.append(Spot(0, y, width, 1, "item", str(item)))
    if not count:
        lines += _no_runs(state, width)[:room]
    lines += [BLANK] * (room - len(lines))
    runs_in_sight = max(len({spot.argument for spot in spots}), 1) if tall else room
    page = Page([*head, *lines], spots, ListDrawn(at, top, runs_in_sight, count, items, size=(width, height)))
    page.spots += _title_spots(columns) if height >= 8 else []
    return page.below(foot)


def _no_runs(state: AppState, width: int) -> list[Line]:
    """The text of an empty list; below a filter that no run fulfils, what a filter may consist of."""
    if not state.session.runs:
        return [line((" no runs yet", "dim"))]
    words = (
        f"A filter takes parts of names, {', '.join(WORDS)}, step>500, lr>1e-4, tag:NAME, and -WORD for not."
    )
    return [line((" no run matches", "text")), *(line((f" {one}", "dim")) for one in wrap(words, width - 2))]


def _in_sight(found: RunListing, top: int, room: int) -> list[tuple[int, RunFacts | RunGroup]]:
    """The visible lines from `top` on."""
    if not found.groups:
        return list(enumerate(found.runs[top : top + room], start=top))
    lines: list[tuple[int, RunFacts | RunGroup]] = []
    at = 0
    for group in found.groups:
        if at + len(group.runs) >= top and at < top + room:
            both: list[RunFacts | RunGroup] = [group, *group.runs]
            lines += [(where, one) for where, one in enumerate(both, start=at) if top <= where < top + room]
        at += 1 + len(group.runs)
    return lines


def _reasons_below(found: RunListing, columns: list[_Cells], width: int, height: int) -> bool:
    """Whether reasons have lines of their own: on narrow screens where their column would cut them."""
    if found.why_cells is None or width >= NARROW or height < MIN_REASON_ROWS:
        return False
    return found.why_cells > next((cells.width for cells in columns if cells.id == "why"), 0)


def _with_reasons(found: RunListing) -> list[RunFacts | RunGroup | _Reason]:
    """All lines of the list, with a line below each run that has a reason."""
    lines: list[RunFacts | RunGroup | _Reason] = []
    for group in found.groups or (None,):
        lines += [] if group is None else [group]
        for run in found.runs if group is None else group.runs:
            lines += [run, _Reason(run)] if run.why else [run]
    return lines


# ---- above and below the lines


def _title(
    state: AppState, overlay: ListOverlay, found: RunListing, columns: list[_Cells], width: int
) -> Line:
    """Number of runs by health, metric, order, groups and filter."""
    order = run_list.order_of(state)
    column = column_named(order.column)
    spans: list[Span] = [(" Runs ", "strong")]
    total = f" of {found.total}" if len(found.runs) != found.total else ""
    spans.append((f"{len(found.runs)}{total}{': ' if found.runs else ''}", "dim"))
    for health, count, role in counted_healths(found.runs):
        spans.append((f"{HEALTH_GLYPH[health]}{count} ", role))
    word = "health" if column is None or column.id == "why" else column.word
    pieces: list[tuple[str, str]] = [("by", f"{word} {order.arrow}")]
    values = ", ".join(one.id for one in columns if one.id in ("last", "best"))
    if len(found.metrics) == 1 and values:
        pieces.insert(0, (f"{values}:", found.metrics[0]))
    if state.saved.run_group:
        pieces.append(("groups:", state.saved.run_group.partition(":")[2] or state.saved.run_group))
    if overlay.query and not overlay.typing:
        pieces.append(("filter:", overlay.query))
    for name, text in pieces:
        spans += [("  ", "dim"), (f"{name} ", "dim"), (text, "mark" if name == "filter:" else "text")]
    return crop(line(*spans), width)


def _column_titles(state: AppState, columns: list[_Cells], width: int) -> Line:
    """The column titles; that of the sorting column has an arrow."""
    order = run_list.order_of(state)
    spans: list[Span] = [(" " * SIGN_CELLS, "faint")]
    for cells in columns:
        sorts = cells.id == order.column
        word = cut(cells.word, cells.width - 2) + f" {order.arrow}" if sorts else cells.word
        spans += [(pad(word, cells.width, right=cells.right), "strong" if sorts else "dim"), ("  ", "dim")]
    return crop(line(*spans[:-1]), width)


def _title_spots(columns: list[_Cells]) -> list[Spot]:
    spots, x = [], SIGN_CELLS
    for cells in columns:
        if cells.column is not None:
            spots.append(Spot(x, 1, cells.width, 1, "sort-by", cells.id))
        x += cells.width + 2
    return spots


def _selected(state: AppState, name: str, width: int, *, reasons_below: bool) -> Line:
    """The selected run: its name in full and its reason, unless that has a line of its own; its state.

    Where only one of both fits, the reason: the name is in the list, though perhaps not in full.
    """
    run = run_list.facts_of(state, name)
    stopped = run.liveness.word in run.why  # the reason of a healthy run that stopped has its age, too
    facts = [run.view.framework] * (run.view.framework != "unknown")
    facts += [] if stopped and not reasons_below else [run.liveness.word]
    if run.liveness.age is not None and not stopped:
        written = run.liveness.last_write if run.points else "last written"
        facts.append(f"{written} {format_age(run.liveness.age)}")
    title, why = run.view.shown_name, "" if reasons_below else run.why
    if not run.why and cell_width(title) + 3 + cell_width(WELL) <= width:
        why = WELL
    if why != WELL and why and cell_width(title) + 3 + MIN_REASON_CELLS > width:
        title, why = "", fitted_summary(why, width - 2)
    title = fit(title, width - 1)  # a cut at the end would hide the seed, which tells runs apart
    room = width - 3 - cell_width(title) - cell_width(why)
    while facts and cell_width(" · ".join(facts)) + 2 > room:
        facts.pop()
    spans: list[Span] = [(f" {title}", "strong")] * bool(title)
    if why:
        spans.append((f"{'  ' if title else ' '}{why}", _why_role(run) if run.why else HEALTH_ROLE["ok"]))
    if facts:
        spans.append((f"  {' · '.join(facts)}", "dim"))
    return crop(line(*spans), width)


def _foot(state: AppState, overlay: ListOverlay, width: int, *, has_runs: bool) -> Page:
    """The hints, without runs those alone that do something; a filter that is typed, with its completions."""
    if overlay.typing:
        offered = run_list.completions(state, overlay.query)
        left: list[Span] = [(" filter ", "accent"), (overlay.query, "strong"), ("▏", "accent")]
        room = width - cell_width(overlay.query) - 18
        words = ""
        for one in offered:
            if cell_width(words) + cell_width(one) + 2 > room:
                break
            words += f"  {one}"
        right: list[Span] = [("Tab", "accent"), (f"{words} ", "dim")] if words else []
        return Page([sides(left, right, width, back="bar")])
    message, context = short_message(state, width), key_table().context["runs"]
    room = width - 1 - (cell_width(message) + 2 if message else 0)
    useful = {one: words for one, words in context.hints.items() if has_runs or one in _WITHOUT_RUNS}
    hints = fitting(hints_for(state.options.keys, useful), room, context.kept)
    return hint_bar(hints, width, [(f" {message}", "strong")] if message else ())


# ---- lines


def _layout(state: AppState, found: RunListing, width: int, *, reasons_below: bool = False) -> list[_Cells]:
    """The columns that fit, the name first and the reason last, which gets the remaining width.

    reasons_below: whether reasons have lines of their own instead of a column.
    """
    order = run_list.order_of(state)
    added = [one for name in state.saved.run_columns if (one := column_named(name)) is not None]
    sorting = column_named(order.column)
    fixed = {"name", "why", "health", "state"}
    if sorting is not None and sorting.id not in {*_BY_IMPORTANCE, *fixed, *(one.id for one in added)}:
        added.append(sorting)
    known = _known_columns(found, added, width)
    sixteenths = 6 if order.column in ("health", "why") else 3
    least = max(MIN_REASON_CELLS, 0 if added else width * sixteenths // 16)  # cells of the reason
    # Short reasons, and those with lines of their own, leave room for other columns.
    short = reasons_below or (found.why_cells is not None and found.why_cells <= least)
    short = short or (width < NARROW and _all_fits(state, found, known, width))
    if reasons_below:
        least = 0
    elif found.why_cells is not None and short:
        least = max(found.why_cells, cell_width("why"))
    asked = [one.id for one in added]
    if sorting is not None and sorting.id in known and sorting.id not in asked:
        # Runs are sorted by age at first; the line below the list has that of the selected run.
        asked += [sorting.id] * (sorting.id != "age" or width >= NARROW)
    offered: Sequence[str] = _BY_IMPORTANCE
    if width < NARROW and not short:
        offered = _BY_IMPORTANCE[: _BY_IMPORTANCE.index("why") + 1]
    lacking = {*found.lacking, "why"} if reasons_below else found.lacking
    more = [name for name in offered if name in known and name not in (*asked, *lacking)]
    longest = max(run_list.longest_name(state), cell_width("run"))
    name_cells = min(longest, MAX_NAME_CELLS, _room_of_names(width, short=short))
    needed = {one.id: 2 + (least if one.id == "why" else one.width) for one in known.values()}
    chosen, room = _chosen(asked, more, needed, width - SIGN_CELLS - name_cells)
    wider = min(longest - name_cells, MAX_NAME_CELLS - name_cells, room // 2, max(room, 0))
    name_cells, room = name_cells + wider, room - wider
    if "metric" in chosen:
        title = max(map(cell_width, found.metrics), default=0)
        wider = min(title - known["metric"].width, room // 2)
        if wider > 0:
            known["metric"] = known["metric"]._replace(width=known["metric"].width + wider)
            room -= wider
    if "why" not in chosen:
        name_cells += min(longest - name_cells, max(room, 0))
    known["name"] = _Cells("name", "run", name_cells, column_named("name"))
    known["why"] = known["why"]._replace(width=least + max(room, 0))
    others = [one.id for one in added if one.id not in _COLUMN_ORDER]
    positions = [name for position in _COLUMN_ORDER for name in (others if position == "" else [position])]
    return [known[name] for name in positions if name == "name" or name in chosen]


def _all_fits(state: AppState, found: RunListing, known: Mapping[str, _Cells], width: int) -> bool:
    """Whether whole names and whole reasons leave room for the values and the step."""
    if found.why_cells is None:
        return False
    values = (known[name].width + 2 for name in VALUES if name in known and name not in found.lacking)
    reason = max(found.why_cells, cell_width("why")) + 2
    return SIGN_CELLS + run_list.longest_name(state) + sum(values) + reason <= width


def _known_columns(found: RunListing, added: Sequence[RunColumn], width: int) -> dict[str, _Cells]:
    """By id the columns that there are for these runs, with their usual widths."""
    mixed = len(found.metrics) > 1 and found.group != BY_METRIC
    known = {one.id: _Cells(one.id, one.word, one.width, one) for one in added}
    for name in _BY_IMPORTANCE:
        column = column_named(name)
        if name == TREND:
            known[TREND] = _Cells(TREND, "trend", 24 if width >= 150 else 12)
        elif column is not None and (name != "metric" or mixed) and name not in known:
            word = "best @step" if name == "best" else column.word
            cells = 9 if name == "step" else column.width
            if name == "best" and found.best_cells:  # leaves room for reasons; the title may have an arrow
                cells = min(max(found.best_cells, cell_width(word) + 2), cells)
            known[name] = _Cells(name, word, cells, column)
    return known


def _room_of_names(width: int, *, short: bool) -> int:
    """Cells for names before other columns get theirs. short: whether reasons leave room."""
    if width < VERY_NARROW:
        return width * NAME_PERCENT_VERY_NARROW // 100
    share = NAME_PERCENT if width >= NARROW or not short else NAME_PERCENT_BESIDE_SHORT
    return max(width * share // 100, MIN_NAME_CELLS)


def _chosen(
    asked: Sequence[str], more: Sequence[str], needed: dict[str, int], room: int
) -> tuple[set[str], int]:
    """The columns that fit, and the cells that they leave: those asked for, then more by their importance."""
    chosen = set()
    for name in (*asked, *more):
        if needed[name] <= room:
            chosen.add(name)
            room -= needed[name]
        elif name not in asked:
            break  # nor are less important columns shown: names and reasons get the room
    return chosen, room


def _heading(group: RunGroup, width: int) -> Line:
    """The name of a group, its number of runs, and their outcome."""
    spans: list[Span] = [
        (f" {fit(group.name, max(width // 3, 12))} ", "strong"),
        (f"{len(group.runs)}  ", "dim"),
    ]
    for health, count, role in group.healths:
        spans.append((f"{HEALTH_GLYPH[health]}{count} ", role))
    return crop(line(*spans, (f"  {group.outcome}", "text")), width)


def _line(state: AppState, run: RunFacts, title: str, columns: list[_Cells], width: int) -> Line:
    view = run.view
    state_role = "warn" if run.liveness.cut_short else STATE_ROLE.get(run.liveness.shown_state, "dim")
    spans: list[Span] = [
        sign_of(state, view),
        (f"{STATE_GLYPH.get(run.liveness.shown_state, '?')} ", state_role),
        (f"{HEALTH_GLYPH.get(run.health, '?')} ", health_role(run)),
        (pad(title, columns[0].width), "strong" if view is shown_run.run(state) else "text"),
    ]
    for cells in columns[1:]:
        spans.append(("  ", "text"))
        if cells.column is None:
            spans += _trend(run, cells.width)
            continue
        text = cells.column.text(run)
        if cells.id == "metric":
            text = short_title(text, cells.width)
        elif cells.id == "step":
            text = step_text(run, cells.width)
        role = cells.column.role(run) if cells.column.role is not None else "text"
        if cells.id == "why":
            role = _why_role(run)
            text = fitted_summary(text, cells.width)
        spans.append((pad(text, cells.width, right=cells.right), role))
    return crop(line(*spans), width)


def _reason(reason: _Reason, width: int) -> Line:
    """The reason of a run in a line of its own, below its name."""
    text = fitted_summary(reason.run.why, width - SIGN_CELLS - 3)
    return line((" " * SIGN_CELLS, "faint"), ("└ ", "dim"), (text, _why_role(reason.run)))


def _why_role(run: RunFacts) -> str:
    """The role of the reason; for a healthy run the reason is that it has stalled or ended early."""
    return health_role(run) if run.health != "ok" else "warn"


def _trend(run: RunFacts, cells: int) -> list[Span]:
    spark = run.trend(cells)
    if spark is None:
        return [(" " * cells, "text")]
    return in_roles(pad(spark.text, cells), "accent", dict.fromkeys(spark.marks, "bad"))

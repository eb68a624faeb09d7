"""Panes of cards: the overview with findings and, where there is room, the other runs; pinned metrics."""

from __future__ import annotations

from collections.abc import Sequence

from rltui.common.display_text import cell_width, count_of, pad
from rltui.draw.cells import BLANK, Line, Span, cut_sentence, empty_lines, line, wrap
from rltui.draw.numbers import format_age
from rltui.draw.symbols import HEALTH_GLYPH, STATE_GLYPH, STATE_ROLE
from rltui.panes.answers.pane_answers import outcome_sentence
from rltui.panes.pane import PaneView, overview_pane
from rltui.panes.pane_tabs import PANES
from rltui.panes.render.cards import MetricCard, card_grid, cards_lines, most_findings, overview_lines
from rltui.panes.render.lines.header_lines import finding_lines
from rltui.panes.render.lines.pane_lines import short_title
from rltui.panes.rows.key_rows import key_rows
from rltui.panes.rows.row import Row
from rltui.panes.runs.listed_run import fitted_summary, summary_of
from rltui.rules.finding import Finding, unexplained
from rltui.screen import shown_run
from rltui.screen.pages.chart.compared_run_names import card_style
from rltui.screen.pages.page import Page, PanePage, Spot, card_spots
from rltui.screen.shown_pane import cards
from rltui.screen.shown_pane import rows as shown_rows
from rltui.screen.state import PINNED, AppState
from rltui.session.run_view import RunView

MIN_REASON_CELLS = 20  # for the reason why another run is not healthy


def overview_page(state: AppState, width: int, height: int) -> Page:
    """Findings, cards and, if there is room, the other runs; rows instead of cards on small screens."""
    view = shown_run.run(state)
    if view is None:
        return Page()
    rows, constants = cards(state)
    findings = shown_run.unacknowledged(state)
    most = 0 if height < 20 or len(state.session.runs) < 2 else 3 if height < 36 else 5
    runs = _other_runs(state, view, width, most)
    if not rows and (ends := _failed_start(state, view, findings, width, height - len(runs.lines))):
        return ends.below(runs)
    if height < 11 or width < 34 or state.saved.density == "compact":
        top = _lead(state, findings, width, height, 1 if height < 11 else 3)
        from rltui.screen.pages.pane_page import pane_page  # as in `page_registry`

        made = overview_pane(rows, (), shown_run.window(state, view))
        return top.below(pane_page(state, made, width, height - len(top.lines), column_words=False))
    room = height - len(runs.lines)
    tag = state.selection.rows.get("overview", "")
    at = next((index for index, row in enumerate(rows) if row.tag == tag), 0 if rows else -1)
    lead = _lead(state, findings, width, room, most_findings(room))
    lines, drawn = overview_lines(
        overview_pane(rows, constants, shown_run.window(state, view)), lead.lines, width, room,
        card_style(state), selected=at, full=state.saved.density == "full",
    )  # fmt: skip
    page = _cards_page(state, lines, drawn, rows)
    page.spots += lead.spots
    page.lines = (page.lines + [BLANK] * room)[:room]
    return page.below(runs)


def pinned_page(state: AppState, width: int, height: int) -> Page:
    """A card for each pinned metric, as large as possible; rows if the cards do not fit."""
    found, pane, view = shown_rows(state), PANES[PINNED], shown_run.run(state)
    if not found or view is None:
        return Page([BLANK, *empty_lines(pane.empty, width)][:height])
    window = shown_run.window(state, view)
    fitting = card_grid(len(found), width - 2, height, full=True)[1]
    if fitting < len(found) or width < 34 or state.saved.density == "compact":
        from rltui.screen.pages.pane_page import pane_page  # as in `page_registry`

        made = PaneView(pane.id, pane.title, tuple(found), window)
        return pane_page(state, made, width, height, column_words=False)
    at = next((index for index, row in enumerate(found) if row.tag == state.selection.row), 0)
    lines, drawn = cards_lines(found, window, width, height, card_style(state), selected=at, full=True)
    return _cards_page(state, lines, drawn, found)


def _failed_start(
    state: AppState, view: RunView, findings: Sequence[Finding], width: int, height: int
) -> Page | None:
    """The end of the console of a run that failed before any metrics; None of another run."""
    if not any(one.end for one in view.consoles):
        return None
    from rltui.panes.render.console_lines import failed_start_lines  # imports readers of consoles

    page = _lead(state, findings, width, height, 1 if height < 11 else 3)
    page.lines += [BLANK] * (height >= 11)
    page.lines += failed_start_lines(view, width, height - len(page.lines))
    page.lines = (page.lines + [BLANK] * height)[:height]
    return page


def _cards_page(state: AppState, lines: list[Line], drawn: Sequence[MetricCard], rows: Sequence[Row]) -> Page:
    """A page of cards; keys need their number of columns."""
    columns = sum(card.y == drawn[0].y for card in drawn) if drawn else 1
    pane = state.drawn_pane._replace(card_columns=columns, cards=len(drawn))
    return Page(lines, card_spots(drawn, rows), pane)


def _lead(state: AppState, findings: Sequence[Finding], width: int, height: int, most: int) -> Page:
    """The findings, at most so many, after what a run without warnings achieves; or warnings about data."""
    count = len(shown_run.file_warnings(state))
    key = state.options.keys.hint_of("pane:findings")
    if count and not findings:
        words = f"{count_of(count, 'warning')} about the data: "
        lead = [line((" ▲ ", "warn"), (words, "warn"), (key, "accent"))]
        return Page(lead, [Spot(0, 0, width, 1, "pane:findings")])
    whole_header = width >= 60 and height > 8
    lead = [] if any(one.rank for one in findings) else _outcome(state, width, 1 if findings else most)
    room = most - len(lead)
    lines = finding_lines(findings, width, room, key, told=whole_header) if room > 0 else []
    told = enumerate(unexplained(findings)[: len(lines)], start=len(lead))
    spots = [Spot(0, index, width, 1, "go-finding", one.id) for index, one in told]
    return Page([*lead, *lines], spots)


def _outcome(state: AppState, width: int, most: int) -> list[Line]:
    """What the run achieves, in at most so many lines, before remarks; empty if it logs no outcome."""
    view = shown_run.run(state)
    if view is None:
        return []
    if state.loading is not None:  # the first frame does not wait 20 ms for it, and keeps its line
        return [BLANK]
    sentence = outcome_sentence(view, state.time.at_step)
    parts = wrap(sentence, width - 2) if most > 1 else [cut_sentence(sentence, width - 2)]
    return [line((" " + part, "strong")) for part in parts[:most] if part]


def _other_runs(state: AppState, view: RunView, width: int, most: int) -> Page:
    """The other runs, one per line."""
    known = [other for other in state.session.ordered() if other is not view]
    if most < 1 or not known:
        return Page()
    listed = known if len(known) < most else known[: most - 1]
    titles = [shown_run.short_name(state, other.name) for other in listed]
    names = min(max(cell_width(title) for title in titles), max(width // 3, 12))
    frames = min(max(cell_width(other.framework) for other in listed), 17)
    used = names + frames + 48
    at_step = state.time.at_step
    keys = [key_rows(one, 1, at_step=at_step, findings=()) if used + 30 <= width else [] for one in listed]
    words = max((cell_width(key[0].title) for key in keys if key), default=0)
    words = min(words, width - used - 13)
    page = Page()
    for index, (other, title, key) in enumerate(zip(listed, titles, keys, strict=True)):
        spans = _state_of_run(state, other, pad(title, names), frames)
        if key:
            spans[-1] = (pad(spans[-1][0], 12), spans[-1][1])
            spans += [
                (pad(short_title(key[0].title, words), words), "dim"),
                (pad(key[0].value_text, 11, right=True), "text"),
            ]
        if (rest := width - sum(cell_width(text) for text, _ in spans) - 3) >= MIN_REASON_CELLS:
            found, liveness = unexplained(other.evaluator.findings()), other.liveness(state.now)
            why = summary_of(found, liveness, other.last_error(state.now), other.unjudged)
            spans.append(("   " + fitted_summary(why, rest), "dim"))
        page.lines.append(line(*spans))
        page.spots.append(Spot(0, index, width, 1, "run", other.name))
    if len(listed) < len(known):
        more = f"   and {count_of(len(known) - len(listed), 'more run')}: "
        page.lines.append(line((more, "dim"), (state.options.keys.hint_of("runs"), "accent")))
        page.spots.append(Spot(0, len(page.lines) - 1, width, 1, "runs"))
    return page


def _state_of_run(state: AppState, view: RunView, title: str, frames: int) -> list[Span]:
    """Title, framework in `frames` cells, step, age and health of a run."""
    liveness = view.liveness(state.now)
    health, urgency = shown_run.health(state, view)
    framework = pad(view.framework.replace("unknown", ""), frames)
    step = pad(shown_run.step_text(state, view, 10), 10, right=True)
    return [
        (f" {STATE_GLYPH.get(liveness.shown_state, '?')} ", STATE_ROLE.get(liveness.shown_state, "dim")),
        (title, "text"),
        (f"  {framework}  step {step}  ", "dim"),
        (pad(format_age(liveness.age), 8, right=True) + "  ", "dim"),
        (
            "" if health == "ok" else f"{HEALTH_GLYPH.get(health, '?')} {health}",
            "dim" if urgency == "ok" else "bad" if urgency == "critical" else "warn",
        ),
    ]


def _pinned_notes(state: AppState) -> list[Span]:
    from rltui.screen.pages.pane_page import notes  # as in `page_registry`

    return notes(state)


PAGE = PanePage(overview_page)
PINNED_PAGE = PanePage(pinned_page, notes=_pinned_notes)

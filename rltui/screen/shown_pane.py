"""The rows of the pane shown: filtered, compared with the baseline, cached until something changes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from rltui.panes.answers.answer_inputs import NO_INPUTS
from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.evidence import rows_of_evidence
from rltui.panes.pane import PaneView, pane_view
from rltui.panes.pane_tabs import PANES
from rltui.panes.rows.key_rows import pinned_rows, rows_and_constants
from rltui.panes.rows.row import Row, first_row, rows_of
from rltui.panes.rows.row_tree import folded, folded_answer
from rltui.rules.finding import Finding
from rltui.screen import shown_run
from rltui.screen.state import PINNED, AppState, Cached
from rltui.screen.text_filter import matcher
from rltui.session.run_view import RunView

if TYPE_CHECKING:
    from rltui.panes.baseline.comparison import Difference

CARD_PANES = ("overview", PINNED)  # panes that consist of cards
MANY_ROWS = 300  # from here on a pane is not rebuilt for every point
MAX_NOTES_AGE = 30.0
COMPARISON_SECONDS = 3.0  # between comparisons with the baseline


def differences(state: AppState) -> Mapping[str, Difference] | None:
    """By tag, the difference from the baseline at matched steps, at most a few seconds old."""
    view, base = shown_run.run(state), shown_run.baseline(state)
    if view is None or base is None or base is view or state.time.at_step is not None:
        return None

    def compared() -> Mapping[str, Difference]:
        from rltui.panes.baseline.comparison import compare  # needed only with a baseline

        found = compare(view, base)
        return {one.tag: one for one in found.differences} if found is not None else {}

    key, now = (view.name, base.name), state.options.clock()
    return state.caches.differences.of(key, compared, now=now, seconds=COMPARISON_SECONDS)


def pane(state: AppState) -> PaneView | None:
    """The pane shown, filtered; rebuilt only when its content changes."""
    made = _whole_pane(state)
    return None if made is None else _in_open_branches(made, state)


def _whole_pane(state: AppState) -> PaneView | None:
    """The same with all branches open."""
    view = shown_run.run(state)
    if view is None:
        return None
    selection, time, query, saved = state.selection, state.time, state.metric_query, state.saved
    name = state.shown_pane
    merge, pins = saved.density != "full", shown_run.pinned_tags(state, view)
    found = shown_run.findings(state)
    against = differences(state)
    # Read before the files: data that arrive meanwhile must change the key.
    versions = (state.threads.hparams.version, state.threads.samples.heads_version)
    inputs = shown_run.answer_inputs(state, view, name)
    key = (
        (view.name, len(view.run.series), id(view.names), versions if inputs is not NO_INPUTS else ()),
        (name, merge, time.at_step, time.window, query, tuple(pins)),
        (tuple((one.id, one.severity, one.since_step) for one in found), id(against)),
    )
    cache = state.caches.pane
    asked = cache.value is not None and any(selection.row in one.tags for one in cache.value.constants)
    gather = merge and not query and name not in (*CARD_PANES, "all", "findings") and not asked
    if asked:
        cache.key = None
    if cache.key == key and cache.value is not None:
        again = _refreshed(cache, cache.value, state, view)
        if again is not None:
            return again
    made = pane_view(
        view, name, state.now, time.at_step, share=time.share, merge=merge, pinned=pins,
        against=against, findings=found, inputs=inputs, gather=gather,
    )  # fmt: skip
    if query:
        match = matcher(query)
        rows = tuple(
            replace(row, branch=(), inside=0) for row in made.metrics
            if any(match(words) for words in _filter_words(row))
        )  # fmt: skip
        made = replace(
            made, rows=rows, empty=f"No metric matches {query}.", of=len(made.metrics), answer=None
        )
    cache.key, cache.value, cache.version, cache.time = key, made, view.run.version, state.options.clock()
    return made


def _in_open_branches(made: PaneView, state: AppState) -> PaneView:
    """A pane without the rows in closed branches."""
    if made.pane not in PANES or not PANES[made.pane].tree:
        return made
    branches, selected = state.selection.branches, state.selection.row

    def in_sight() -> tuple[PaneView, PaneView]:
        rows = folded(made.rows, branches, selected)
        answer = folded_answer(made.answer, rows) if made.answer is not None else None
        return made, replace(made, rows=rows, answer=answer)  # `made` is kept, so that its id stays valid

    return state.caches.open_branches.of((id(made), dict(branches), selected), in_sight)[1]


def _refreshed(cache: Cached[PaneView], pane: PaneView, state: AppState, view: RunView) -> PaneView | None:
    """A cached pane, if it is still valid.

    Rows of a large pane look up their values when they are drawn, so that new points need only a new window;
    the counts in its notes may be half a minute old.
    """
    if cache.version == view.run.version:
        return pane
    first = next(iter(pane.metrics), None)
    stale = first is not None and first.main is not view.run.series.get(first.tag)
    if stale or len(pane.rows) <= MANY_ROWS or state.options.clock() - cache.time > MAX_NOTES_AGE:
        return None
    window = shown_run.window(state, view)
    inputs = shown_run.answer_inputs(state, view, pane.pane)
    answer = answer_of(view, pane.pane, state.time.at_step, inputs) if pane.answer is not None else None
    cache.version, cache.value = view.run.version, replace(pane, window=window, answer=answer)
    return cache.value


def _filter_words(row: Row) -> list[str]:
    """The text that a filter searches: title, key and canonical id, for each key of the row."""
    canonical = (row.name.canonical or "") if row.name is not None else ""
    return [f"{row.title} {tag} {canonical}" for tag in row.tags]


def rows(state: AppState) -> list[Row]:
    """The rows that can be selected in the pane shown; in the findings pane the selected evidence."""
    if state.shown_pane == "findings":
        return evidence_rows(state, shown_run.selected_finding(state))
    if state.shown_pane not in CARD_PANES:
        made = pane(state)
        return made.selectable if made is not None else []
    return cards(state)[0]


def cards(state: AppState) -> tuple[list[Row], list[Row]]:
    """The rows of a pane of cards, and the constants, which have no card."""
    view = shown_run.run(state)
    if view is None:
        return [], []
    at_step, against = state.time.at_step, differences(state)
    findings = shown_run.findings(state)
    pins = tuple(shown_run.pinned_tags(state, view)) if state.selection.pane == PINNED else None
    key = (
        view.name, view.run.version, len(view.run.series), id(view.names), pins, at_step, id(against),
        tuple((one.id, one.severity, one.since_step) for one in findings),
    )  # fmt: skip

    def made() -> tuple[list[Row], list[Row]]:
        if pins is None:
            return rows_and_constants(view, at_step=at_step, against=against, findings=findings)
        return pinned_rows(view, pins, at_step=at_step, against=against, findings=findings), []

    return state.caches.cards.of(key, made)


def evidence_rows(state: AppState, finding: Finding | None) -> list[Row]:
    """The metrics of a finding that the run has, in the order in which they moved."""
    view = shown_run.run(state)
    if view is None or finding is None:
        return []
    return rows_of_evidence(view, finding, state.time.at_step, shown_run.findings(state))


def selected(state: AppState) -> Row | None:
    """The selected row of the pane shown."""
    found = rows(state)
    if state.shown_pane == "findings" and found:
        return found[state.selection.evidence % len(found)]
    return next((row for row in found if row.tag == state.selection.row), None) or first_row(found)


def added_rows(state: AppState, row: Row) -> list[Row]:
    """The metrics marked for charts of other metrics, without those of a row."""
    view = shown_run.run(state)
    if view is None:
        return []
    here = (shown_run.own_tag(state, view, tag) for tag in state.selection.added_tags)
    tags = dict.fromkeys(tag for tag in here if tag is not None and tag not in row.tags)
    made = [rows_of(view, [tag], at_step=state.time.at_step, merge=False, findings=()) for tag in tags]
    return [one for some in made for one in some]

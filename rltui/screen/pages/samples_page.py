"""The page of the samples pane: the samples of one step, the selected one visible."""

from __future__ import annotations

from rltui.draw.cells import BLANK, Line, empty_lines
from rltui.logs.sample_layouts.sample import SampleHead
from rltui.panes.context_panes.samples_pane import SamplesPane, parsed_filter, samples_pane, step_at
from rltui.panes.render.lines.samples_lines import (
    ROWS,
    SamplesLayout,
    evaluation_lines,
    samples_lines,
    top_lines,
)
from rltui.run_context.samples.run_samples import RunSamples
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, PanePage, Spot, scrolled
from rltui.screen.state import AppState, PaneDrawn

_NONE = RunSamples()
# Hints that need a sample.
SAMPLE_HINTS = ("open", "sample-sort", "sample-step-back", "sample-step-on", "filter")


def run_samples(state: AppState) -> RunSamples:
    """The samples of the run shown, as far as they have been read."""
    view = shown_run.run(state)
    return (state.threads.samples.of(view.name) if view is not None else None) or _NONE


def samples(state: AppState) -> SamplesPane:
    """The samples of the step shown, filtered and sorted."""
    view, chosen = shown_run.run(state), state.samples
    name, framework = (view.name, view.framework) if view is not None else ("", "")
    version = state.threads.samples.heads_version  # read first: newer data must change the key
    found = run_samples(state)
    step = step_at(found, chosen.step, state.time.at_step)
    wanted, _ = parsed_filter(chosen.query)
    matches = None
    if wanted is not None and wanted.texts and step is not None:
        matches = state.threads.samples.matches(name, found.by_step[step], chosen.query)
    loading = state.threads.samples.loading
    key = (
        name,
        framework,
        version,
        found is _NONE,
        step,
        chosen.step,
        chosen.sort,
        chosen.reverse,
        chosen.query,
        loading,
        matches,
    )
    return state.caches.samples.of(
        key,
        lambda: samples_pane(
            found, step, wanted_step=chosen.step, sort=chosen.sort, reverse=chosen.reverse,
            expression=chosen.query, matches=matches, loading=loading, framework=framework,
        ),
    )  # fmt: skip


def selected_index(state: AppState, pane: SamplesPane) -> int:
    """The index of the selected sample."""
    key = state.selection.rows.get("samples", "")
    return next((index for index, head in enumerate(pane.rows) if head.key == key), 0)


def selected_sample(state: AppState) -> SampleHead | None:
    """The selected sample."""
    pane = samples(state)
    return pane.rows[selected_index(state, pane)] if pane.rows else None


def samples_page(state: AppState, width: int, height: int) -> Page:
    """A summary of the step, column titles, the samples."""
    view, pane = shown_run.run(state), samples(state)
    lines = top_lines(pane, width, 4 if height >= 14 else 1)
    if height >= 24 and (table := evaluation_lines(pane, width, 6)):
        lines += [BLANK, *table]
    if not pane.rows:
        return Page([*lines, BLANK, *empty_lines(pane.empty, width)][:height])
    if lines and height >= 14:
        lines.append(BLANK)
    room = max(height - len(lines) - 1, 1)
    at = selected_index(state, pane)
    top = scrolled(state.drawn_pane.top, at, at, len(pane.rows), room)
    visible = pane.rows[top : top + room]
    name = view.name if view is not None else ""
    summaries = state.threads.samples.summaries(name, visible)
    layout = SamplesLayout(pane, summaries, width)
    page = Page([*lines, layout.head()][-height:], drawn=PaneDrawn(top, max(room - 2, 1)))
    for index, head in enumerate(visible, top):
        page.spots.append(Spot(0, len(page.lines), width, 1, "select", head.key))
        page.lines.append(layout.row(head, selected=index == at))
    return page


def _filtered(state: AppState) -> tuple[str, int, int]:
    pane = samples(state)
    return "sample", len(pane.rows), pane.of


def _text(state: AppState, width: int) -> list[Line]:
    view, pane = shown_run.run(state), samples(state)
    name = view.name if view is not None else ""
    return samples_lines(pane, state.threads.samples.summaries(name, pane.rows[:ROWS]), width)


def _hints(state: AppState, _width: int) -> dict[str, str]:
    return {} if samples(state).of else dict.fromkeys(SAMPLE_HINTS, "")


PAGE = PanePage(samples_page, _filtered, _hints, text=_text)

"""The page of one sample in full, or of the comparison of two responses."""

from __future__ import annotations

from rltui.common.display_text import cell_width, clean, count_of, fit
from rltui.draw.cells import BLANK, Line, Span, fill, line, sides
from rltui.draw.numbers import format_progress, format_short, format_step
from rltui.logs.sample_layouts.sample import Sample, SampleHead
from rltui.panes.render.sample_view import (
    SampleView,
    beside_view,
    difference_view,
    piece_line,
    sample_view,
)
from rltui.screen import shown_run
from rltui.screen.pages.page import Page, fitting, hint_bar, hints_for, short_message
from rltui.screen.pages.samples_page import samples
from rltui.screen.state import AppState, SampleDrawn, SampleOverlay


def sample_details(state: AppState, overlay: SampleOverlay, width: int, height: int) -> Page:
    """Title, the visible lines of the text with matches of the search, hints."""
    room = max(height - 2, 1)
    view = _view(state, overlay, width)
    title = _title(state, overlay, width)
    if isinstance(view, str):
        lines = [title, BLANK, line(("   " + fit(view, width - 4), "dim"))]
        page = Page((lines + [BLANK] * height)[: height - 1], drawn=SampleDrawn(0, room))
        return page.below(_foot(state, overlay, None, width))
    hits = view.find(overlay.query)
    top = min(max(overlay.top, 0), max(len(view.pieces) - room, 0))
    body = [
        piece_line(piece, hits.get(index, ()))
        for index, piece in enumerate(view.pieces[top : top + room], top)
    ]
    lines = [title, *(body + [BLANK] * room)[:room]]
    drawn = SampleDrawn(top, room, tuple(hits))
    return Page(lines, drawn=drawn).below(_foot(state, overlay, view, width, drawn))


def _view(state: AppState, overlay: SampleOverlay, width: int) -> SampleView | str:
    """The text for a width, cached; a message while there is none."""
    run, files = shown_run.run(state), state.threads.samples
    if run is None:
        return "The run is gone."
    sample = files.sample(run.name, overlay.head)
    other = files.sample(run.name, overlay.other) if overlay.other is not None else None
    if sample is None or (overlay.other is not None and other is None):
        return "reading"
    if isinstance(sample, str):
        return sample
    if isinstance(other, str):
        return other
    key = (run.name, overlay.head, overlay.other, overlay.comparison, overlay.unfolded, width)
    return state.caches.sample.of(key, lambda: _made(overlay, sample, other, width))


def _made(overlay: SampleOverlay, sample: Sample, other: Sample | None, width: int) -> SampleView:
    if other is None or overlay.other is None:
        return sample_view(sample, width, unfolded=overlay.unfolded)
    titles = (_words(overlay.head), _words(overlay.other))
    if overlay.comparison == "beside":
        first = overlay.head.step <= overlay.other.step
        pair = (sample, other) if first else (other, sample)
        return beside_view(*pair, width, titles if first else (titles[1], titles[0]))
    return difference_view(sample, other, width, f"- {titles[0]}   + {titles[1]}")


def _words(head: SampleHead) -> str:
    reward = "" if head.reward is None else f", reward {format_short(head.reward)}"
    return clean(f"step {head.step}{reward}")


def _title(state: AppState, overlay: SampleOverlay, width: int) -> Line:
    pane, head = samples(state), overlay.head
    place = next((at for at, one in enumerate(pane.rows, 1) if one.key == head.key), 0)
    left: list[Span] = [(f" step {format_step(head.step)}", "strong")]
    if head.reward is not None:
        left.append((f"  reward {format_short(head.reward)}", "text"))
    right: list[Span] = [(f"sample {place:,} of {len(pane.rows):,} " if place else "", "dim")]
    return sides(left, right, width, back="bar")


def _foot(
    state: AppState,
    overlay: SampleOverlay,
    view: SampleView | None,
    width: int,
    drawn: SampleDrawn | None = None,
) -> Page:
    if overlay.typing:
        found = f"  {count_of(len(drawn.found), 'line')}" if drawn is not None and overlay.query else ""
        left: list[Span] = [
            (" search ", "accent"),
            (overlay.query, "strong"),
            ("▏", "accent"),
            (found, "dim"),
        ]
        return Page([fill(line(*left, back="bar"), width)])
    left = [(" ", "dim")]
    if message := short_message(state, width):
        left.append((message, "strong"))
    elif drawn is not None and view is not None:
        last = min(drawn.top + drawn.rows, len(view.pieces))
        left.append((format_progress(last / max(len(view.pieces), 1)), "dim"))
        if overlay.query:
            left.append((f" · {count_of(len(drawn.found), 'line')} with {fit(overlay.query, 20)}", "mark"))
    folds = view is not None and (view.folded or overlay.unfolded)
    words = {
        "back": "back",
        "left": "samples",
        "sample-fold": ("fold" if overlay.unfolded else "unfold") if folds else "",
        "sample-compare": "compare",
        "sample-step-back": "same prompt, other step",
        "filter": "search",
        "copy": "copy",
    }
    beside = {"left": "right", "sample-step-back": "sample-step-on"}
    room = width - 1 - max(sum(cell_width(text) for text, _ in left) + 2, 10)
    return hint_bar(fitting(hints_for(state.options.keys, words, beside), room), width, left)

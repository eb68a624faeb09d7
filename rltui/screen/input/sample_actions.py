"""Actions in the samples pane and over one sample: order, steps, notable samples, comparing, searching."""

from __future__ import annotations

from collections.abc import Callable

from rltui.draw.numbers import format_short
from rltui.logs.sample_layouts.sample import SampleHead
from rltui.run_context.samples.sample_query import SORT_KEYS, notable, widest_groups
from rltui.run_context.samples.sample_text import as_markdown
from rltui.screen import shown_run
from rltui.screen.input import navigation
from rltui.screen.input.key_table import Command
from rltui.screen.pages.samples_page import run_samples, samples, selected_index, selected_sample
from rltui.screen.state import AppState, SampleOverlay
from rltui.screen.text_filter import edited, next_match

_OF_SAMPLES = ("open", "copy", "sample-compare")
_NOT_FOUND = {  # by notable sample: the actions are `sample-best` and so on
    "best": "no sample of this step has a reward",
    "worst": "no sample of this step has a reward",
    "longest": "no sample of this step says its length",
    "truncated": "no response of this step ended at the length limit",
    "typical": "no sample of this step has both reward and length",
}


# ---- in the list


def perform_in_list(state: AppState, command: Command) -> bool:
    """Do an action in the list of samples; False if the list does not have it."""
    action = command.action
    selected = selected_sample(state)
    if action == "select" and selected is not None and selected.key == command.argument:
        action = "open"
    does = _IN_LIST.get(action)
    if by := navigation.distance(action, state.drawn_pane.rows):
        _move(state, by)
    elif action in _OF_SAMPLES and selected is None:
        state.notify("there is no sample here")
    elif does is not None:
        does(state, command.argument)
    elif (kind := action.removeprefix("sample-")) in _NOT_FOUND:
        _go_to_notable(state, kind)
    else:
        return False
    return True


def _select(state: AppState, head: SampleHead | None) -> None:
    """Select a sample in the list, and show it if a sample is open."""
    if head is None:
        return
    state.selection.row = head.key
    top = state.overlay
    if isinstance(top, SampleOverlay):
        top.head, top.other, top.top = head, None, 0


def _move(state: AppState, by: int) -> None:
    pane = samples(state)
    if pane.rows:
        to = min(max(selected_index(state, pane) + by, 0), len(pane.rows) - 1)
        _select(state, pane.rows[to])


def _open(state: AppState) -> None:
    head = selected_sample(state)
    if head is not None:
        state.overlays.append(SampleOverlay(head))


def _sort(state: AppState) -> None:
    orders = (None, *SORT_KEYS[:3])  # all samples shown are of one step
    chosen = state.samples
    chosen.sort = orders[(orders.index(chosen.sort) + 1) % len(orders)]
    state.notify(f"sorted by {chosen.sort}" if chosen.sort else "in the order of the file")


def _reverse(state: AppState) -> None:
    state.samples.reverse = not state.samples.reverse
    state.notify(
        "the largest first" if state.samples.reverse and state.samples.sort else "the other way round"
    )


def _turn_step(state: AppState, by: int) -> None:
    """Show the next or previous step with samples; after the last one follow the newest."""
    pane = samples(state)
    to = pane.step_after(by)
    if to is None:
        if by > 0:
            state.samples.step = None
        state.notify("the newest samples, as they are written" if by > 0 else "no earlier step has samples")
        return
    state.samples.step = to


def _go_to_notable(state: AppState, word: str) -> None:
    pane = samples(state)
    head = notable(pane.rows).get(word)
    if head is None:
        state.notify(_NOT_FOUND[word])
        return
    _select(state, head)
    state.notify(f"the {word} of {len(pane.rows):,} samples" if word != "truncated" else "a response cut off")


def _go_to_widest_group(state: AppState) -> None:
    """Select the best sample of the group with the widest rewards, or of the next such group."""
    groups = widest_groups(samples(state).rows)
    if not groups:
        state.notify("no group of this step has two rewards")
        return
    best = [max(group, key=_reward) for group in groups]
    at = next((index for index, head in enumerate(best) if head.key == state.selection.row), -1)
    index = (at + 1) % len(groups)
    rewards = [head.reward for head in groups[index] if head.reward is not None]
    _select(state, best[index])
    low, high = format_short(min(rewards)), format_short(max(rewards))
    state.notify(f"a group of {len(groups[index])} with rewards from {low} to {high}")


def _reward(head: SampleHead) -> float:
    return head.reward if head.reward is not None and head.reward == head.reward else float("-inf")


def _copy(state: AppState, head: SampleHead | None) -> None:
    """Copy a sample as Markdown."""
    run = shown_run.run(state)
    sample = state.threads.samples.sample(run.name, head) if run is not None and head is not None else None
    if sample is None or isinstance(sample, str):
        state.notify(sample or "the sample is still being read: press again")
        return
    state.requests.append(("copy", as_markdown(sample)))
    state.notify("copied the sample as Markdown")


def _compare_from_list(state: AppState) -> None:
    _open(state)
    if isinstance(top := state.overlay, SampleOverlay):
        _compare(state, top)


_IN_LIST: dict[str, Callable[[AppState, str], None]] = {
    "open": lambda state, _: _open(state),
    "select": lambda state, key: setattr(state.selection, "row", key),
    "sample-sort": lambda state, _: _sort(state),
    "sample-reverse": lambda state, _: _reverse(state),
    "sample-step-back": lambda state, _: _turn_step(state, -1),
    "sample-step-on": lambda state, _: _turn_step(state, 1),
    "sample-groups": lambda state, _: _go_to_widest_group(state),
    "sample-compare": lambda state, _: _compare_from_list(state),
    "copy": lambda state, _: _copy(state, selected_sample(state)),
    "explain": lambda state, _: state.notify(
        f"a sample has no explanation; {state.options.keys.hint_of('open')} reads it"
    ),
}


# ---- over one sample


def perform(state: AppState, overlay: SampleOverlay, action: str) -> None:
    """Do an action over a sample."""
    does = _OVER_SAMPLE.get(action)
    if by := navigation.distance(action, max(overlay.drawn.rows - 2, 1)):
        overlay.top = max(overlay.top + by, 0)
    elif does is not None:
        does(state, overlay)
    elif (kind := action.removeprefix("sample-")) in _NOT_FOUND:
        _go_to_notable(state, kind)
    else:
        navigation.say_unused(state, action, "over a sample")


def _back(state: AppState, overlay: SampleOverlay) -> None:
    """Leave the search, else the comparison, else the sample."""
    if overlay.query:
        overlay.query = ""
    elif overlay.other is not None:
        overlay.other, overlay.top = None, 0
    else:
        state.overlays.remove(overlay)


def _compare(state: AppState, overlay: SampleOverlay) -> None:
    """Show the difference to the next response of the group, after the last one the sample itself."""
    head = overlay.head
    group = [one for one in _same_prompt(state, head, head.step) if one.key != head.key]
    if not group:
        state.notify("no other response to this prompt at this step")
        return
    other = overlay.other if overlay.comparison == "difference" else None
    at = next((at for at, one in enumerate(group) if other is not None and one.key == other.key), -1)
    overlay.other = group[at + 1] if at + 1 < len(group) else None
    overlay.comparison, overlay.top = "difference", 0


def _turn_prompt(state: AppState, overlay: SampleOverlay, by: int) -> None:
    """Show the response to the same prompt at an earlier or later step, side by side."""
    found = run_samples(state)
    beside = overlay.other if overlay.comparison == "beside" else None
    start = beside.step if beside is not None else overlay.head.step
    steps = [step for step in found.by_step if (step - start) * by > 0 and step != overlay.head.step]
    for step in sorted(steps, reverse=by < 0):
        same = _same_prompt(state, overlay.head, step, named=False)
        if same:
            overlay.other, overlay.comparison, overlay.top = same[0], "beside", 0
            return
    state.notify(f"no {'later' if by > 0 else 'earlier'} step has this prompt")


def _same_prompt(state: AppState, head: SampleHead, step: int, *, named: bool = True) -> list[SampleHead]:
    """The samples of a step with the same prompt, with `named` by their group if it has a name."""
    heads = run_samples(state).by_step.get(step, ())
    if named and head.group is not None:
        return [one for one in heads if one.group == head.group and one.split == head.split]
    if head.prompt == hash(""):  # without prompts only a named group identifies it
        return [one for one in heads if head.group is not None and one.group == head.group]
    return [one for one in heads if one.prompt == head.prompt]


def _fold(state: AppState, overlay: SampleOverlay) -> None:
    overlay.unfolded = not overlay.unfolded


def _search(state: AppState, overlay: SampleOverlay) -> None:
    overlay.query, overlay.typing = "", True


def _next_match(state: AppState, overlay: SampleOverlay, by: int) -> None:
    found = overlay.drawn.found
    if not found:
        key = state.options.keys.hint_of("filter")
        state.notify(
            f"nothing is searched for: {key} searches" if not overlay.query else "not in this sample"
        )
        return
    overlay.top = next_match(found, overlay.top, by)


def typed(state: AppState, overlay: SampleOverlay, key: str) -> bool:
    """Handle a key as text of the search; False if it is not text."""
    if key in ("enter", "escape"):
        overlay.typing = False
        overlay.query = overlay.query if key == "enter" else ""
        if overlay.query and overlay.drawn.found:
            ahead = [at for at in overlay.drawn.found if at >= overlay.top]
            overlay.top = (ahead or overlay.drawn.found)[0]
        return True
    query = edited(overlay.query, key)
    if query is not None:
        overlay.query = query
    return query is not None


_OVER_SAMPLE: dict[str, Callable[[AppState, SampleOverlay], None]] = {
    "back": _back,
    "open": _back,
    "left": lambda state, _: _move(state, -1),
    "right": lambda state, _: _move(state, 1),
    "next-pane": lambda state, _: _move(state, 1),
    "previous-pane": lambda state, _: _move(state, -1),
    "filter": _search,
    "next-finding": lambda state, overlay: _next_match(state, overlay, 1),
    "sample-match-back": lambda state, overlay: _next_match(state, overlay, -1),
    "sample-fold": _fold,
    "sample-compare": _compare,
    "sample-step-back": lambda state, overlay: _turn_prompt(state, overlay, -1),
    "sample-step-on": lambda state, overlay: _turn_prompt(state, overlay, 1),
    "sample-groups": lambda state, _: _go_to_widest_group(state),
    "copy": lambda state, overlay: _copy(state, overlay.head),
}

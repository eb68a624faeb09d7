"""Queries on what the screen shows of a session: the run, its findings, header and tabs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rltui.common.problem import Problem
from rltui.draw.numbers import short_step
from rltui.panes import header as run_header
from rltui.panes.answers.answer_inputs import NO_INPUTS, AnswerInputs, used_by
from rltui.panes.charts.step_window import StepWindow, window_for
from rltui.panes.header import Header
from rltui.panes.pane_tabs import PaneTab, panes_of
from rltui.panes.runs.short_names import short_run_names, with_given_names
from rltui.rules.finding import Finding, explained, health_of, unexplained
from rltui.run_context.hparams.hparams import NO_HPARAMS
from rltui.run_context.spans.logged_spans import NO_SPANS
from rltui.screen.state import CONSOLE, PINNED, SAMPLES, AppState
from rltui.session.run_view import RunView
from rltui.session.time_travel import PastFindings

NEWER_SECONDS = 30.0  # by which another run has to be newer to be shown instead


# ---- runs


def run(state: AppState) -> RunView | None:
    """The run shown: the one chosen, else the one of the last frame, else the one written last."""
    return state.session.runs.get(state.selection.run or "") or newest_run(state)


def newest_run(state: AppState) -> RunView | None:
    """The run written last, unless the one shown is about as new, so that the screen does not alternate.

    Among several of about the same age one with points is preferred, and the baseline comes last.
    """
    base = baseline(state)
    ordered = state.session.ordered()
    ordered = [view for view in ordered if view is not base] or ordered
    if not ordered:
        return None
    current = state.session.runs.get(state.selection.run or "")
    if (
        current is None
        or current is base
        or current not in ordered
        or ordered[0].modified > current.modified + NEWER_SECONDS
    ):
        newest = [view for view in ordered if view.modified >= ordered[0].modified - NEWER_SECONDS]
        return next((view for view in newest if view.run.points), ordered[0])
    return current


def present_again(state: AppState) -> str:
    """Where the way back from an earlier step has led; nothing is live in a run that no longer writes."""
    view = run(state)
    writes = view is not None and view.liveness(state.now).shown_state in ("live", "reading")
    return "live again" if writes else "last step again"


def baseline(state: AppState) -> RunView | None:
    """The run to compare with, if its name is unambiguous."""
    name = state.selection.baseline
    found = state.session.named(name) if name else []
    return state.session.runs[found[0]] if len(found) == 1 else None


def compared_runs(state: AppState, view: RunView) -> list[RunView]:
    """The runs drawn over the charts of the one shown: marked ones in their order, then the baseline."""
    base = baseline(state)
    names = [*state.selection.marked_runs, base.name if base is not None else ""]
    others = [name for name in dict.fromkeys(names) if name != view.name]
    return [state.session.runs[name] for name in others if name in state.session.runs]


def short_name(state: AppState, name: str) -> str:
    """A short unambiguous name of a run."""
    given = state.session.given_names
    key = (len(state.session.runs), next(reversed(state.session.runs), ""), len(given))  # new ones come last
    short_names = state.caches.short_names.of(
        key, lambda: with_given_names(short_run_names(state.session.runs), given)
    )
    short = short_names.get(name, name)
    return state.session.runs[name].shown_name if short == "." and name in state.session.runs else short


def answer_inputs(state: AppState, view: RunView, pane: str) -> AnswerInputs:
    """Data of other files for the answer of a pane, as far as they have been read."""
    used = used_by(pane)
    hparams = state.threads.hparams.of(view) if "hparams" in used else NO_HPARAMS
    samples = state.threads.samples.of(view.name) if "samples" in used else None
    spans = state.threads.hparams.spans_of(view) if "spans" in used else NO_SPANS
    known = hparams is not NO_HPARAMS or samples is not None or spans is not NO_SPANS
    return AnswerInputs(hparams, samples, spans) if known else NO_INPUTS


# ---- findings at the step shown


def past_findings(state: AppState) -> PastFindings | None:
    """The findings at an earlier step that is shown; None if the present is shown."""
    view, step = run(state), state.time.at_step
    if view is None or step is None:
        return None
    key = (view.name, step, view.run.superseded, view.run.points if view.loading else -1)
    return state.caches.past_findings.of(key, lambda: view.findings_at(step))


def findings(state: AppState) -> list[Finding]:
    """The findings of the run, as they were at the step shown; those acknowledged or snoozed come last."""
    view, past = run(state), past_findings(state)
    if view is None:
        return []
    found = view.evaluator.findings() if past is None else list(past.findings)
    now, status = state.options.clock(), state.acknowledgements.status
    found.sort(key=lambda one: bool(status(view.name, one, now)))
    return found


def resolved_findings(state: AppState) -> list[Finding]:
    """The findings resolved at the step shown, latest first; only the last of repeated ones."""
    view, past = run(state), past_findings(state)
    if view is None:
        return []
    history = view.evaluator.history() if past is None else past.history
    times = Counter((one.id, one.metrics) for one in history)
    latest: dict[tuple[str, tuple[str, ...]], Finding] = {}
    for one in history:
        latest.setdefault((one.id, one.metrics), one)
    return [
        one if times[key] < 2 else one._replace(title=f"{one.title or one.id}, last of {times[key]} times")
        for key, one in latest.items()
    ]


def listed_findings(state: AppState) -> list[Finding]:
    """The findings of the pane in order: firing ones with unfolded consequences, then resolved ones."""
    every = findings(state)
    found: list[Finding] = []
    for one in unexplained(every):
        found.append(one)
        found += explained(every, one) if one.id in state.selection.unfolded else []
    return found + resolved_findings(state)


def selected_finding(state: AppState) -> Finding | None:
    """The selected finding of the findings pane."""
    found = listed_findings(state)
    return found[selected_index(state, len(found))] if found else None


def selected_index(state: AppState, count: int) -> int:
    """The index of the selected finding among so many."""
    at = state.selection.rows.get("findings", "0")
    return min(int(at) if at.isdigit() else 0, max(count - 1, 0))


def unacknowledged(state: AppState) -> list[Finding]:
    """The findings that tabs count and the overview shows: neither acknowledged nor snoozed."""
    view = run(state)
    if view is None:
        return []
    return state.acknowledgements.unacknowledged(view.name, findings(state), state.options.clock())


def file_warnings(state: AppState) -> list[Problem]:
    """Warnings about the log files of the run and the LOGDIRs, as the findings pane shows them."""
    view = run(state)
    if view is None:
        return []
    problems = [*view.file_problems(state.options.clock()), *state.session.problems.values()]
    return [one for one in problems if one.level != "info"]


def health(state: AppState, view: RunView) -> tuple[str, str]:
    """The health of a run at the step shown, and its urgency: without acknowledged findings.

    That of other runs at an earlier step is that which is remembered.
    """
    known = state.acknowledgements
    if state.time.at_step is None:
        return view.health, known.urgency(view, state.now)
    if view is run(state):
        found: Sequence[Finding] = findings(state)
    else:
        found = view.findings_at(state.time.at_step, evaluate=False).findings
    return health_of(found), known.urgency(view, state.now, found)


# ---- the frame


def window(state: AppState, view: RunView) -> StepWindow:
    """The steps that panes of a run show."""
    return window_for(view, state.now, share=state.time.share, at_step=state.time.at_step)


def moment_state(state: AppState) -> str:
    """The state shown at an earlier step: `paused` or `past`."""
    return "paused" if state.time.frozen_now is not None and state.time.reached is None else "past"


def header(state: AppState, view: RunView) -> Header:
    """The header of the run at the step shown; an earlier step replaces the state of the run."""
    time = state.time
    head = run_header.header(view, state.now, time.at_step, past_findings(state))
    if time.at_step is not None:
        head = head._replace(moment=moment_state(state), reached=time.reached)
    head = state.acknowledgements.header(head, findings(state), state.options.clock())
    short = short_name(state, view.name)
    whole = short if view.name in state.session.given_names else view.shown_name
    return head._replace(shown_name=whole, given_name="", short_name=short)


def step_text(state: AppState, view: RunView, width: int) -> str:
    """The last step of a run at the step shown, in at most so many cells."""
    last, at_step = view.run.last_step, state.time.at_step
    if last is None:
        return "–"
    return short_step(last if at_step is None else min(last, at_step), width)


def tabs(state: AppState) -> list[PaneTab]:
    """The tabs of the run shown without those hidden; none before any run is known."""
    view, pane = run(state), state.selection.pane
    if view is None:
        return []
    odd = len(file_warnings(state))
    open_ones = unacknowledged(state)
    handled = [one for one in findings(state) if one not in open_ones]
    found = panes_of(view, open_ones, pane, odd, panes_present(state, view), handled)
    return [tab for tab in found if tab.id not in state.saved.hidden or tab.id == pane]


def panes_present(state: AppState, view: RunView) -> tuple[str, ...]:
    """The optional panes that the run has."""
    there = (
        (PINNED, bool(pinned_tags(state, view))),
        (CONSOLE, bool(view.consoles)),
        (SAMPLES, state.threads.samples.has(view.name)),
    )
    return tuple(pane for pane, present in there if present)


def pinned_tags(state: AppState, view: RunView) -> list[str]:
    """The tags of a run that are pinned, also under the tag of another run for the same metric."""
    found = (own_tag(state, view, tag) for tag in state.saved.pins)
    return list(dict.fromkeys(tag for tag in found if tag is not None))


def own_tag(state: AppState, view: RunView, tag: str) -> str | None:
    """The tag of a run for the metric of a tag of any run; None if the run lacks it."""
    if tag in view.run.series:
        return tag
    origin = next((one for one in state.session.runs.values() if tag in one.run.series), view)
    return view.tag_index.first_like(origin.names.name(tag))


def tag_of(state: AppState, canonical: str) -> str | None:
    """The tag of the run shown for a metric of the glossary; None without one."""
    view = run(state)
    return None if view is None else next(iter(view.tag_index.canonical.get(canonical, ())), None)

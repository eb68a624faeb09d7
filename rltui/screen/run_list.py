"""The list of runs as shown: filtered, sorted and grouped; completions of a filter; sister runs."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, Sequence
from itertools import islice
from types import MappingProxyType

from rltui.common.display_text import cell_width
from rltui.common.regex import regex
from rltui.panes.charts.sister_band import seed_sisters
from rltui.panes.runs.run_columns import HPARAM, METRIC, RunOrder, column_named
from rltui.panes.runs.run_expression import NUMBERS, WORDS, parse_expression
from rltui.panes.runs.run_facts import RunFacts
from rltui.panes.runs.short_names import fitted_names, shared_beginning
from rltui.panes.runs.table import (
    BY_METRIC,
    GROUPS,
    Choices,
    RunListing,
    chosen_runs,
    grouped_runs,
    lines_of,
)
from rltui.run_context.hparams.known_hparams import rank
from rltui.screen import shown_run
from rltui.screen.state import AppState
from rltui.session.run_view import RunView
from rltui.session.sister_runs import SisterComparison

SECONDS_PER_RUN = 0.002  # maximum age of facts: those of a run take 0.1 ms
SISTERS_SECONDS = 0.01  # of comparing sister runs in a frame; the rest is done between keys
MAX_RUNS_AT_ONCE = 32  # that are compared in one frame: a millisecond each
NO_COMPARISONS: Mapping[str, SisterComparison] = MappingProxyType({})
MAX_RUNS_COMPARED = 100  # to see whether they have the same outcome
MAX_AGE_SECONDS = 5.0  # after which ages of runs are computed again
MAX_ALIKE_RUNS = 32  # whose settings are read for the bands of cards
MAX_COMPLETIONS = 40  # completions
MAX_RUNS_FOR_CHOICES = 1000  # 35 ms; ten thousand take 330 ms

_LAST_WORD = regex(r"[-!]?([^\s<>=!~|]*)$")


def order_of(state: AppState) -> RunOrder:
    """How runs are sorted."""
    return RunOrder.parse(state.saved.run_order)


def listing(state: AppState, query: str) -> RunListing:
    """The runs that match a filter, cached until options or data change."""
    group, columns = state.saved.run_group, tuple(state.saved.run_columns)
    expression, order = parse_expression(query), order_of(state)
    asks = expression.asks_hparams or any(
        name.startswith(HPARAM) or name == "project" for name in (group, order.column, *columns)
    )
    facts = _facts(state)
    key = (query, order, group, columns, id(facts), state.threads.hparams.version if asks else 0)

    def listed() -> RunListing:
        runs = tuple(chosen_runs(expression, order, facts))
        metrics, column = _metrics(runs[:MAX_RUNS_COMPARED]), column_named(order.column)
        mixed = column is not None and column.by_metric and len(metrics) > 1
        by = group or (BY_METRIC if mixed else "")  # values of different metrics need headings
        groups = tuple(grouped_runs(runs, by)) if by else ()
        if groups:
            runs = tuple(run for one in groups for run in one.runs)
        lines, best = lines_of(runs, groups), column_named("best")
        few = runs if best is not None and len(runs) <= MAX_RUNS_COMPARED else ()
        cells = max((cell_width(best.text(run)) for run in few), default=0) if best is not None else 0
        reasons, tall = None, lines
        if len(runs) <= MAX_RUNS_COMPARED:
            reasons = max((cell_width(run.why) for run in runs), default=0)
            tall = lines_of(runs, groups, reasons=True)
        return RunListing(runs, groups, len(facts), by, metrics, lines, tall, _lacking(runs), cells, reasons)

    return state.caches.runs.of(key, listed)


def prepare(state: AppState, seconds: float) -> bool:
    """Compute the facts of changed runs in advance, for so many seconds. True if there is more to do.

    It takes half a millisecond a run: with a thousand runs the key that opens their list would wait.
    """
    if len(state.session.runs) <= MAX_RUNS_AT_ONCE:
        return False
    end, known, left = time.perf_counter() + seconds, state.caches.prepared_runs, state.caches.unprepared_runs
    if not left:
        left += [name for name, view in state.session.runs.items() if known.get(name) != view.run.version]
    while left:
        view = state.session.runs.get(left.pop())
        if view is not None:
            known[view.name] = view.run.version
            _ = RunFacts(view, state.now, state.run_hparams).outcome  # its health is asked for, too
        if time.perf_counter() >= end:
            break
    return bool(left)


def _facts(state: AppState) -> list[RunFacts]:
    """The facts of all runs; those of many runs may be a moment old, so that no key waits."""
    cache, now = state.caches.run_facts, state.options.clock()
    if len(state.session.runs) <= MAX_RUNS_AT_ONCE:
        _compare_sisters(state)
    key = (len(state.session.runs), state.time.at_step, state.selection.run, id(_comparisons(state)))
    age = now - cache.time
    if cache.key == key and cache.value is not None and 0 <= age < len(cache.value) * SECONDS_PER_RUN:
        return cache.value
    version = sum(view.run.version for view in state.session.runs.values())
    version = version << 20 | len(state.session.waiting())  # they change when these are judged
    if (
        cache.key == key
        and cache.value is not None
        and version == cache.version
        and 0 <= age < MAX_AGE_SECONDS
    ):
        return cache.value
    _compare_sisters(state)
    comparisons = _comparisons(state)
    cache.key, cache.version, cache.time = (*key[:3], id(comparisons)), version, now
    cache.value = [_of_run(state, view, comparisons) for view in state.session.ordered()]
    return cache.value


def _compare_sisters(state: AppState) -> None:
    """Compare runs with their sisters, many runs in several frames."""
    if state.time.at_step is None:
        state.session.compare_sisters(
            None if len(state.session.runs) <= MAX_RUNS_AT_ONCE else SISTERS_SECONDS
        )


def _comparisons(state: AppState) -> Mapping[str, SisterComparison]:
    """The comparisons with sister runs so far; none at an earlier step."""
    return NO_COMPARISONS if state.time.at_step is not None else state.session.sister_comparisons


def facts_of(state: AppState, name: str) -> RunFacts:
    """The facts of a run at the moment shown; for runs other than the one shown as remembered."""
    return _of_run(state, state.session.runs[name], _comparisons(state))


def _of_run(state: AppState, view: RunView, comparisons: Mapping[str, SisterComparison]) -> RunFacts:
    (health, urgency), comparison = shown_run.health(state, view), comparisons.get(view.name)
    return RunFacts(
        view,
        state.now,
        state.run_hparams,
        health=health,
        urgency=urgency,
        at_step=state.time.at_step,
        sister_comparison=comparison,
    )


def _lacking(runs: Sequence[RunFacts]) -> frozenset[str]:
    """Columns that are left out because they have no values, or the same for all of a few runs."""
    if len(runs) > MAX_RUNS_COMPARED:
        return frozenset()
    empty = {
        "share": all(run.share is None for run in runs),
        "eta": all(run.liveness.eta is None for run in runs),
        "framework": len({run.framework for run in runs}) == 1 < len(runs),
    }
    return frozenset(name for name, nothing in empty.items() if nothing)


def _metrics(runs: Sequence[RunFacts]) -> tuple[str, ...]:
    count: dict[str, int] = {}
    for run in runs:
        if (found := run.outcome_title) is not None:
            count[found] = count.get(found, 0) + 1
    return tuple(sorted(count, key=lambda title: -count[title]))


def titles(state: AppState, width: int) -> dict[str, str]:
    """By run, its name in at most so many cells, independent of the filter."""
    key = (len(state.session.runs), next(reversed(state.session.runs), ""), len(state.session.given_names))
    known: dict[int, dict[str, str]] = state.caches.run_titles.of(key, dict)
    if width not in known:
        short = {name: shown_run.short_name(state, name) for name in state.session.runs}
        fitted = fitted_names(short.values(), width)
        known[width] = {name: fitted[one] for name, one in short.items()}
    return known[width]


def longest_name(state: AppState) -> int:
    """Cells of the longest name of all runs."""
    return max((cell_width(name) for name in titles(state, 10**6).values()), default=8)


def sisters(state: AppState, view: RunView, *, everywhere: bool) -> list[RunView]:
    """The sister runs of another one; none while logs are being read.

    everywhere: whether the settings of all runs are read, else only of those named alike.
    """
    if state.time.at_step is not None or state.loading is not None or len(state.session.runs) < 2:
        return []
    cache, now = state.caches.sisters, state.options.clock()
    made_of = (view.name, len(state.session.runs), state.threads.hparams.version)
    keys = [(*made_of, each) for each in (True, everywhere)]
    if cache.value is None or cache.key not in keys or not 0 <= now - cache.time < MAX_AGE_SECONDS:
        others = state.session.ordered() if everywhere else _named_alike(state, view.name)
        cache.key, cache.time = keys[1], now
        cache.value = seed_sisters(view, others, state.run_hparams.digest)
    return cache.value


def _named_alike(state: AppState, name: str) -> list[RunView]:
    """Runs whose names differ in numbers only, as those of seeds do."""
    pattern = re.compile(r"\d+".join(map(re.escape, re.split(r"\d+", name))))
    alike = (one for one in state.session.ordered() if pattern.fullmatch(one.name))
    return list(islice(alike, MAX_ALIKE_RUNS))


# ---- what there is to choose from


def choices(state: AppState) -> Choices:
    """Keys for filters, groups and columns, of the newest runs where there are many.

    Requests the files of hyperparameters.
    """
    cache, now = state.caches.run_choices, state.options.clock()
    age = now - cache.time
    views = state.session.ordered()[:MAX_RUNS_FOR_CHOICES]
    if cache.value is not None and 0 <= age < min(len(views) * SECONDS_PER_RUN, MAX_AGE_SECONDS):
        return cache.value
    if cache.value is None or not 0 <= age < MAX_AGE_SECONDS:
        cache.time = now
        for view in views:
            state.threads.hparams.of(view)
    key = (state.threads.hparams.version, len(state.session.runs), sum(len(one.run.series) for one in views))
    if cache.value is not None and cache.key == key:
        return cache.value
    values: dict[str, set[str]] = {}
    said: dict[str, int] = {}
    given: set[str] = set()  # settings that have a value in some run
    metrics: dict[str, int] = {}
    telling = 0
    for view in views:
        entries = state.run_hparams.of(view)
        telling += bool(entries)
        for name, entry in entries.items():
            values.setdefault(name, set()).add(entry.text)
            said[name] = said.get(name, 0) + 1
            if not entry.unset:
                given.add(name)
        for name in view.tag_index.canonical:
            metrics[name] = metrics.get(name, 0) + 1

    def weight(name: str) -> tuple[int, int, str]:
        place = rank(name)
        return (0 if place is not None else 1, place or 0, name)

    names = sorted(given, key=weight)
    differing = tuple(
        name for name in names if len(values[name]) > 1 or (telling > 1 and said[name] < telling)
    )
    alike = tuple(name for name in names if name not in set(differing))
    cache.key = key
    cache.value = Choices(differing, alike, tuple(sorted(metrics, key=lambda name: (-metrics[name], name))))
    return cache.value


def column_choices(state: AppState) -> list[str]:
    """Ids of columns that can be added, those not shown by default, settings, metrics; none that is empty.

    Columns that are shown are offered in any case, since the same choice removes them.
    """
    found, views = choices(state), state.session.runs.values()
    shown = state.saved.run_columns
    filled = {
        "framework": any(view.framework != "unknown" for view in views),
        "project": any(run.project != "." for run in _facts(state)[:MAX_RUNS_COMPARED]),
        "series": True,
        "points": True,
        "sisters": bool(_comparisons(state)),
    }
    hparams = [f"{HPARAM}{name}" for name in (*found.differing, *found.hparams)]
    offered = [
        *(name for name, any_value in filled.items() if any_value),
        *hparams,
        *(f"{METRIC}{name}" for name in found.metrics),
    ]
    return [*(name for name in shown if name not in offered), *offered]


def group_choices(state: AppState) -> list[str]:
    """Keys for grouping runs; the empty one removes the groups."""
    found = choices(state)
    return ["", *GROUPS, *(f"{HPARAM}{name}" for name in found.differing)]


def completions(state: AppState, query: str) -> list[str]:
    """Completions of the last word of a filter: keys, healths and states, settings, metrics."""
    match = _LAST_WORD.search(query)
    word = match[1].lower() if match is not None else ""
    if match is None or query[match.start(1) - 1 : match.start(1)] in tuple("<>=~|"):
        return []
    found = choices(state)
    hparams = [name.rpartition("/")[2] for name in (*found.differing, *found.hparams)]
    offered = [
        *WORDS,
        *(f"{name}>" for name in NUMBERS),
        *(f"{one}:" for one in ("tag", "finding", "project")),
    ]
    if not word:
        differing = list(dict.fromkeys(name.rpartition("/")[2] for name in found.differing))
        return [*differing[:8], *offered][:MAX_COMPLETIONS]
    begun = [one for one in (*offered, *hparams, *found.metrics) if one.lower().startswith(word)]
    inside = (
        [one for one in (*found.differing, *found.hparams) if word in one.lower()] if len(word) > 1 else []
    )
    return [one for one in dict.fromkeys((*begun, *inside)) if one.lower() != word][:MAX_COMPLETIONS]


def completed(query: str, offered: Sequence[str]) -> str:
    """A filter with its last word completed to the common beginning of all completions, else to the first."""
    match = _LAST_WORD.search(query)
    if match is None or not offered:
        return query
    begun = [one for one in offered if one.lower().startswith(match[1].lower())] or list(offered)
    common = shared_beginning(begun)
    return query[: match.start(1)] + (common if len(common) > len(match[1]) else begun[0])

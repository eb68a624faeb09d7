"""The results of tools, read from the logs at each call.

Runs are found by name below the LOGDIRs of the server; no tool accepts a path.
Functions raise click.ClickException, with a message of one line, if a call cannot be answered.
"""

from __future__ import annotations

import contextlib
import fnmatch
import glob
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from rltui.cli.documents.check_document import report
from rltui.cli.documents.comparison_document import baseline_run, comparison_document
from rltui.cli.exit_codes import FOUND
from rltui.cli.follow.wait_conditions import ConditionError, parse_condition
from rltui.cli.follow.waiting import wait
from rltui.cli.options.arguments import resolve_run_name
from rltui.cli.output.printing import NothingReadError, fail
from rltui.cli.reading.loading import load, read_config, run_filter
from rltui.cli.reading.sample_selection import chosen_samples
from rltui.common.display_text import clean, some_of
from rltui.logs.follow.read_all import assign_all
from rltui.many_runs.evaluate_shard import verdict_of
from rltui.many_runs.merged_verdicts import of_session
from rltui.metrics.explain_key import nearest
from rltui.panes.explanations import definition_of, explained_entries
from rltui.panes.runs.run_facts import nearest_tags, tags_of
from rltui.panes.runs.selection import RunSelection, hparams_below
from rltui.rules.finding import RUN_HEALTHS
from rltui.run_context.samples.indexes_by_run import sample_indexes_of
from rltui.run_context.samples.sample_query import FilterError, parse_filter
from rltui.run_context.samples.sample_text import as_json
from rltui.session.run_view import RunView
from rltui.session.session import Session
from rltui.store.series import Series

Arguments = Mapping[str, Any]  # validated against the tool's input schema, including defaults
Answer = dict[str, Any]

_SAMPLES_SECONDS = 60.0  # maximum time to find samples
_MAX_NAMES = 5  # of runs in a message
_WORST_FIRST = RUN_HEALTHS[::-1]


def list_runs(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """Runs, the worst first, each with its most important finding."""
    session = _load(logdirs, arguments.get("run"), charts=False)
    now = time.time()
    session.update_liveness_findings(now)
    views = [
        view for view in session.ordered() if view.health in arguments.get("health", RUN_HEALTHS)
    ]  # fmt: skip
    views.sort(key=lambda view: _WORST_FIRST.index(view.health))
    return {"runs": [_run(view, now) for view in views[: arguments["limit"]]], "total": len(views)}


def _run(view: RunView, now: float) -> Answer:
    found = view.evaluator.findings()
    first = {"finding": found[0].message, "since_step": found[0].since_step} if found else {}
    return {**verdict_of(view, now).describe(), "metrics": len(view.run.series), **first}


def check(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """The document of `rltui check --json`, with the worst run first."""
    at_step = arguments.get("at_step")
    session = _load(logdirs, arguments.get("run"), at_step, charts=False)
    document = report(of_session(session, at_step=at_step), logdirs, at_step)
    runs = sorted(document["runs"], key=lambda run: _WORST_FIRST.index(run["health"]))
    return {**document, "runs": runs[: arguments["limit"]], "total": len(runs)}


def explain(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """The meanings of a key; with `run` in that run's framework."""
    key, framework = arguments["key"], arguments.get("framework")
    if framework is None and "run" in arguments:
        framework = _one_run(logdirs, arguments["run"], charts=False).framework
    entries = explained_entries(key, framework, read_config(tuple(logdirs))) or explained_entries(key)
    definition = definition_of(key)
    if not entries and definition is None:
        near = ", ".join(nearest(key))
        hint = f"nearest: {near}" if near else "list_metrics has the metrics of a run"
        fail(f"{clean(key, 120)}: no metric by this name; {hint}", FOUND)
    told = {} if definition is None else {"definition": definition.as_json()}
    return {"meanings": [entry.as_json() for entry in entries], **told}


def list_metrics(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """The metrics of a run with first and last step and newest value."""
    view = _one_run(logdirs, arguments["run"], charts=False)
    tags = [tag for tag in view.run.series if _matches(view, tag, arguments["metric"])]
    if "pane" in arguments:
        tags = [tag for tag in tags if view.names.name(tag).pane == arguments["pane"]]
    return {
        "run": view.name,
        "framework": view.framework,
        "metrics": [_metric(view, tag) for tag in tags[: arguments["limit"]]],
        "total": len(tags),
    }


def _metric(view: RunView, tag: str) -> Answer:
    name, series = view.names.name(tag), view.run.series[tag]
    return {
        "metric": clean(tag),
        "canonical": name.canonical,
        "title": name.title,
        "pane": name.pane,
        "unit": name.unit,
        "first_step": series.first_step,
        "last_step": series.last_step,
        "last": float(series.last_value) if series.count else None,
        "points": series.count,
    }


def get_series(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """Values of metrics over steps: all points, or statistics of equal ranges if there are too many."""
    view = _one_run(logdirs, arguments["run"])
    wanted = arguments["metrics"]
    chosen = {
        pattern: [tag for tag in view.run.series if _matches(view, tag, pattern)] or tags_of(view, pattern)
        for pattern in wanted
    }
    for pattern, tags in chosen.items():
        if not tags:
            near = ", ".join(clean(tag) for tag in nearest_tags(view, pattern))
            fail(
                f"{clean(pattern, 120)}: {view.name} has no such metric"
                + (f"; nearest: {near}" if near else "")
            )
    tags = list(dict.fromkeys(tag for found in chosen.values() for tag in found))
    return {
        "run": view.name,
        "series": [_series(view, tag, arguments) for tag in tags[: arguments["limit"]]],
        "total": len(tags),
    }


def _series(view: RunView, tag: str, arguments: Arguments) -> Answer:
    series, name, most = view.run.series[tag], view.names.name(tag), arguments["max_points"]
    low, high = _steps(series, arguments)
    head = {"metric": clean(tag), "canonical": name.canonical, "unit": name.unit}
    recent = series.recent()
    if low >= series.exact_from:
        inside = recent.take((recent.step >= low) & (recent.step <= high))
        if len(inside) <= most:
            points = [
                [step, value] for step, value in zip(inside.step.tolist(), inside.value.tolist(), strict=True)
            ]
            return {**head, "exact": True, "fields": ["step", "value"], "points": points}
    columns = series.columns(float(low), float(max(high, low + 1)), most)
    points = [
        [math.ceil(columns.edges[i]), columns.mean[i], columns.low[i], columns.high[i], int(columns.count[i])]
        for i in np.flatnonzero(columns.count + columns.nonfinite).tolist()
    ]
    fields = ["from_step", "mean", "low", "high", "count"]
    return {**head, "exact": False, "fields": fields, "points": points}


def _steps(series: Series, arguments: Arguments) -> tuple[int, int]:
    first, last = series.first_step or 0, series.last_step or 0
    if "around" in arguments:
        around = arguments["around"]
        half = arguments.get("window", max(1, (last - first) // 20))
        return max(first, around - half), min(last, around + half)
    return max(first, arguments.get("from_step", first)), min(last, arguments.get("to_step", last))


def compare_runs(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """The document of `rltui compare --json`."""
    session = load(tuple(logdirs))
    base = baseline_run(session, arguments["baseline"])
    pattern, axis = resolve_run_name(logdirs, arguments.get("run")), arguments["by"]
    names = RunSelection(pattern).names(session.ordered(), time.time(), hparams_below(logdirs))
    if not names:
        _no_matching_run(pattern or "", session.runs)
    others = [view for view in session.ordered() if view is not base and view.name in names]
    if not others:
        fail("no other run to compare with the baseline", FOUND)
    document = comparison_document(logdirs, session, base, others, axis)
    for run in document["runs"]:
        metrics = sorted(run["metrics"], key=lambda metric: not metric["outside"])
        run["total"], run["metrics"] = len(metrics), metrics[: arguments["limit"]]
    return document


def get_samples(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """Rollouts, with long texts shortened in the middle."""
    try:
        wanted = parse_filter(arguments["filter"])
    except FilterError as error:
        fail(f"filter: {error}")
    limit, characters = arguments["limit"], arguments["max_characters"]
    step = arguments.get("step")
    pattern = resolve_run_name(logdirs, arguments.get("run"))
    runs = run_filter(tuple(logdirs), pattern)
    found: list[object] = []
    indexes = sample_indexes_of(logdirs)
    if indexes and not any(map(runs.takes, indexes)):
        named = some_of(sorted(indexes), _MAX_NAMES)
        fail(f"no samples of a run {clean(pattern or '')!r}; runs with samples: {named}", FOUND)
    for run, index in indexes.items():
        if len(found) >= limit:
            break
        if not runs.takes(run):
            continue
        index.refresh(_SAMPLES_SECONDS)
        samples = chosen_samples(
            run,
            index,
            wanted,
            step=None if step is None else str(step),
            group=arguments.get("group"),
            sort=arguments.get("sort"),
            reverse=arguments["reverse"],
        )
        found += [_cut(as_json(run, sample), characters) for sample in islice(samples, limit - len(found))]
    if not found:
        fail("no sample matches; most trainers write samples only when they are told to", FOUND)
    return {"samples": found}


def _cut(value: object, characters: int) -> object:
    """The value with each text shortened to its beginning and its end."""
    if isinstance(value, str) and len(value) > characters:
        half = characters // 2
        return f"{value[:half]} … {len(value) - 2 * half} characters left out … {value[-half:]}"
    if isinstance(value, Mapping):
        return {key: _cut(item, characters) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cut(item, characters) for item in value]
    return value


def wait_for(logdirs: Sequence[str], arguments: Arguments) -> Answer:
    """The document of `rltui wait --json`."""
    try:
        conditions = [parse_condition(text) for text in arguments["until"]]
    except ConditionError as error:
        fail(f"until: {error}")
    return wait(
        logdirs,
        read_config(tuple(logdirs)),
        conditions,
        run_glob=resolve_run_name(logdirs, arguments.get("run")),
        timeout=arguments["timeout"],
        events=False,
    )


def _load(
    logdirs: Sequence[str], run: str | None, at_step: int | None = None, *, charts: bool = True
) -> Session:
    """The runs that a name, some folders of a name, a glob or an expression selects."""
    try:
        return load(tuple(logdirs), resolve_run_name(logdirs, run), at_step, charts=charts)
    except NothingReadError as error:
        if run is None or all(each["code"] != "no-matching-run" for each in error.diagnostics):
            raise
        _no_matching_run(run, {log.run for log in assign_all(logdirs)[0] if log.duplicate_of is None})


def _no_matching_run(run: str, names: Collection[str]) -> NoReturn:
    close = get_close_matches(run, names, n=3, cutoff=0.5)
    hint = f"nearest: {', '.join(close)}" if close else f"there are {some_of(sorted(names), _MAX_NAMES)}"
    fail(f"no run matches {clean(run)!r}; {hint}; list_runs has all", FOUND)


def _one_run(logdirs: Sequence[str], name: str, *, charts: bool = True) -> RunView:
    """The run with this name. Raises an error if there is none, or more than one."""
    with contextlib.suppress(NothingReadError):  # a full name may have the characters of a glob
        return baseline_run(load(tuple(logdirs), glob.escape(name), charts=charts), name)
    session = _load(logdirs, name, charts=charts)
    return next(iter(session.runs.values())) if len(session.runs) == 1 else baseline_run(session, name)


def _matches(view: RunView, tag: str, pattern: str) -> bool:
    return (
        tag == pattern
        or view.names.name(tag).canonical == pattern
        or ("*" in pattern and fnmatch.fnmatchcase(tag, pattern))
    )


ANSWERS: Mapping[str, Callable[[Sequence[str], Arguments], Answer]] = {
    "list_runs": list_runs,
    "check": check,
    "explain": explain,
    "list_metrics": list_metrics,
    "get_series": get_series,
    "compare": compare_runs,
    "get_samples": get_samples,
    "wait": wait_for,
}  # by the name of the tool

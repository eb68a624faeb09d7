"""`rltui doctor`: a report on versions, terminal, configuration, and how logs are read."""

from __future__ import annotations

import locale
import os
import platform
import sys
import time
from collections import Counter
from importlib import metadata
from typing import Any

import click

from rltui import __version__
from rltui.alerts.receivers import summary
from rltui.cli.options.arguments import JSON, REQUESTS, LogDir, readable_logdirs
from rltui.cli.output.printing import emit, emit_json, emit_text
from rltui.cli.reading.job_report import job_lines, job_report
from rltui.common.display_text import clean, count_of
from rltui.common.problem import Problem
from rltui.common.writable_paths import config_file
from rltui.config import load_config
from rltui.draw.numbers import format_bytes, format_seconds, format_share
from rltui.draw.themes import load_themes
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import Deliveries
from rltui.many_runs.merged_verdicts import all_diagnostics
from rltui.metrics.catalogue import catalogue
from rltui.metrics.config_snippet import snippet
from rltui.metrics.resolve import MetricNames
from rltui.panes.unknown_metrics import unknown_metrics
from rltui.rules.rulebook import rulebook
from rltui.run_context.console.run_consoles import RunConsoles
from rltui.session.run_view import RunView
from rltui.session.session import Session

LIBRARIES = [
    "textual",
    "numpy",
    "watchdog",
    "plotext",
    "tbparse",
    "click",
    "orjson",
    "google-crc32c",
    "pyarrow",
]
TRUE_COLOR = 1 << 24
READ_SECONDS = 30.0  # maximum time for reading logs
MAX_KEYS = 15  # unrecognised keys that are listed without --json


@click.command(name="doctor")
@click.argument("logdirs", metavar="[LOGDIR ...]", nargs=-1, type=LogDir())
@JSON
@REQUESTS
def command(logdirs: tuple[str, ...], as_json: bool) -> None:
    """Report versions, terminal, file systems, how changes are noticed, configuration, unrecognised metrics.

    \b
    Examples:
      rltui doctor
      rltui doctor /scratch/me/runs
      rltui doctor runs/ --json | jq .unrecognised
    """
    logdirs, _ = readable_logdirs(logdirs)
    report: dict[str, Any] = {
        "schema": 1,
        "versions": _versions(),
        "terminal": _terminal(),
        "config": _config(logdirs),
    }
    if logdirs:
        report |= _logs(logdirs)
    else:
        report["jobs"] = job_report(None, logdirs)
    if as_json:
        emit_json(report)
    else:
        _print(report)


def _versions() -> dict[str, str]:
    found = {"rltui": __version__, "python": platform.python_version(), "system": platform.platform()}
    for library in LIBRARIES:
        try:
            found[library] = metadata.version(library)
        except metadata.PackageNotFoundError:
            found[library] = "missing"
    return found


def _terminal() -> dict[str, Any]:
    environ = os.environ
    term = environ.get("TERM", "")
    colors = 256 if "256" in term else 16
    if environ.get("COLORTERM", "") in ("truecolor", "24bit"):
        colors = TRUE_COLOR
    if "NO_COLOR" in environ or term == "dumb":
        colors = 0
    size = os.get_terminal_size() if sys.stdout.isatty() else None
    return {
        "is_terminal": sys.stdin.isatty() and sys.stdout.isatty(),
        "size": [size.columns, size.lines] if size else None,
        "term": clean(term),
        "colors": colors,
        "encoding": locale.getpreferredencoding(False),
        "multiplexer": "tmux" if "TMUX" in environ else "screen" if "STY" in environ else None,
        "ssh": "SSH_CONNECTION" in environ,
    }


def _config(logdirs: tuple[str, ...]) -> dict[str, Any]:
    config = load_config(logdirs)
    data = (*catalogue().problems, *rulebook().problems, *unknown_metrics(), *load_themes()[1])
    problems = (*config.problems, *MetricNames(config=config).problems, *data)
    own = config_file()
    return {
        "own": clean(str(own)) if own else None,
        "read": [clean(str(path)) for path in config.files],
        "problems": [problem.text for problem in problems],
        "alerts": [f"{name}: {description}" for name, description in summary(config.alerts)],
    }


def _logs(logdirs: tuple[str, ...]) -> dict[str, Any]:
    """Read the logs as `watch` does, and report on it."""
    session, follower = Session(load_config(logdirs)), Follower(logdirs)
    began = time.monotonic()
    deliveries = Deliveries(follower, wait=0.05)
    for each in deliveries:
        session.apply(each)
        if deliveries.at_rest or follower.search.waiting or time.monotonic() - began > READ_SECONDS:
            break
    session.evaluate(force=True)
    status = follower.status()
    session.problems.note(status.problems)
    reports = RunConsoles(logdirs).scan(session.sources())  # consoles carry the numbers of jobs
    session.set_consoles(reports, time.time())
    return {
        "jobs": job_report(session, logdirs),
        "follow": {
            "file_systems": [list(pair) for pair in status.file_systems],
            "noticing": status.noticing,
            "bell": status.events,
            "poll": status.poll,
            "rescan": status.rescan,
            "lag": status.lag,
            "files": status.files,
            "twins": status.duplicates,
            "bytes": status.bytes_known,
            "bytes_read": status.bytes_read,
            "seconds_to_read": time.monotonic() - began,
            "longest_look": status.look_worst,
            "waiting": list(status.waiting),
            "complete": follower.caught_up,
        },
        "remote": [folder.status() for folder in follower.search.remote],
        "runs": [_recognised(view) for view in session.ordered()],
        "unrecognised": _unrecognised(session),
        "diagnostics": [problem.as_json() for problem in _diagnostics(session)],
    }


def _diagnostics(session: Session) -> list[Problem]:
    of_runs = [(*view.run.problems.values(), *view.evaluator.diagnostics()) for view in session.ordered()]
    return all_diagnostics(session.problems.values(), of_runs, session.lineage())


def _print_remote(remote: dict[str, Any]) -> None:
    _say(
        f"Remote: {clean(remote['url'])}: {remote['objects']:,} objects, "
        f"{format_bytes(remote['bytes_copied'])} mirrored in {clean(remote['mirror'])} "
        f"(all mirrors: {format_bytes(remote['disk'])} at most)"
    )
    _say(
        f"  a look every {remote['poll']:g} s while something changes, ever more rarely when nothing does: "
        f"{remote['requests_per_hour']:,.0f} to {remote['idle_per_hour']:,.0f} requests an hour, and 1 or 2 "
        f"for each log that grew; never more than {remote['limit']:,} an hour"
    )
    _say(f"  now {remote['requests']:,} requests in {format_seconds(remote['seconds'])}")


def _recognised(view: RunView) -> dict[str, Any]:
    unknown = sum(not view.names.name(tag).recognised for tag in view.run.series)
    return {
        "run": view.name,
        "framework": view.framework,
        "confidence": view.recognition.confidence,
        "reason": view.recognition.reason,
        "tags": len(view.run.series),
        "unrecognised": unknown,
        "points": view.run.points,
    }


def _unrecognised(session: Session) -> dict[str, int]:
    """Unknown keys, with the number of runs that write them, most frequent first."""
    counts = Counter(
        tag
        for view in session.runs.values()
        for tag in view.run.series
        if not view.names.name(tag).recognised
    )
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _say(text: str) -> None:
    """Print a line of the report; on a terminal it is wrapped with indentation, and paths stay whole."""
    begin = " " * (len(text) - len(text.lstrip()))
    emit_text(text, f"{begin}    ", cut_words=False)


def _print(report: dict[str, Any]) -> None:
    versions, terminal, config = report["versions"], report["terminal"], report["config"]
    _say(f"rltui {versions['rltui']} on Python {versions['python']}, {versions['system']}")
    _say("  " + ", ".join(f"{library} {versions[library]}" for library in LIBRARIES))
    size = "x".join(map(str, terminal["size"])) if terminal["size"] else "no terminal"
    count = terminal["colors"]
    colors = {0: "no colours", TRUE_COLOR: "true colour"}.get(count, f"{count} colours")
    inside = f", inside {terminal['multiplexer']}" if terminal["multiplexer"] else ""
    _say(f"Terminal: {size}, TERM={terminal['term'] or '(unset)'}, {colors}, {terminal['encoding']}{inside}")
    read = ", ".join(config["read"]) or f"none (yours would be {config['own'] or 'nowhere: no home folder'})"
    _say(f"Configuration: {read}")
    for problem in config["problems"]:
        _say(f"  ! {problem}")
    _say(f"Alerts: {'; '.join(config['alerts']) or 'off'}")
    for text in job_lines(report["jobs"]):
        _say(text)
    if "follow" in report:
        _print_logs(report)


def _print_logs(report: dict[str, Any]) -> None:
    follow = report["follow"]
    for place, system in follow["file_systems"]:
        _say(f"Logs: {clean(place)} on {system}")
    _say(f"  {follow['noticing']}")
    _say(
        f"  {count_of(follow['files'], 'log')}, {format_bytes(follow['bytes'])}, "
        f"read in {format_seconds(follow['seconds_to_read'])}; {follow['twins']} of them duplicates"
    )
    for remote in report["remote"]:
        _print_remote(remote)
    if not follow["complete"]:
        _say(f"  not all read within {READ_SECONDS:.0f} s; the figures below are of what was")
    for run in report["runs"]:
        known = f"{run['tags'] - run['unrecognised']} of {count_of(run['tags'], 'key')} known"
        why = f"{format_share(run['confidence'])}: {run['reason']}"
        _say(f"  {run['run']}: {run['framework']} ({why}), {known}")
    for problem in report["diagnostics"]:
        _say(f"  {problem['level']}: {problem['path']}: {problem['message']}")
    unknown = list(report["unrecognised"])
    if not unknown:
        return
    emit()
    _say(
        f"{count_of(len(unknown), 'key')} without an entry in the glossary; panes are made from their names."
    )
    _say("To name them, put into your configuration:")
    emit()
    emit(snippet(unknown[:MAX_KEYS], MetricNames()) + "\n")
    if len(unknown) > MAX_KEYS:
        _say(f"# … and {len(unknown) - MAX_KEYS} more: rltui doctor --json lists them all")

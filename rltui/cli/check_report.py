"""What `check` prints for people, as text or Markdown: the worst run first, since when, what to do."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

from rltui.batch import Problem
from rltui.cli.color import colored
from rltui.cli.loading import as_of
from rltui.draw.cells import wrap
from rltui.draw.numbers import format_age, format_duration, format_short, format_step
from rltui.draw.symbols import (
    HEALTH_GLYPH,
    HEALTH_ROLE,
    SEVERITY_GLYPH,
    SEVERITY_ROLE,
    STATE_GLYPH,
    to_ascii,
)
from rltui.rules.finding import RUN_HEALTHS, Evidence, Finding
from rltui.session.run_view import RunView
from rltui.text import in_markdown

WIDTH = 100
MOST_PROBLEMS = 20
SYMBOLS = {**HEALTH_GLYPH, **SEVERITY_GLYPH, "do": "→", "end": STATE_GLYPH["ended"]}
_WORSE = RUN_HEALTHS[::-1]


def symbols() -> dict[str, str]:
    """The symbols that standard output can show."""
    try:
        "".join(SYMBOLS.values()).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return {name: to_ascii(glyph) for name, glyph in SYMBOLS.items()}
    return SYMBOLS


def grouped(view: RunView) -> list[tuple[Finding, list[Finding]]]:
    """Findings that nothing explains, each with those that it explains, most important first."""
    found = view.evaluator.findings()
    return [
        (finding, [other for other in found if other.explained_by == finding.id])
        for finding in found
        if finding.explained_by is None
    ]


def text_lines(views: Sequence[RunView], problems: Sequence[Problem], at_step: int | None) -> Iterator[str]:
    """The verdict as lines of text, in colour where standard output wants it."""
    roles = {**SEVERITY_ROLE, **HEALTH_ROLE}
    marks = {name: colored(glyph, roles.get(name, "text")) for name, glyph in symbols().items()}
    for view in sorted(views, key=lambda view: _WORSE.index(view.health)):
        found = grouped(view)
        yield f"{marks[view.health]} {colored(view.name, 'strong')}   {_facts(view, at_step)}"
        if view.health == "unjudged":
            yield from (f"      {one}" for one in wrap(_unjudged(view), WIDTH - 6))
        for finding, below in found:
            yield from _finding(finding, below, marks)
        if found:
            yield ""
    if problems:
        yield "Files and data:"
        for problem in problems[:MOST_PROBLEMS]:
            first, *rest = wrap(f"{problem.level}: {problem.path}: {problem.message}", WIDTH - 4) or [""]
            yield f"  {first}"
            yield from (f"    {part}" for part in rest)
        if len(problems) > MOST_PROBLEMS:
            yield f"  and {len(problems) - MOST_PROBLEMS} more; --json has all"
        yield ""
    yield _summary(views, at_step)


def _unjudged(view: RunView) -> str:
    """Why a run could not be judged, as a sentence; empty where it could."""
    why = view.evaluator.unjudged()
    return f"not judged: {why}" if why else ""


def _facts(view: RunView, at_step: int | None) -> str:
    live = view.liveness(as_of(view, at_step))
    step = "no step" if view.run.last_step is None else f"step {format_step(view.run.last_step)}"
    if at_step is not None:
        return " · ".join((view.framework, step))
    facts = [view.framework, live.word, step]
    if live.age is not None:
        facts.append(f"last point {format_age(live.age)}")
    if live.eta is not None:
        facts.append(f"eta {format_duration(live.eta)}")
    if live.quiet:
        facts.append(f"quiet: {live.quiet}")
    return " · ".join(facts)


def _finding(finding: Finding, below: Sequence[Finding], marks: dict[str, str]) -> Iterator[str]:
    since = f"since step {format_step(finding.since_step)}"
    yield f"  {marks[finding.severity]} {finding.title or finding.id}, {since}  [{finding.id}]"
    parts = [finding.message]
    if below:
        parts.append("explains: " + ", ".join(other.title or other.id for other in below))
    parts += [_evidence(item) for item in finding.evidence if finding.symptom]
    if finding.advice and finding.rank:
        parts.append(f"{marks['do']} {finding.advice}")
    if finding.check_next and finding.rank:
        parts.append(f"look next at {', '.join(finding.check_next)}")
    for part in parts:
        yield from (f"      {one}" for one in wrap(part, WIDTH - 6))


def _evidence(item: Evidence) -> str:
    before = "" if item.before is None else f"{format_short(item.before)} to "
    now = "" if item.now is None else format_short(item.now)
    return f"{item.tag}  {before}{now}, since step {format_step(item.since_step)}"


def _summary(views: Sequence[RunView], at_step: int | None) -> str:
    words = [
        f"{count} {health}" for health in _WORSE if (count := sum(view.health == health for view in views))
    ]
    if at_step is None:
        stalled = sum(view.liveness(as_of(view, None)).state == "stalled" for view in views)
        words += [f"{stalled} stalled"] if stalled else []
    else:
        words.append(f"as it was at step {format_step(at_step)}")
    return f"{len(views)} run{'s' * (len(views) != 1)}: {', '.join(words)}"


def markdown_lines(
    views: Sequence[RunView], problems: Sequence[Problem], at_step: int | None
) -> Iterator[str]:
    """The verdict as Markdown: one table, for a chat or the summary of a CI job."""
    yield f"**{in_markdown(_summary(views, at_step))}**"
    yield ""
    yield "| | run | framework | state | step | finding | since step | what to do |"
    yield "|---|---|---|---|---:|---|---:|---|"
    for view in sorted(views, key=lambda view: _WORSE.index(view.health)):
        live = view.liveness(as_of(view, at_step))
        step = "" if view.run.last_step is None else format_step(view.run.last_step)
        head = (SYMBOLS[view.health], view.name, view.framework, live.word, step)
        rows = [
            (f"{SYMBOLS[one.severity]} {one.message}", format_step(one.since_step), one.advice)
            for one, _ in grouped(view)
        ]
        for place, row in enumerate(rows or [(_unjudged(view) or "nothing is wrong", "", "")]):
            cells = (*(head if place == 0 else ("",) * len(head)), *row)
            yield "| " + " | ".join(in_markdown(cell) for cell in cells) + " |"
    for place, problem in enumerate(problems[:MOST_PROBLEMS]):
        line = f"- {problem.level}: {in_markdown(problem.path)}: {in_markdown(problem.message)}"
        yield ("\n" if place == 0 else "") + line
    if len(problems) > MOST_PROBLEMS:
        yield f"- and {len(problems) - MOST_PROBLEMS} more"

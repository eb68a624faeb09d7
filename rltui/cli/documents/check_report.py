"""The output of `check` as text or Markdown: runs and findings, the worst first."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rltui.cli.output.printing import colored, text_width
from rltui.common.display_text import cell_width, count_of, some_of
from rltui.common.markdown_text import in_markdown, markdown_table
from rltui.common.problem import Problem, ProblemLevel, merged
from rltui.draw.cells import wrap
from rltui.draw.numbers import format_age, format_duration, format_moment, format_step
from rltui.draw.symbols import (
    HEALTH_GLYPH,
    HEALTH_ROLE,
    SEVERITY_GLYPH,
    SEVERITY_ROLE,
    STATE_GLYPH,
    to_ascii,
)
from rltui.many_runs.common_findings import CommonFinding, common_findings
from rltui.many_runs.verdict import Verdict
from rltui.rules.finding import RUN_HEALTHS, Evidence, EvidenceName, Finding, unit_of_change
from rltui.rules.run_status.liveness_finding import STATES

WIDTH = 100  # cells of a line, where the terminal is not narrower
MAX_PROBLEMS = 20
MAX_OK_RUNS = 100  # runs without findings that are listed; further ones are counted
MAX_RUN_NAMES = 3  # of a problem that several runs have
LONG = 20  # lines after which the worst runs are named again, where a terminal still shows them
MAX_WORST_RUNS = 5  # that are named there
SYMBOLS = {**HEALTH_GLYPH, **SEVERITY_GLYPH, "do": "→", "end": STATE_GLYPH["ended"]}
_WORSE = RUN_HEALTHS[::-1]
_LEVELS: tuple[ProblemLevel, ...] = ("error", "warning", "info")
Names = Mapping[str, EvidenceName]  # of the keys of a run


def symbols() -> dict[str, str]:
    """The symbols, in ASCII if standard output cannot encode them."""
    try:
        "".join(SYMBOLS.values()).encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return {name: to_ascii(glyph) for name, glyph in SYMBOLS.items()}
    return SYMBOLS


def grouped(verdict: Verdict) -> list[tuple[Finding, list[Finding]]]:
    """Findings that no other explains, each with those that it explains, the most important first."""
    found = list(verdict.findings)
    return [
        (finding, [other for other in found if other.explained_by == finding.id])
        for finding in found
        if finding.explained_by is None
    ]


def text_lines(
    verdicts: Sequence[Verdict], problems: Sequence[Problem], at_step: int | None, logdirs: Sequence[str]
) -> Iterator[str]:
    """The output as text, in colour if standard output supports it."""
    roles = {**SEVERITY_ROLE, **HEALTH_ROLE}
    marks = {name: colored(glyph, roles.get(name, "text")) for name, glyph in symbols().items()}
    details = list(_details(verdicts, problems, at_step, logdirs, marks))
    yield from details
    if len(details) > LONG and len(verdicts) > 1:
        yield from _worst_runs(verdicts, logdirs, marks)
    yield _summary(verdicts, at_step)


def _details(
    verdicts: Sequence[Verdict],
    problems: Sequence[Problem],
    at_step: int | None,
    logdirs: Sequence[str],
    marks: dict[str, str],
) -> Iterator[str]:
    """Each run with its findings, what is wrong with files, and what several runs have in common."""
    last = ""
    for last in _runs(verdicts, at_step, logdirs, marks):
        yield last
    if last:  # findings end with an empty line, a run without any does not
        yield ""
    if problems:
        yield from _files_and_data(problems)
        yield ""
    if common := common_findings(verdicts, at_step=at_step):
        yield "Several runs:"
        for one in common:
            yield from _item(f"  {marks[one.severity]} ", _common(one))
        yield ""


def _runs(
    verdicts: Sequence[Verdict], at_step: int | None, logdirs: Sequence[str], marks: dict[str, str]
) -> Iterator[str]:
    """Each run with its findings, the worst first; runs that are ok beyond `MAX_OK_RUNS` are counted."""
    fine = 0
    for verdict in sorted(
        verdicts,
        key=lambda verdict: (
            _WORSE.index(verdict.health),
            verdict.liveness.state != "stalled" and not verdict.liveness.cut_short,
        ),
    ):
        found = grouped(verdict)
        state = verdict.liveness_finding if at_step is None else None
        if verdict.health == "ok" and not (found or state or verdict.unjudged):
            fine += 1
            if fine > MAX_OK_RUNS:
                continue
        names = {one.tag: one for one in verdict.names}
        yield from _titled(marks[verdict.health], verdict.title(logdirs), _facts(verdict, at_step))
        if verdict.unjudged:
            yield from _indented(_unjudged(verdict))
        for finding, below in found:
            yield from _finding(finding, below, marks, names)
        if state is not None:
            yield from _finding(state, (), marks, names)
        if found or state is not None:
            yield ""
    if fine > MAX_OK_RUNS:
        yield f"{marks['ok']} and {fine - MAX_OK_RUNS:,} more that are ok; `rltui runs` lists all"


def _files_and_data(problems: Sequence[Problem]) -> Iterator[str]:
    """What is wrong with files and their data, the most severe first."""
    yield "Files and data:"
    told = _told(problems)
    for problem in told[:MAX_PROBLEMS]:
        yield from _item("  ", f"{problem.level}: {problem.text}")
    if len(told) > MAX_PROBLEMS:
        yield f"  and {len(told) - MAX_PROBLEMS} more; --json has all"


def _worst_runs(verdicts: Sequence[Verdict], logdirs: Sequence[str], marks: dict[str, str]) -> Iterator[str]:
    """A line for each of the worst runs that have a warning or worse: its name and its first finding."""
    worst = []
    for verdict in sorted(verdicts, key=lambda verdict: _WORSE.index(verdict.health)):
        found = [finding for finding, _ in grouped(verdict) if finding.rank]
        if found:
            worst.append((verdict, found[0]))
    if not worst:
        return
    yield "The worst runs:" if len(worst) > 1 else "The worst run:"
    for verdict, finding in worst[:MAX_WORST_RUNS]:
        words = f"{finding.title or finding.id}, {finding.since}"
        yield from _titled(marks[verdict.health], verdict.title(logdirs), words, indent="  ")
    if len(worst) > MAX_WORST_RUNS:
        more = len(worst) - MAX_WORST_RUNS
        yield f"  and {more:,} more; `rltui runs LOGDIR --sort why` lists the worst runs first"
    yield ""


def _told(problems: Sequence[Problem]) -> list[Problem]:
    """Problems for people: the most severe first, those that say the same of several files as one."""
    same: dict[tuple[str, str], list[Problem]] = {}
    for problem in sorted(merged(problems), key=lambda problem: _LEVELS.index(problem.level)):
        same.setdefault((problem.level, problem.message), []).append(problem)
    return [_of_files(each) for each in same.values()]


def _of_files(same: Sequence[Problem]) -> Problem:
    """One problem for those that several files have: `5 files: ... (a.log, b.log, c.log and 2 more)`."""
    first, *others = same
    if not others:
        return first
    named = some_of([one.path for one in same], MAX_RUN_NAMES)
    return replace(first, path=f"{len(same):,} files", message=f"{first.message} ({named})")


def _common(one: CommonFinding) -> str:
    """`41 runs stalled since 02:10 on node17: sweep/a, sweep/b, sweep/c and 38 more`."""
    count = f"{len(one.runs):,} runs"
    if one.since is not None:
        at = format_moment(one.since, time.time())
        said = f"{count} stalled since {at}{f' on {one.host}' if one.host else ''}"
    else:
        first, last = one.steps or (0, 0)
        steps = f"since step {format_step(first)}"
        if first != last:
            steps = f"since steps {format_step(first)} to {format_step(last)}"
        said = f"{count}: {one.title}, {steps}"
    return f"{said}  ({some_of(one.runs, MAX_RUN_NAMES)})  [{one.kind}]"


def _unjudged(verdict: Verdict) -> str:
    """The reason why a run, or its outcome, could not be judged; empty if both were judged."""
    why = verdict.unjudged
    if verdict.health == "unjudged":
        return f"not judged: {why}"
    return f"outcome not known: {why}" if why else ""


def _facts(verdict: Verdict, at_step: int | None) -> str:
    live = verdict.liveness
    empty = verdict.last_step is None
    step = "no scalars yet" if verdict.last_step is None else f"step {format_step(verdict.last_step)}"
    if at_step is not None:
        return " · ".join((verdict.framework, step))
    facts = [verdict.framework, live.word, step]
    if live.age is not None:
        facts.append(f"{'last written' if empty else live.last_write} {format_age(live.age)}")
    elif not empty:
        facts.append("age unknown")
    if live.eta is not None:
        facts.append(f"eta {format_duration(live.eta)}")
    if live.quiet:
        facts.append(live.quiet)
    return " · ".join(facts)


def _finding(
    finding: Finding, below: Sequence[Finding], marks: dict[str, str], names: Names
) -> Iterator[str]:
    yield f"  {marks[finding.severity]} {finding.title or finding.id}, {finding.since}  [{finding.id}]"
    parts = [finding.message]
    if finding.printed:
        parts.append(f"| {finding.printed}")
    if below:
        parts.append("explains: " + ", ".join(other.title or other.id for other in below))
    if finding.symptom:
        parts += [
            f"{_telling(names, item.tag, item.name)}  {_course(finding, item, names)}, "
            f"since step {format_step(item.since_step)}"
            for item in finding.evidence
        ]
    if finding.advice and (finding.rank or finding.id in STATES):
        parts.append(f"{marks['do']} {finding.advice}")
    if finding.look_next and finding.rank:
        parts.append(f"look next at {', '.join(_telling(names, key, key) for key in finding.look_next)}")
    for part in parts:
        yield from _indented(part)


def _titled(mark: str, name: str, words: str, indent: str = "") -> Iterator[str]:
    """A run and what is said of it, which is below its name where a terminal would break it within a word."""
    head = f"{indent}{mark} {colored(name, 'strong')}"
    whole = cell_width(f"{indent}x {name}   {words}")
    if text_width(whole) == whole:
        yield f"{head}   {words}"
    else:
        yield head
        yield from _indented(words)


def _indented(text: str) -> Iterator[str]:
    """The lines of a text below the name of a run."""
    yield from (f"      {line}" for line in wrap(text, text_width(WIDTH) - 6))


def _item(begin: str, text: str) -> Iterator[str]:
    """The lines of a text in a list. begin: what precedes the first line."""
    room = text_width(WIDTH) - 4
    first, *rest = [text] if cell_width(text) <= room else wrap(text, room)
    yield f"{begin}{first}"
    yield from (f"    {part}" for part in rest)


def _telling(names: Names, tag: str, name: str) -> str:
    """The name of evidence; that of a key that is only a letter with its title."""
    return names[tag].telling if tag == name and tag in names else name


def _course(finding: Finding, item: Evidence, names: Names) -> str:
    """The change of one metric with its unit, as on the screen."""
    return item.course(unit_of_change(finding, item, names[item.tag].unit if item.tag in names else ""))


def _courses(finding: Finding, names: Names) -> str:
    """The evidence of a symptom for a table cell: ` (kl 0.1 → 5, reward 1 → 0)`."""
    if not finding.symptom or not finding.evidence:
        return ""
    courses = (
        f"{_telling(names, item.tag, item.name)} {_course(finding, item, names)}" for item in finding.evidence
    )
    return f" ({', '.join(courses)})"


def _summary(verdicts: Sequence[Verdict], at_step: int | None) -> str:
    healths = Counter(verdict.health for verdict in verdicts)
    words = [f"{healths[health]} {health}" for health in _WORSE if healths[health]]
    if at_step is not None:
        words.append(f"as it was at step {format_step(at_step)}")
    return f"{count_of(len(verdicts), 'run')}: {', '.join(words)}{_silent(verdicts, at_step)}"


def _silent(verdicts: Sequence[Verdict], at_step: int | None) -> str:
    """How many of these runs have stalled or ended early, whatever their health."""
    if at_step is not None:
        return ""
    stalled = sum(verdict.liveness.state == "stalled" for verdict in verdicts)
    early = sum(verdict.liveness.cut_short for verdict in verdicts)
    if len(verdicts) == 1:
        ended = "failed" if verdicts[0].liveness.failed else "ended early"
        return "; it has stalled" if stalled else f"; it {ended}" if early else ""
    told = [f"{count} {what}" for count, what in ((stalled, "stalled"), (early, "ended early")) if count]
    return f"; of these {' and '.join(told)}" if told else ""


def one_line(
    verdicts: Sequence[Verdict], problems: Sequence[Problem], at_step: int | None, logdirs: Sequence[str]
) -> Iterator[str]:
    """The output as one line for a chat or a pager: how many runs are in which state, and the worst ones."""
    told = []
    for verdict in sorted(verdicts, key=lambda verdict: _WORSE.index(verdict.health)):
        found = [finding for finding, _ in grouped(verdict) if finding.rank]
        if at_step is None and not found and (state := verdict.liveness_finding) is not None:
            found = [state] if verdict.liveness.state == "stalled" or verdict.liveness.cut_short else []
        if verdict.health == "unjudged":
            told.append(f"{verdict.title(logdirs)}: {_unjudged(verdict)}")
        elif found:
            told.append(f"{verdict.title(logdirs)}: {found[0].title or found[0].id}, {found[0].since}")
    health = min((verdict.health for verdict in verdicts), key=_WORSE.index)
    more = f"; and {len(told) - MAX_RUN_NAMES:,} more" if len(told) > MAX_RUN_NAMES else ""
    worst = f" · {'; '.join(told[:MAX_RUN_NAMES])}{more}" if told else ""
    yield f"{symbols()[health]} {_summary(verdicts, at_step)}{worst}"


def markdown_lines(
    verdicts: Sequence[Verdict], problems: Sequence[Problem], at_step: int | None, logdirs: Sequence[str]
) -> Iterator[str]:
    """The output as a Markdown table, for a chat or the summary of a CI job."""
    yield f"**{in_markdown(_summary(verdicts, at_step))}**"
    yield ""
    heads = ("", "run", "framework", "state", "step", "finding", "since step", "what to do")
    table = []
    for verdict in sorted(verdicts, key=lambda verdict: _WORSE.index(verdict.health)):
        live = verdict.liveness
        step = "" if verdict.last_step is None else format_step(verdict.last_step)
        head = (SYMBOLS[verdict.health], verdict.title(logdirs), verdict.framework, live.word, step)
        names = {one.tag: one for one in verdict.names}
        rows = [
            (
                f"{SYMBOLS[one.severity]} {one.message}{_courses(one, names)}",
                format_step(one.since_step),
                one.advice,
            )
            for one, _ in grouped(verdict)
        ]
        for position, row in enumerate(rows or [(_unjudged(verdict) or "nothing is wrong", "", "")]):
            cells = (*(head if position == 0 else ("",) * len(head)), *row)
            table.append([in_markdown(cell) for cell in cells])
    yield from markdown_table(heads, table, (4, 6))
    told = _told(problems)
    for position, problem in enumerate(told[:MAX_PROBLEMS]):
        line = f"- {problem.level}: {in_markdown(problem.text)}"
        yield ("\n" if position == 0 else "") + line
    if len(told) > MAX_PROBLEMS:
        yield f"- and {len(told) - MAX_PROBLEMS} more"

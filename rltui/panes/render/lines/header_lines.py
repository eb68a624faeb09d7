"""The header, the tab bar and the list of findings as lines of cells."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from rltui.common.display_text import cell_width, fit
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import Line, Span, cut, cut_sentence, line, sides, wrap
from rltui.draw.numbers import format_progress, format_step
from rltui.draw.symbols import (
    HEALTH_GLYPH,
    HEALTH_ROLE,
    HEALTH_WORD,
    SEVERITY_GLYPH,
    SEVERITY_ROLE,
    STATE_GLYPH,
    STATE_ROLE,
)
from rltui.panes.header import Header
from rltui.panes.pane_tabs import PaneTab
from rltui.panes.render.lines.pane_lines import cut_finding, finding_text
from rltui.rules.finding import NO_POINTS, NOTHING_READ, explained, unexplained

if TYPE_CHECKING:
    from rltui.rules.finding import Finding

OUTCOME_UNKNOWN = "outcome not known"  # shown in place of `healthy` if no outcome is logged
ACKNOWLEDGED = "acknowledged"  # in place of the severity of what is wrong, if all of it is acknowledged
SHORT = 24  # cells; a sentence is not cut to fewer
MAX_NAME_CELLS = 32  # cells; a longer name is replaced by the short name
ADVICE_LINES = 2  # of an only finding on the overview, at most


def header_lines(head: Header, width: int, *, right: Sequence[Span] = (), alone: bool = False) -> list[Line]:
    """Two lines: the run with its progress, and its health. `right`: spans at the end of the second line.

    If there is little room facts are left out, the run's name last. `alone`: only the first line, with a
    glyph for the health.
    """
    first = _run_line(head, width, alone=alone)
    return [first] if alone else [first, _health_line(head, width, right)]


def _run_line(head: Header, width: int, *, alone: bool) -> Line:
    """The name of a run, and at the right end its state and progress. alone: with a glyph for its health."""
    state = f"{STATE_GLYPH.get(head.state, '?')} {head.state_word}"
    # In the order of display, each with a rank: the highest is left out first.
    ranked = [(head.step_text, 0)]
    if (progress := head.liveness.progress) is not None and math.isfinite(progress):
        ranked.append((format_progress(progress), 1))
    ranked.append((head.eta_text if head.state == "live" else "", 2))
    ranked += [(head.rate_text, 6), (head.counter_text, 5), (head.job_text, 4), (head.age_text, 3)]
    ranked = [fact for fact in ranked if fact[0]]
    frame = "" if head.framework == "unknown" else head.framework

    def room() -> int:
        used = cell_width(state) + sum(cell_width(fact) + 3 for fact, _ in ranked) + (6 if alone else 4)
        return width - used - (cell_width(frame) + 3 if frame else 0)

    short = head.short_name or head.given_name or head.shown_name
    name_cells = min(max(cell_width(short), 8), 28)
    while room() < name_cells and (len(ranked) > 1 or frame):
        if len(ranked) > 2 or not frame:
            ranked.remove(max(ranked, key=lambda fact: fact[1]))
        else:
            frame = ""
    if room() < min(name_cells, 8) and head.step is not None:  # a glyph, and the step alone
        state, ranked = state[:1], [(f"step {format_step(head.step)}", 0)]
    if room() < min(name_cells, 8):  # on the narrowest screens only the name and a glyph
        state, ranked = state[:1], []
    tail: list[Span] = [(state, STATE_ROLE.get(head.state, "text"))]
    for index, (fact, _) in enumerate(ranked):
        past = head.state in ("paused", "past") and not index
        tail.append(("   " + fact, STATE_ROLE[head.state] if past else "dim" if index else "text"))
    long = f"{head.given_name} {head.shown_name}".lstrip()
    whole = cell_width(long) <= min(room(), MAX_NAME_CELLS)
    name = long if whole else fit(short, max(room(), 6))
    who: list[Span] = [(f" {name}", "strong"), ("   " + frame if frame else "", "dim")]
    if alone:
        glyph, _, role, _ = _health(head)
        who = [(f" {glyph}", role), *who]
    return sides(who, [*tail, (" ", "text")], width)


def _health_line(head: Header, width: int, right: Sequence[Span]) -> Line:
    """The health of a run, and as much of its sentence as fits before the spans at the right end."""
    glyph, word, role, sentence = _health(head)
    health = f" {glyph} {word}"
    words: list[Span] = [(health, role)]
    if sentence:
        right_cells = sum(cell_width(text) for text, _ in right) + (2 if right else 0)
        room_left = width - cell_width(health) - 4 - right_cells
        fitting = cut_sentence(sentence, max(room_left, 12))
        # The sentence may name the step in its own words: `the run is lost from step 127 on`.
        onset = head.headline.rpartition(" (")[2].removesuffix(")").removeprefix("since ")
        dated = onset in sentence and onset not in fitting  # the onset matters more than the whole sentence
        if dated and cell_width(head.headline) <= room_left:
            fitting = head.headline
        elif dated and cell_width(head.headline) <= width - 4 and not head.acknowledged:
            # The glyph says how severe it is, and the list of runs how many there are.
            words, fitting = [(f" {glyph} ", role), (head.headline, "text")], ""
            right = right if cell_width(head.headline) <= width - 4 - right_cells else ()
        elif fitting.endswith("…"):
            fitting = next((one for one in _shorter(head) if cell_width(one) <= room_left), fitting)
        if fitting.endswith("…") and head.acknowledged:
            title = head.headline.rpartition(" (")[0] or head.headline
            words.append((f"   {cut(title, max(room_left, 0))}", "text"))
        elif fitting.endswith("…") and head.headline:
            # The glyph says how severe it is; half a sentence says nothing.
            title = head.headline.rpartition(" (")[0] or head.headline
            room_left = width - 4 - right_cells
            if room_left < cell_width(title) <= width - 4:
                right, room_left = (), width - 4
            words = [(f" {glyph} ", role), (cut(title, room_left), "text")]
        elif fitting.endswith("…") and head.health in ("ok", "unjudged") and cell_width(fitting) <= SHORT:
            pass  # the glyph and its word suffice; numbers are not cut: `usual gap 2…` is not 20 s
        elif fitting:
            words.append((f"   {fitting}", "text"))
    return sides(words, [*right, (" ", "text")] if right else [], width)


def _shorter(head: Header) -> Iterator[str]:
    """Shorter forms of the sentence: the title of the worst finding, or fewer facts on a silent run."""
    if head.headline:
        yield from (head.headline, head.headline.rpartition(" (")[0] or head.headline)
    elif head.health in ("ok", "unjudged"):
        facts = head.silence_text.split(" · ")
        yield from (" · ".join(facts[:count]) for count in range(len(facts), 0, -1) if facts[0])
        if not head.outcome_known and not facts[0]:  # what is missing is said by the word before it
            yield head.sentence.partition(", but ")[0]


def _health(head: Header) -> tuple[str, str, str, str]:
    """The health of a run, or that it stopped: a glyph, a word, their role, a sentence."""
    no_findings = head.health in ("ok", "unjudged")
    unreadable = head.sentence.startswith(NOTHING_READ)
    if head.silence_text and no_findings and not (unreadable or head.liveness.interrupted):
        glyph = STATE_GLYPH["ended" if head.liveness.cut_short else "stalled"]
        return (glyph, head.silence_word, STATE_ROLE["stalled"], head.end_text)
    if not head.points and no_findings and head.sentence in ("", NO_POINTS):
        if head.step is not None:  # of its end, which is read first
            return ("○", "reading", "dim", "its points are being read")
        return ("○", "waiting", "dim", "no values have been written yet")
    if unreadable:
        return (HEALTH_GLYPH["unjudged"], HEALTH_WORD["unjudged"], HEALTH_ROLE["unjudged"], head.sentence)
    stopped = f"{head.silence_word.capitalize()}: {head.end_text}" if head.silence_text else head.end_text
    parts = (stopped, head.sentence) if no_findings else (head.sentence, stopped)
    sentence = ". ".join(filter(None, parts))
    if head.health == "ok" and not head.outcome_known:
        return (HEALTH_GLYPH["unjudged"], OUTCOME_UNKNOWN, HEALTH_ROLE["unjudged"], sentence)
    if head.acknowledged:
        return (HEALTH_GLYPH.get(head.health, "?"), ACKNOWLEDGED, "dim", sentence)
    word = HEALTH_WORD.get(head.health, head.health)
    return (HEALTH_GLYPH.get(head.health, "?"), word, HEALTH_ROLE.get(head.health, "text"), sentence)


class TabBar(NamedTuple):
    """A drawn tab bar and the position of each tab: (first cell, last cell + 1, pane)."""

    line: Line
    rule: Line
    spots: tuple[tuple[int, int, str], ...]


def tab_bar(tabs: Sequence[PaneTab], active: str, width: int) -> TabBar:
    """One line of tabs and a rule that is heavy below the active one, with as many tabs as fit."""
    labels: list[list[Span]] = []
    for tab in tabs:
        here = tab.id == active
        spans: list[Span] = []
        if tab.key:
            spans.append((f"{tab.key} ", "accent" if here else "faint"))
        spans.append((tab.title, "strong" if here else "dim"))
        if tab.warnings:
            spans.append((f" {SEVERITY_GLYPH[tab.severity]}{tab.warnings}", SEVERITY_ROLE[tab.severity]))
        elif tab.acknowledged:
            spans.append((f" {SEVERITY_GLYPH[tab.severity]}{tab.acknowledged}", "dim"))
        labels.append(spans)
    gap = 3
    if _cells(labels, gap) > width - 2:
        gap = 2
    if _cells(labels, gap) > width - 2:
        # Tabs that only repeat metrics of others are left out first; their keys still work.
        left = [at for at, tab in enumerate(tabs) if tab.id == active or not tab.borrowed]
        tabs, labels = [tabs[at] for at in left], [labels[at] for at in left]
    widths = [sum(cell_width(text) for text, _ in spans) + gap for spans in labels]
    at = next((index for index, tab in enumerate(tabs) if tab.id == active), 0)
    first, last = _visible(widths, at, width - 2)
    spans = [("‹" if first else " ", "dim")]
    rule: list[Span] = [("─", "faint")]
    spots = []
    x = 1
    for index in range(first, last):
        here = index == at
        spans += [(" ", "text"), *labels[index], (" " * (gap - 1), "text")]
        heavy = widths[index] - gap + 2 if here else 0
        rule += [("━" * heavy, "accent"), ("─" * (widths[index] - heavy), "faint")]
        spots.append((x, x + widths[index], tabs[index].id))
        x += widths[index]
    rule.append(("─" * max(width - x, 0), "faint"))
    if last < len(tabs):
        missing = width - 1 - x
        spans.append((" " * max(missing, 0) + "›", "dim"))
    return TabBar(line(*spans), line(*rule), tuple(spots))


def _cells(labels: list[list[Span]], gap: int) -> int:
    return sum(cell_width(text) for spans in labels for text, _ in spans) + gap * len(labels)


def _visible(widths: list[int], at: int, room: int) -> tuple[int, int]:
    """The first tab and the end of those that fit in `room` cells, including `at` and the one after it."""
    first, last, used = 0, 0, 0
    for index, width in enumerate(widths):
        while used + width > room and first < at and index <= at + 1:
            used -= widths[first]
            first += 1
        if used + width > room and index > at:
            break
        used += width
        last = index + 1
    return first, max(last, at + 1)


def finding_lines(
    findings: Sequence[Finding], width: int, most: int, key: str = "", *, told: bool = False
) -> list[Line]:
    """Findings in at most `most` lines, one each: severity, title, onset, advice.

    Findings that a symptom explains are only counted. Without findings the header says all
    there is to say. key: shows the others.
    told: whether the header tells the first one, which is then only its advice if there is no room for both.
    """
    every, findings = findings, unexplained(findings)
    shown = findings if len(findings) <= most else findings[: max(most - 1, 1)]
    lines = []
    rows = min(most, ADVICE_LINES) if len(findings) == 1 else 1  # of the advice on a line of its own
    for index, finding in enumerate(shown):
        rest: list[str] = []
        role = SEVERITY_ROLE[finding.severity]
        text = _fitted_finding(finding, len(explained(every, finding)), width - 4)
        spans: list[Span] = [(f" {SEVERITY_GLYPH[finding.severity]} ", role), (text, role)]
        left = width - 4 - cell_width(text) - 3
        advice = cut_sentence(finding.advice, left) if left > 24 else ""
        alone = told and not index and finding.rank and finding.advice
        cut = advice.endswith("…")  # half an advice is no use where a line of its own has more room
        if advice and (not cut or (finding.rank and not alone)):
            spans.append(("   " + advice, "dim"))
        elif alone:
            parts = wrap(cut_sentence(finding.advice, (width - 6) * rows), width - 6)
            spans[1:] = [("→ ", "accent"), (parts[0], "text")]
            rest = parts[1:]
        lines.append(line(*spans))
        lines += [line(("     " + part, "text")) for part in rest]
    if len(shown) < len(findings) and most > 1:
        more = f"   and {len(findings) - len(shown)} more"
        lines.append(line((f"{more}: " if key else more, "dim"), (key, "accent")))
    return lines


def _fitted_finding(finding: Finding, more: int, room: int) -> str:
    """Title and onset of a finding, and how many it explains if there is room; the step is not cut."""
    text = finding_text(finding)
    if more and cell_width(counted := f"{text} · explains {more} more") <= room:
        return counted
    return text if cell_width(text) <= room else cut_finding(finding, room)

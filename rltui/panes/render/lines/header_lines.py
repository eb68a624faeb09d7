"""What stands above the rows of every pane, as lines of cells: the header, the tab bar, the findings."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from rltui.common.named_tuple import NamedTuple
from rltui.common.text import cell_width, fit
from rltui.draw.cells import Line, Span, cut, cut_sentence, line, sides
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
from rltui.panes.pane_list import PaneTab
from rltui.panes.render.lines.pane_lines import finding_text
from rltui.rules.finding import explained, unexplained

if TYPE_CHECKING:
    from rltui.rules.finding import Finding

OUTCOME_UNKNOWN = "outcome not known"  # the word where nothing is wrong in what was judged
SHORT = 24  # cells; a sentence that is cut to fewer says nothing
NAME_MOST = 32  # cells; of a run in deeper folders the short name says as much


def header_lines(head: Header, width: int, *, right: Sequence[Span] = (), alone: bool = False) -> list[Line]:
    """Two lines: who and how far; how it is. `right` stands at the end of the second line.

    When there is little room the later facts go first, the run's name last. `alone`: one line, which says by
    a sign how the run is.
    """
    glyph, word, role, sentence = _standing(head)
    state = f"{STATE_GLYPH.get(head.state, '?')} {head.state_word or head.state}"
    # In the order of reading, each with its rank: the highest goes first when there is little room.
    ranked = [(head.step_text, 0)]
    if head.progress is not None and math.isfinite(head.progress):
        ranked.append((f"{head.progress:.0%}", 1))
    ranked.append((head.eta_text if head.state == "live" else "", 2))
    ranked += [(head.rate_text, 6), (head.counter_text, 5), (head.job_text, 4), (head.age_text, 3)]
    ranked = [fact for fact in ranked if fact[0]]
    frame = "" if head.framework == "unknown" else head.framework

    def room() -> int:
        used = cell_width(state) + sum(cell_width(fact) + 3 for fact, _ in ranked) + (6 if alone else 4)
        return width - used - (cell_width(frame) + 3 if frame else 0)

    short = head.short_name or head.given_name or head.shown_name
    name_cells = min(max(cell_width(short), 8), 28)  # for less the two sides of a line do not share it
    while room() < name_cells and (len(ranked) > 1 or frame):
        if len(ranked) > 2 or not frame:
            ranked.remove(max(ranked, key=lambda fact: fact[1]))
        else:
            frame = ""
    if room() < min(name_cells, 8):  # the narrowest screens: who, and its sign
        state, ranked = state[:1], []
    tail: list[Span] = [(state, STATE_ROLE.get(head.state, "text"))]
    for index, (fact, _) in enumerate(ranked):
        past = head.state in ("paused", "past") and not index
        tail.append(("   " + fact, STATE_ROLE[head.state] if past else "dim" if index else "text"))
    long = f"{head.given_name} {head.shown_name}".lstrip()
    whole = cell_width(long) <= min(room(), NAME_MOST)
    name = long if whole else fit(short, max(room(), 6))
    who: list[Span] = [(f" {name}", "strong"), ("   " + frame if frame else "", "dim")]
    first = sides([(f" {glyph}", role), *who] if alone else who, [*tail, (" ", "text")], width)
    if alone:
        return [first]
    health = f" {glyph} {word}"
    words: list[Span] = [(health, role)]
    if sentence:
        used = cell_width(health) + 4 + sum(cell_width(text) for text, _ in right) + (2 if right else 0)
        fitting = cut_sentence(sentence, max(width - used, 12))
        if fitting.endswith("…"):
            shorter = (head.headline, head.headline.rpartition(" (")[0])
            fitting = next((one for one in shorter if one and cell_width(one) <= width - used), fitting)
        if fitting.endswith("…") and head.health in ("ok", "unjudged"):
            # The sign and its word say it; of a silence no number is cut: `usual gap 2…` is not 20 s.
            short = head.silence_text.partition(" · ")[0]
            fitting = fitting if cell_width(fitting) > SHORT else short
            fitting = fitting if cell_width(fitting) <= width - used else ""
        if fitting:
            words.append((f"   {fitting}", "text"))
    return [first, sides(words, [*right, (" ", "text")] if right else [], width)]


def _standing(head: Header) -> tuple[str, str, str, str]:
    """How a run is: a sign, a word, their role, a sentence."""
    if head.silence_text and head.health in (
        "ok",
        "unjudged",
    ):  # whatever it wrote was well, but it writes no more
        glyph = STATE_GLYPH["ended" if head.cut_short else "stalled"]
        return (glyph, head.silence_word, STATE_ROLE["stalled"], head.end_text)
    if not head.points and head.health in ("ok", "unjudged"):  # nothing that could be judged
        return ("○", "waiting", "dim", "no values have been written yet")
    sentence = head.sentence
    if head.silence_text:
        sentence = f"{sentence}. {head.silence_word.capitalize()}: {head.end_text}".removeprefix(". ")
    elif head.end_text and head.health in ("ok", "unjudged"):  # nothing else says why it stopped
        sentence = f"{head.end_text}. {sentence}".removesuffix(". ")
    elif head.end_text:
        sentence = f"{sentence}. {head.end_text}".removeprefix(". ")
    if head.health == "ok" and not head.outcome_known:  # silence about it is not health
        return (HEALTH_GLYPH["unjudged"], OUTCOME_UNKNOWN, HEALTH_ROLE["unjudged"], sentence)
    word = HEALTH_WORD.get(head.health, head.health)
    return (HEALTH_GLYPH.get(head.health, "?"), word, HEALTH_ROLE.get(head.health, "text"), sentence)


class TabBar(NamedTuple):
    """A drawn tab bar and where each tab stands: (first cell, last cell + 1, pane)."""

    line: Line
    rule: Line
    spots: tuple[tuple[int, int, str], ...]


def tab_bar(tabs: Sequence[PaneTab], active: str, width: int) -> TabBar:
    """One line of tabs and a rule that is heavy below the active one; far tabs are left out."""
    labels: list[list[Span]] = []
    for tab in tabs:
        here = tab.id == active
        spans: list[Span] = []
        if tab.key:
            spans.append((f"{tab.key} ", "accent" if here else "faint"))
        spans.append((tab.title, "strong" if here else "faint" if tab.empty else "dim"))
        if tab.warnings:
            spans.append((f" {SEVERITY_GLYPH[tab.severity]}{tab.warnings}", SEVERITY_ROLE[tab.severity]))
        labels.append(spans)
    gap = 3
    if _cells(labels, gap) > width - 2:
        gap = 2
    if _cells(labels, gap) > width - 2:
        # Empty panes make room first; their keys work as ever.
        kept = [at for at, tab in enumerate(tabs) if tab.id == active or not tab.empty]
        tabs, labels = [tabs[at] for at in kept], [labels[at] for at in kept]
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
    """The tabs that fit in `room` cells, from the left while that shows `at` and the one after it."""
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


def finding_lines(findings: Sequence[Finding], width: int, most: int, *, health: str = "ok") -> list[Line]:
    """Findings, one line each: severity, what, since when, what to do. At most `most` lines.

    What a symptom explains is counted behind it. health: of the run, which may not have been judged.
    """
    if not findings and health == "unjudged":
        return [line((" ○ ", "dim"), ("nothing was judged", "dim"))]
    if not findings:
        return [line((" ✓ ", "good"), ("nothing to report", "dim"))]
    every, findings = findings, unexplained(findings)
    shown = findings if len(findings) <= most else findings[: max(most - 1, 1)]
    lines = []
    for finding in shown:
        role = SEVERITY_ROLE[finding.severity]
        text = finding_text(finding)
        more = len(explained(every, finding))
        text += f" · explains {more} more" if more else ""
        spans: list[Span] = [(f" {SEVERITY_GLYPH[finding.severity]} ", role), (cut(text, width - 4), role)]
        left = width - 4 - cell_width(text) - 3
        if left > 24 and finding.advice:
            spans.append(("   " + cut_sentence(finding.advice, left), "dim"))
        lines.append(line(*spans))
    if len(shown) < len(findings) and most > 1:
        lines.append(line((f"   and {len(findings) - len(shown)} more: f", "dim")))
    return lines

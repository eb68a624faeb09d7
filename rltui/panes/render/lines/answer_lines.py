"""The answer of a pane as lines of cells: a sentence, facts, a stacked bar, tables, ranges, charts."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rltui.common.display_text import cell_width, pad
from rltui.draw.cells import Line, Span, crop, cut, cut_sentence, line, wrap
from rltui.draw.numbers import format_seconds, format_share
from rltui.draw.sparkline import sparkline
from rltui.draw.symbols import SHADES, segment_look
from rltui.draw.value_range import share_of, shares_of
from rltui.panes.answers.answer import Amount, Answer, Fact, Range, StepPhase, Strip
from rltui.panes.render.answer_pictures import band_lines, gantt_lines, ridge_lines
from rltui.panes.render.lines.device_lines import device_lines

TITLE = 24  # cells of the first column of the table
NUMBER = 9
SHARE = 7
PER_TOKEN = 15
MIN_HISTORY, MAX_HISTORY = 8, 40
ROOMY = 22  # lines of an answer from which charts are taller and more than one
GANTT_FRAME = 2  # lines of a Gantt chart besides its rows: title and scale
MIN_GANTT_ROWS = 3
MIN_TABLE = 4  # lines of the table that a Gantt chart leaves if possible
MAX_FACTS_WITH_STEPS = 3  # whose trends say over how many steps


def answer_lines(answer: Answer, width: int, height: int | None = None, *, bands: bool = True) -> list[Line]:
    """The answer in at most `height` lines; the sentence and the bar are left out last.

    bands: whether to draw bands of distributions, which cards may show instead.
    """
    text = answer.sentence
    most = max(height - bool(answer.shares and height >= 4), 1) if height is not None else None
    if most is not None and len(wrap(text, width - 2)) > most:
        text = cut_sentence(text, most * (width - 2) - 8 * (most - 1))  # lines break before their end
    sentence = [line((" " + part, "strong")) for part in wrap(text, width - 2)]
    bar = _bar(answer, width)
    cut = text != answer.sentence  # what was cut off the sentence is a fact like the others
    facts = _facts(
        [one for one in answer.facts if not one.in_sentence or (cut and one.text not in text)], width
    )
    ranges = [crop(one, width) for one in _ranges(answer, width)]
    strips = [crop(one, width) for strip in answer.strips for one in _strip(strip, width)]
    notes = [line((" " + part, "dim")) for note in answer.notes for part in wrap(note, width - 2)]
    room = 10_000 if height is None else height
    if answer.devices is not None:
        devices = device_lines(answer.devices, width, None if height is None else height - 2)
        tail = devices if height is None or len(devices) + len(sentence) <= height else []
        room = 10_000 if height is None else height - len(sentence) - len(tail)
        facts = facts if len(facts) <= room else []
        notes = notes if len(notes) <= room - len(facts) else []
        return [*sentence, *facts, *tail, *notes]
    table = _table(answer, width) or _amounts(answer, width)
    rows = 6 if room >= ROOMY else 4
    drawn = [
        one
        for band in answer.bands[: 0 if not bands else 1 if room < ROOMY else None]
        for one in band_lines(band, width, rows)
    ]
    ridges = [one for ridge in answer.ridges for one in ridge_lines(ridge, width, rows)]
    fitting = []
    bar = [] if height is not None and height < 4 else bar  # without its legend it says nothing
    for block in (sentence, bar, ranges, facts, drawn, strips, ridges):
        fitting.append(block if len(block) <= room else [])
        room -= len(fitting[-1])
    sentence, bar, ranges, facts, drawn, strips, ridges = fitting
    chart = _gantt(answer, width, 2 * rows, room, len(table))
    room -= len(chart)
    notes = notes if len(notes) <= room - min(len(table), 4) else []
    room -= len(notes)
    if len(table) > room:
        more = len(table) - room + 1
        table = (
            [*table[: room - 1], line((f"   {more} more {answer.amounts_words[0] or 'phase'}s", "dim"))]
            if room >= 3
            else []
        )
    return [*sentence, *facts, *bar, *ranges, *drawn, *table, *strips, *ridges, *chart, *notes]


def _gantt(answer: Answer, width: int, rows: int, room: int, table: int) -> list[Line]:
    """The Gantt chart of a step in at most `rows` rows.

    If there is little room it replaces the table, whose shares are also in the bar.
    """
    if answer.gantt is None:
        return []
    least = min(MIN_GANTT_ROWS, len(answer.gantt.rows))
    above_table = room - GANTT_FRAME - min(table, MIN_TABLE)
    count = min(rows, above_table if above_table >= least else room - GANTT_FRAME)
    return gantt_lines(answer.gantt, width, count) if count >= least else []


def per_token_text(part: StepPhase) -> str:
    """Time per token; `≈` if it is derived."""
    if part.per_token is None:
        return ""
    size = part.per_token
    text = f"{size:.3g} ms/tok" if size >= 1 else f"{1e3 * size:.3g} µs/tok"
    return f"≈ {text}" if part.per_token_derived else text


def phase_times(part: StepPhase) -> tuple[str, str]:
    """Median and 95th percentile as text."""
    return format_seconds(part.median), format_seconds(part.p95)


def _facts(facts: Sequence[Fact], width: int) -> list[Line]:
    """One line with as many facts as fit uncut."""
    spans: list[Span] = []
    for fact in facts:
        trend = fact.trend(steps=width >= 100 and len(facts) <= MAX_FACTS_WITH_STEPS)
        more = [
            (" · " if spans else " ", "faint"),
            ("" if fact.plain else f"{fact.title} ", "dim"),
            (("≈ " if fact.formula else "") + fact.text, "strong"),
            (f" {trend}" if trend else "", "dim"),
        ]
        if spans and sum(cell_width(text) for text, _ in (*spans, *more)) > width:
            break
        spans += more
    return [crop(line(*spans), width)] if spans else []


def _bar(answer: Answer, width: int) -> list[Line]:
    """The stacked bar and its legend."""
    shares = answer.shares
    if not shares:
        return []
    room = width - 2
    cells = _cells([share.share for share in shares], room)
    bar: list[Span] = [(" ", "text")]
    legend: list[tuple[Span, ...]] = []
    for at, (share, count) in enumerate(zip(shares, cells, strict=True)):
        fill, role = segment_look(at) if share.named else ("·", "faint")
        bar.append((fill * count, role))
        legend.append(((fill, role), (f" {share.title} ", "text"), (format_share(share.share), "strong")))
    lines = [line(*bar)]
    current: list[Span] = [(" ", "text")]
    for entry in legend:
        used = sum(cell_width(text) for text, _ in current)
        need = sum(cell_width(text) for text, _ in entry)
        if used + need > width - 1 and len(current) > 1:
            lines.append(line(*current))
            current = [(" ", "text")]
        current += [*entry, ("   ", "text")]
    lines.append(line(*current))
    tail = f"of {answer.shares_of}"
    if lines[-1].width + cell_width(tail) < width:
        lines[-1] = line(*lines[-1].spans, (tail, "dim"))
    return [crop(one, width) for one in lines]


def _cells(shares: Sequence[float], width: int) -> list[int]:
    """Whole cells for shares that add up to one; the largest remainders are rounded up."""
    exact = [share * width for share in shares]
    cells = [math.floor(one) for one in exact]
    order = sorted(range(len(exact)), key=lambda at: cells[at] - exact[at])
    for at in order[: max(width - sum(cells), 0)]:
        cells[at] += 1
    return cells


def _table(answer: Answer, width: int) -> list[Line]:
    """Phases with median, p95, share, time per token and share over time, as far as the columns fit."""
    if not answer.parts:
        return []
    title = min(TITLE, max(width - 2 * NUMBER - SHARE - 3, 8))
    per_token = PER_TOKEN if width >= 76 and any(part.per_token is not None for part in answer.parts) else 0
    shares = any(part.share is not None for part in answer.parts)
    rest = width - 2 - title - 2 * NUMBER - SHARE - per_token - 4
    history = min(rest, MAX_HISTORY) if rest >= MIN_HISTORY else 0
    share = "share" if shares else ""
    columns = (("median", NUMBER), ("p95", NUMBER), (share, SHARE), ("per token", per_token))
    lines = [_table_head("phase", title, columns, history * shares)]
    lines += [_part(part, title, per_token, history) for part in answer.parts]
    return [crop(one, width) for one in lines]


def _table_head(heading: str, title: int, columns: Sequence[tuple[str, int]], history: int) -> Line:
    """The headings of a table: of the titles, of columns with their cells, 0 for none, and of the history."""
    text = "".join(pad(word, cells, right=True) for word, cells in columns if cells)
    over_time = f"   {'share over time' if history >= 15 else 'trend'}" if history else ""
    return line((f" {pad(heading, title)}{text}{over_time}", "faint"))


def _part(part: StepPhase, title: int, per_token: int, history: int) -> Line:
    name = cut("  " * part.depth + part.title, title)
    median, p95 = phase_times(part)
    spans: list[Span] = [
        (" " + pad(name, title), "dim" if part.depth else "text"),
        (pad(median, NUMBER, right=True), "dim" if part.depth else "strong"),
        (pad(p95, NUMBER, right=True), "dim"),
    ]
    if part.share is None:
        return line(*spans, ("  " + part.note, "dim"))
    spans.append((pad(format_share(part.share), SHARE, right=True), "text"))
    spans.append((pad(per_token_text(part), per_token, right=True) if per_token else "", "dim"))
    return line(*spans, *_history(part.history, history))


def _history(values: Sequence[float], cells: int) -> list[Span]:
    """Shares over time as a sparkline from zero; empty without room or with fewer than two values."""
    known = np.array([value for value in values if math.isfinite(value)])
    if not cells or len(known) < 2:
        return []
    edges = np.linspace(0, len(known), min(cells, len(known)) + 1).astype(int)
    means = np.add.reduceat(known, edges[:-1]) / np.diff(edges)
    top = max(float(means.max()), 0.01)
    return [("   ", "text"), (sparkline(means, means, 0.0, top).text, "accent")]


def _amounts(answer: Answer, width: int) -> list[Line]:
    """Amounts with their share and their share over time, as far as the columns fit."""
    if not answer.amounts:
        return []
    headings = answer.amounts_words
    longest = max(cell_width(one.title) for one in answer.amounts)
    title = min(max(longest, cell_width(headings[0])) + 1, TITLE, max(width - SHARE - 3, 8))
    text = max(cell_width(one.text) for one in answer.amounts)
    fits = bool(text) and width - title - SHARE - text >= 6
    text = max(text, cell_width(headings[1])) + 2 if fits else 0
    rest = width - 2 - title - SHARE - text - 3
    history = min(rest, MAX_HISTORY) if rest >= MIN_HISTORY else 0
    over_time = history if any(len(one.history) > 1 for one in answer.amounts) else 0
    lines = [_table_head(headings[0], title, (("share", SHARE), (headings[1], text)), over_time)]
    lines += [_amount(one, title, text, history) for one in answer.amounts]
    return [crop(one, width) for one in lines]


def _amount(one: Amount, title: int, text: int, history: int) -> Line:
    share = format_share(one.share) if one.share is not None else ""
    spans: list[Span] = [
        (" " + pad(cut(one.title, title - 1), title), "text" if one.share is not None else "dim"),
        (pad(share, SHARE, right=True), "strong"),
        (pad(one.text, text, right=True) if text else "", "dim"),
    ]
    if one.note:
        return line(*spans, ("   " + one.note, "dim"))
    return line(*spans, *_history(one.history, history))


def _ranges(answer: Answer, width: int) -> list[Line]:
    """Each range as `├──●──┤` on the scale that all share."""
    if not answer.ranges:
        return []
    title = max(cell_width(one.title) for one in answer.ranges)
    text = max(cell_width(one.text) for one in answer.ranges)
    room = width - title - text - 6
    if room < 8:
        return [line((f" {pad(one.title, title)} ", "text"), (one.text, "dim")) for one in answer.ranges]
    return [
        line((f" {pad(one.title, title)}  ", "text"), *_range(one, answer, room), (f"  {one.text}", "dim"))
        for one in answer.ranges
    ]


def _range(one: Range, answer: Answer, room: int) -> list[Span]:
    def cell(value: float) -> int:
        return round(share_of(value, *answer.scale) * (room - 1))

    left, middle, right = cell(one.low), cell(one.middle), cell(one.high)
    spans: list[Span] = [("·", "faint")] * room
    for mark in answer.marks:
        spans[cell(mark)] = ("│", "mark")
    spans[left : right + 1] = [("─", "accent")] * (right + 1 - left)
    spans[right], spans[left], spans[middle] = ("┤", "accent"), ("├", "accent"), ("●", "accent")
    return spans


def _strip(strip: Strip, width: int) -> list[Line]:
    """One cell for each rank, darker for more; the maximum of neighbours if there are too many."""
    values = np.array(strip.values)
    room = max(width - cell_width(strip.title) - cell_width(strip.text) - 6, 4)
    if len(values) > room:
        values = np.array([part.max() for part in np.array_split(values, room)])
    levels = np.round(1 + 3 * shares_of(values, float(values.min()), float(values.max())))
    cells = "".join(SHADES[int(level)] for level in levels)
    return [line((f" {strip.title}  ", "text"), (cells, "accent"), (f"  {strip.text}", "dim"))]

"""The answer of a pane as lines of cells: facts, a sentence, a stacked bar, a table, ranges, ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from rltui.common.text import cell_width, pad
from rltui.draw.cells import Line, Span, crop, cut, cut_sentence, line, wrap
from rltui.draw.numbers import format_seconds
from rltui.draw.sparkline import sparkline
from rltui.draw.symbols import SHADES, segment_look
from rltui.panes.answers.answer import Amount, Answer, Fact, Range, StepPhase, Strip
from rltui.panes.answers.recent_values import trend_text
from rltui.panes.render.answer_pictures import band_lines, gantt_lines, ridge_lines
from rltui.panes.render.lines.device_lines import device_lines

TITLE = 24  # cells of the first column of the table
NUMBER = 9
SHARE = 7
PER_TOKEN = 15
HISTORY_LEAST, HISTORY_MOST = 8, 40
ROOMY = 22  # lines for an answer from which pictures may be taller and several
GANTT_FRAME = 2  # lines of a chart of spans beside its rows: title and scale
LEAST_SPANS = 3  # rows from which it is worth them
LEAST_TABLE = 4  # lines of the table that it leaves where it can
STEPS_WORD = 4  # facts beside which the number of steps of a trend is said


def answer_lines(answer: Answer, width: int, height: int | None = None, *, bands: bool = True) -> list[Line]:
    """The answer in at most `height` lines; the sentence and the picture stay longest.

    `bands` False leaves the bands of distributions to cards that show them as well.
    """
    said = answer.sentence
    if height is not None and len(wrap(said, width - 2)) > (most := max(height - bool(answer.shares), 1)):
        said = cut_sentence(said, most * (width - 2) - 8 * (most - 1))  # room for lines that break early
    sentence = [line((" " + part, "strong")) for part in wrap(said, width - 2)]
    bar = _bar(answer, width)
    facts = _facts([one for one in answer.facts if not one.told], width)
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
    kept = []
    bar = bar[:1] if height is not None and height < 4 else bar
    for block in (sentence, bar, ranges, facts, drawn, strips, ridges):
        fits = len(block) <= room
        kept.append(block if fits else [])
        room -= len(block) if fits else 0
    sentence, bar, ranges, facts, drawn, strips, ridges = kept
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
    """The chart of a step in at most `rows` rows.

    Where room is short it goes before the table, whose shares the bar above has, too.
    """
    if answer.gantt is None:
        return []
    least = min(LEAST_SPANS, len(answer.gantt.rows))
    beside = room - GANTT_FRAME - min(table, LEAST_TABLE)
    count = min(rows, beside if beside >= least else room - GANTT_FRAME)
    return gantt_lines(answer.gantt, width, count) if count >= least else []


def percent_text(share: float) -> str:
    """A share as the bar's legend and the table write it: `48 %`, `1.7 %`."""
    size = 100 * share
    return f"{size:.0f} %" if size >= 9.95 else f"{size:.1f} %"


def per_token_text(part: StepPhase) -> str:
    """Time per token; `≈` before what is derived."""
    if part.per_token is None:
        return ""
    size = part.per_token
    text = f"{size:.3g} ms/tok" if size >= 1 else f"{1e3 * size:.3g} µs/tok"
    return f"≈ {text}" if part.per_token_derived else text


def part_times(part: StepPhase) -> tuple[str, str]:
    """Median and 95th percentile as text."""
    return format_seconds(part.median), format_seconds(part.p95)


def _facts(facts: Sequence[Fact], width: int) -> list[Line]:
    """A line of the facts that fit whole, the first ones before the others."""
    spans: list[Span] = []
    for fact in facts:
        trend = trend_text(fact, steps=width >= 100 and len(facts) < STEPS_WORD)
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
    """The bar, its legend below."""
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
        legend.append(((fill, role), (f" {share.title} ", "text"), (percent_text(share.share), "strong")))
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
    """Phases with median, p95, share, time per token and share over time; columns go as the width does."""
    if not answer.parts:
        return []
    title = min(TITLE, max(width - 2 * NUMBER - SHARE - 3, 8))
    per_token = PER_TOKEN if width >= 76 and any(part.per_token is not None for part in answer.parts) else 0
    shares = any(part.share is not None for part in answer.parts)
    rest = width - 2 - title - 2 * NUMBER - SHARE - per_token - 4
    history = min(rest, HISTORY_MOST) if rest >= HISTORY_LEAST else 0
    head = f" {pad('phase', title)}{pad('median', NUMBER, right=True)}{pad('p95', NUMBER, right=True)}"
    head += pad("share" if shares else "", SHARE, right=True)
    if per_token:
        head += pad("per token", per_token, right=True)
    if history and shares:
        head += "   " + ("share over time" if history >= 15 else "trend")
    lines = [crop(line((head, "faint")), width)]
    lines += [crop(_part(part, title, per_token, history), width) for part in answer.parts]
    return lines


def _part(part: StepPhase, title: int, per_token: int, history: int) -> Line:
    name = cut("  " * part.depth + part.title, title)
    role = "dim" if part.depth else "text"
    median, p95 = part_times(part)
    spans: list[Span] = [
        (" " + pad(name, title), role),
        (pad(median, NUMBER, right=True), "dim" if part.depth else "strong"),
        (pad(p95, NUMBER, right=True), "dim"),
    ]
    if part.share is None:
        return line(*spans, ("  " + part.note, "dim"))
    spans.append((pad(percent_text(part.share), SHARE, right=True), "text"))
    if per_token:
        spans.append((pad(per_token_text(part), per_token, right=True), "dim"))
    return line(*spans, *_course(part.history, history))


def _course(values: Sequence[float], cells: int) -> list[Span]:
    """Shares over time in at most so many cells, from zero up; nothing without room or with one value."""
    known = np.array([value for value in values if math.isfinite(value)])
    if not cells or len(known) < 2:
        return []
    edges = np.linspace(0, len(known), min(cells, len(known)) + 1).astype(int)
    few = np.add.reduceat(known, edges[:-1]) / np.diff(edges)
    top = max(float(few.max()), 0.01)
    return [("   ", "text"), (sparkline(few, few, 0.0, top).text, "accent")]


def _amounts(answer: Answer, width: int) -> list[Line]:
    """Amounts with their share and its course; columns go as the width does."""
    if not answer.amounts:
        return []
    longest = max(cell_width(one.title) for one in answer.amounts)
    title = min(max(longest, cell_width(answer.amounts_words[0])) + 1, TITLE, max(width - SHARE - 3, 8))
    text = max((cell_width(one.text) for one in answer.amounts), default=0)
    text = (
        max(text, cell_width(answer.amounts_words[1])) + 2
        if text and width - title - SHARE - text >= 6
        else 0
    )
    rest = width - 2 - title - SHARE - text - 3
    history = min(rest, HISTORY_MOST) if rest >= HISTORY_LEAST else 0
    head = f" {pad(answer.amounts_words[0], title)}{pad('share', SHARE, right=True)}"
    head += pad(answer.amounts_words[1], text, right=True) if text else ""
    if history and any(len(one.history) > 1 for one in answer.amounts):
        head += "   " + ("share over time" if history >= 15 else "trend")
    return [
        crop(line((head, "faint")), width),
        *(crop(_amount(one, title, text, history), width) for one in answer.amounts),
    ]


def _amount(one: Amount, title: int, text: int, history: int) -> Line:
    share = percent_text(one.share) if one.share is not None else ""
    spans: list[Span] = [
        (" " + pad(cut(one.title, title - 1), title), "text" if one.share is not None else "dim"),
        (pad(share, SHARE, right=True), "strong"),
        (pad(one.text, text, right=True) if text else "", "dim"),
    ]
    if one.note:
        return line(*spans, ("   " + one.note, "dim"))
    return line(*spans, *_course(one.history, history))


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
    low, high = answer.scale

    def place(value: float) -> int:
        share = (value - low) / (high - low) if high > low else 0.0
        return round(min(max(share, 0.0), 1.0) * (room - 1))

    left, middle, right = place(one.low), place(one.middle), place(one.high)
    marks = {place(value) for value in answer.marks}
    spans: list[Span] = []
    for at in range(room):
        if at == middle:
            spans.append(("●", "accent"))
        elif at == left:
            spans.append(("├", "accent"))
        elif at == right:
            spans.append(("┤", "accent"))
        elif left < at < right:
            spans.append(("─", "accent"))
        else:
            spans.append(("│" if at in marks else "·", "mark" if at in marks else "faint"))
    return spans


def _strip(strip: Strip, width: int) -> list[Line]:
    """One cell for each rank, darker for more; neighbours are joined where there are too many."""
    values = np.array(strip.values)
    room = max(width - cell_width(strip.title) - cell_width(strip.text) - 6, 4)
    if len(values) > room:
        values = np.array([piece.max() for piece in np.array_split(values, room)])
    low, high = float(values.min()), float(values.max())
    level = np.full(len(values), 2) if high <= low else 1 + np.round(3 * (values - low) / (high - low))
    cells = "".join(SHADES[int(one)] for one in level)
    return [line((f" {strip.title}  ", "text"), (cells, "accent"), (f"  {strip.text}", "dim"))]

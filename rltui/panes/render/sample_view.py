"""One sample as wrapped text: facts, turns, folded reasoning; and the difference between two samples."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rltui.common.display_text import clean, count_of, head, pad
from rltui.common.named_tuple import NamedTuple
from rltui.draw.cells import Line, Span, line
from rltui.logs.sample_layouts.sample import Message, Sample
from rltui.run_context.samples.sample_text import (
    clean_lines,
    differences,
    facts,
    reasoning_begin,
    short_value,
    turns,
)

MAX_TEXT = 1_000_000  # characters of a turn that are shown
MAX_COMPARED = 200_000  # characters of a response that are compared


class WrappedPart(NamedTuple):
    """A part of a line of the sample that fits in the width; `start` is its position in the whole line."""

    text: str
    role: str
    source: int  # index of the whole line
    start: int = 0
    indent: str = ""


class SampleView(NamedTuple):
    """A sample as parts of lines for a width, and the whole lines, which are searched."""

    pieces: tuple[WrappedPart, ...]
    sources: tuple[str, ...]
    folded: int = 0  # lines of reasoning that are not shown

    def find(self, text: str) -> dict[int, list[tuple[int, int]]]:
        """By piece, the positions of a text in it, also of matches that continue in the next piece."""
        if not text:
            return {}
        pattern = re.compile(re.escape(text), re.IGNORECASE)
        matches = [[match.span() for match in pattern.finditer(source)] for source in self.sources]
        hits: dict[int, list[tuple[int, int]]] = {}
        for index, piece in enumerate(self.pieces):
            end = piece.start + len(piece.text)
            for first, last in matches[piece.source]:
                if first < end and last > piece.start:
                    part = (max(first - piece.start, 0), min(last, end) - piece.start)
                    hits.setdefault(index, []).append(part)
        return hits


def piece_line(piece: WrappedPart, hits: Sequence[tuple[int, int]] = ()) -> Line:
    """A piece as cells, with the matches of a search marked."""
    spans: list[Span] = [(piece.indent, "text")]
    at = 0
    for first, last in hits:
        spans += [(piece.text[at:first], piece.role), (piece.text[first:last], "mark")]
        at = last
    return line(*spans, (piece.text[at:], piece.role))


def sample_view(sample: Sample, width: int, *, unfolded: bool = False) -> SampleView:
    """Facts, turns and other fields of a sample; reasoning takes one line unless unfolded."""
    lines: list[tuple[str, str, str]] = []  # text, role, indent
    known = " · ".join(f"{label} {value}" for label, value in facts(sample))
    lines.append((known, "dim", " "))
    folded = 0
    for role, text in turns(_bounded(sample)):
        lines += [("", "text", ""), (f"── {role} ──", _role(role), " ")]
        for part, body in _parts(role, text):
            if part == "reasoning" and not unfolded:
                folded += len(body)
                words = count_of(sum(len(each.split()) for each in body), "word")
                size = f"{count_of(len(body), 'line')}, {words}"
                lines.append((f"▸ reasoning: {size}, folded", "info", "   "))
            else:
                style = "dim" if part == "reasoning" else "info" if part == "call" else "text"
                lines += [(each, style, "   ") for each in body]
    if sample.note:
        lines += [("", "text", ""), (clean(sample.note), "mark", " ")]
    others = [(key, value) for key, value in sample.metadata.items() if value is not None]
    if others:
        lines += [("", "text", ""), ("── more ──", "faint", " ")]
        lines += [(f"{clean(key)}: {clean(short_value(value), 300)}", "dim", "   ") for key, value in others]
    return _wrapped(lines, width, folded)


def difference_view(before: Sample, after: Sample, width: int, title: str) -> SampleView:
    """The difference by lines between two responses."""
    lines = [(title, "accent", " "), ("", "text", "")]
    roles = {"-": "bad", "+": "good", " ": "dim"}
    first, second = (one._replace(response=one.response[:MAX_COMPARED]) for one in (before, after))
    lines += [(text, roles[text[:1]], " ") for text in differences(first, second)]
    if max(len(before.response), len(after.response)) > MAX_COMPARED:
        lines.append((f"only the first {MAX_COMPARED:,} characters are compared", "mark", " "))
    return _wrapped(lines, width, 0)


def beside_view(left: Sample, right: Sample, width: int, titles: tuple[str, str]) -> SampleView:
    """The responses of two samples side by side; below each other if there is little room."""
    if width < 70:
        lines: list[tuple[str, str, str]] = []
        for title, sample in zip(titles, (left, right), strict=True):
            lines += [(title, "accent", " "), *((text, "text", "   ") for text in _response(sample))]
            lines.append(("", "text", ""))
        return _wrapped(lines, width, 0)
    half = (width - 5) // 2
    columns = []
    for title, sample in zip(titles, (left, right), strict=True):
        texts = [title, "", *_response(sample)]
        columns.append([part for text in texts for _, part in wrapped(text, half)])
    rows = []
    for at in range(max(map(len, columns))):
        one, other = (column[at] if at < len(column) else "" for column in columns)
        rows.append((f"{pad(one, half)} │ {other}", "text" if at else "accent", " "))
    pieces = [WrappedPart(text, role, at, 0, indent) for at, (text, role, indent) in enumerate(rows)]
    return SampleView(tuple(pieces), tuple(text for text, _, _ in rows))


def _response(sample: Sample) -> list[str]:
    if not sample.response:
        return [clean(sample.note) or "(empty)"]
    return clean_lines(sample.response[:MAX_COMPARED])


def _bounded(sample: Sample) -> Sample:
    """The sample with texts cut to `MAX_TEXT` characters, and a note on the rest."""
    if (
        max([len(sample.prompt), len(sample.response), *(len(one.text) for one in sample.messages)])
        <= MAX_TEXT
    ):
        return sample

    def short(text: str) -> str:
        if len(text) <= MAX_TEXT:
            return text
        more = len(text) - MAX_TEXT
        return f"{text[:MAX_TEXT]}\n… {more:,} more characters; `rltui samples` prints all of them"

    messages = tuple(Message(one.role, short(one.text)) for one in sample.messages)
    return sample._replace(prompt=short(sample.prompt), response=short(sample.response), messages=messages)


def _role(role: str) -> str:
    if "tool" in role:
        return "info"
    return {"prompt": "mark", "user": "mark", "system": "dim"}.get(role, "accent")


def _parts(role: str, text: list[str]) -> Iterator[tuple[str, list[str]]]:
    """The parts of a turn: text, tool calls, and reasoning, which has tags or a role of its own."""
    if role.endswith("reasoning"):
        yield "reasoning", text
        return
    kind: str = "call" if role == "tool call" else "text"
    body: list[str] = []
    closing = ""
    for one in text:
        opened = None if closing else reasoning_begin().search(one)
        if opened is not None:
            if one[: opened.start()].strip():
                body.append(one[: opened.start()])
            if body:
                yield kind, body
            closing, body, one = f"</{opened[1].lower()}>", [], one[opened.start() :]
        if closing and closing in one.lower():
            end = one.lower().index(closing) + len(closing)
            yield "reasoning", [*body, one[:end]]
            closing, body, one = "", [], one[end:]
            if not one.strip():
                continue
        body.append(one)
    if body:
        yield ("reasoning" if closing else kind), body


def _wrapped(lines: Sequence[tuple[str, str, str]], width: int, folded: int) -> SampleView:
    pieces = [
        WrappedPart(text, role, at, start, indent)
        for at, (source, role, indent) in enumerate(lines)
        for start, text in wrapped(source, max(width - len(indent) - 1, 8))
    ]
    return SampleView(tuple(pieces), tuple(text for text, _, _ in lines), folded)


def wrapped(text: str, width: int) -> Iterator[tuple[int, str]]:
    """A line in pieces of at most `width` cells, broken after blanks if possible; their sum is the line.

    Unlike those of `wrap` they keep all blanks, as code needs, and their places in the line, as matches do.
    """
    at = 0
    while True:
        ahead = text[at : at + 4 * width]  # combining marks take no cell
        piece = head(ahead, width) or ahead[:1]
        if at + len(piece) >= len(text):
            yield at, piece
            return
        if not text[at + len(piece)].isspace():
            blank = piece.rfind(" ")
            if blank > len(piece) // 3:
                piece = piece[: blank + 1]
        yield at, piece
        at += len(piece)

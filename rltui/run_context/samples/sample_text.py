"""Samples as text, Markdown and JSON, and differences between them. Text from files is cleaned here."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterator
from functools import cache

from rltui.common.display_text import clean
from rltui.common.markdown_text import fence_for, in_markdown, markdown_table
from rltui.draw.numbers import format_plain
from rltui.logs.sample_layouts.layouts import layouts
from rltui.logs.sample_layouts.sample import Sample, SampleSummary

_SUMMARY_LENGTH = 400  # characters of a response in a list
_MAX_NUMBERS = 8  # of a list in the metadata that are shown


@cache
def _reasoning_end() -> re.Pattern[str]:
    return re.compile(rf"</(?:{'|'.join(layouts().reasoning_tags)})>", re.IGNORECASE)


@cache
def reasoning_begin() -> re.Pattern[str]:
    """An expression for the tag that opens the reasoning of a response; its name is the group."""
    return re.compile(rf"<({'|'.join(layouts().reasoning_tags)})>", re.IGNORECASE)


def clean_lines(text: str) -> list[str]:
    """The lines of untrusted text; tabs are expanded, other control characters escaped."""
    return [clean(line.expandtabs(4)) for line in text.replace("\r\n", "\n").split("\n")]


def facts(sample: Sample) -> list[tuple[str, str]]:
    """The fields of a sample without its texts, as labels and values."""
    unit = "characters" if sample.counted else "tokens"
    rows = [
        ("step", str(sample.step)),
        ("split", sample.split),
        ("reward", number_text(sample.reward)),
        *((name, number_text(value)) for name, value in sample.rewards.items()),
        ("advantage", number_text(sample.advantage)),
        ("length", "" if sample.length is None else f"{sample.length} {unit}"),
        ("stop", sample.stop),
        ("group", sample.group or ""),
        ("dataset", sample.dataset),
        ("id", sample.id),
        ("ok", "" if sample.ok else "no"),
    ]
    return [(clean(label), clean(value, 200)) for label, value in rows if value]


def as_text(sample: Sample) -> str:
    """A sample in full, for a terminal or a pipe."""
    lines = [f"{label}: {value}" for label, value in facts(sample)]
    for role, text in turns(sample):
        lines += ["", f"── {role} ──", *text]
    if sample.note:
        lines += ["", f"({clean(sample.note)})"]
    others = [
        f"{clean(key)}: {clean(short_value(value), 300)}"
        for key, value in sample.metadata.items()
        if value is not None
    ]
    if others:
        lines += ["", "── more ──", *others]
    return "\n".join(lines)


def as_markdown(sample: Sample) -> str:
    """A sample as Markdown: its fields, then each turn in a fence that its text cannot close."""
    lines = markdown_table(("", ""), (list(map(in_markdown, pair)) for pair in facts(sample)))
    for role, text in turns(sample):
        body = "\n".join(text)
        fence = fence_for(body).rjust(3, "`")
        lines += ["", f"**{in_markdown(role)}**", "", fence, body, fence]
    if sample.note:
        lines += ["", in_markdown(clean(sample.note))]
    return "\n".join(lines)


def as_json(run: str, sample: Sample) -> dict[str, object]:
    """The fields of a sample; texts are not cleaned, since JSON escapes control characters."""
    fields = sample._asdict()
    del fields["metadata"]
    fields["length_unit"] = "characters" if fields.pop("counted") else "tokens"
    return {"run": run, **fields, "messages": [message._asdict() for message in sample.messages]}


def turns(sample: Sample) -> Iterator[tuple[str, list[str]]]:
    """Role and cleaned lines of each turn."""
    if sample.messages:
        for message in sample.messages:
            yield clean(message.role or "text", 40), clean_lines(message.text)
        return
    if sample.prompt:
        yield "prompt", clean_lines(sample.prompt)
    if sample.response:
        yield "response", clean_lines(sample.response)


def differences(before: Sample, after: Sample) -> list[str]:
    """The responses of two samples as a line-by-line difference: blank, `-` or `+` before each line."""
    first, second = clean_lines(before.response), clean_lines(after.response)
    lines: list[str] = []
    # Not `ndiff`, which takes minutes to search for similar lines in long responses.
    for kind, low, high, start, end in difflib.SequenceMatcher(None, first, second).get_opcodes():
        if kind == "equal":
            lines += [f"  {line}" for line in first[low:high]]
        else:
            lines += [f"- {line}" for line in first[low:high]]
            lines += [f"+ {line}" for line in second[start:end]]
    return lines


def summary(sample: Sample) -> SampleSummary:
    """A sample in a list: the components of its reward, and the start of its response after reasoning."""
    reasoning = _reasoning_end().search(sample.response)
    response = sample.response[reasoning.end() :] if reasoning is not None else ""
    start = " ".join((response.strip() or sample.response)[:_SUMMARY_LENGTH].split())
    return SampleSummary(dict(sample.rewards), clean(start) or clean(sample.note))


def number_text(value: float | None) -> str:
    """A number of a sample; empty if there is none."""
    return "" if value is None else format_plain(value)


def short_value(value: object) -> str:
    """A value of the metadata; long lists of numbers are only counted."""
    numbers = value if isinstance(value, list) else []
    if len(numbers) > _MAX_NUMBERS and all(isinstance(each, int | float) for each in numbers):
        return f"{len(numbers):,} numbers"
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)

"""Spans of steps in files beside the logs: what ran when, read from the end when somebody asks for it.

A line is a step with its spans (`timing_spans.jsonl` of tinker-cookbook), or a single span with its step.
Begin and end are seconds of any clock; only their distances count.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import orjson

from rltui.hparams.hparam_files import folders_of
from rltui.logs.local_file import LocalFile
from rltui.text import clean

NAMES = ("timing_spans.jsonl",)
END = 1 << 20  # bytes of the end of a file that are read
STEPS = 64  # newest steps kept
MOST = 4000  # spans of a step
# Names of begin and end, the first pair that a span has.
EDGES = (("start", "end"), ("wall_start", "wall_end"), ("start_time", "end_time"))


@dataclass(frozen=True, slots=True)
class Span:
    """Something that ran, in seconds since the first span of its step began; the name is cleaned."""

    name: str
    begin: float
    end: float


StepSpans = Mapping[int, tuple[Span, ...]]  # by rising step, each in order of begin


def spans_beside(paths: Iterable[str], logdirs: Sequence[str | os.PathLike[str]]) -> StepSpans:
    """The newest spans beside logs with these paths, from the nearest folder that has some.

    Blocks as long as the file system does. What cannot be read is as if it were not there.
    """
    for folder in folders_of(paths, logdirs):
        for name in NAMES:
            found = read(str(folder.place / name), name)
            if found:
                return found
    return {}


def read(path: str, shown: str) -> StepSpans:
    """The spans of the newest steps of a file; none where it is not there or cannot be read."""
    try:
        with LocalFile(path, shown) as file:
            size = file.size()
            begin = max(0, size - END)
            data = file.read_at(begin, size - begin)
    except OSError:
        return {}
    lines = data.split(b"\n")
    return parse(lines[1 if begin else 0 :])


def parse(lines: Iterable[bytes]) -> StepSpans:
    """The spans of JSON lines; torn and foreign lines are left out."""
    steps: dict[int, list[tuple[str, float, float]]] = {}
    for line in lines:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if not isinstance(record, dict) or type(step := record.get("step")) is not int:
            continue
        spans = record.get("spans", [record])
        found = [one for span in spans if (one := _span(span)) is not None] if isinstance(spans, list) else []
        if found:
            known = steps.setdefault(step, [])
            known += found[: max(MOST - len(known), 0)]
    newest = sorted(steps)[-STEPS:]
    return {step: _from_first(steps[step]) for step in newest}


def _span(span: object) -> tuple[str, float, float] | None:
    if not isinstance(span, dict) or not isinstance(name := span.get("name"), str):
        return None
    for first, last in EDGES:
        begin, end = span.get(first), span.get(last)
        if isinstance(begin, int | float) and isinstance(end, int | float):
            known = math.isfinite(begin) and math.isfinite(end) and end >= begin
            return (clean(name), float(begin), float(end)) if known else None
    return None


def _from_first(spans: list[tuple[str, float, float]]) -> tuple[Span, ...]:
    first = min(begin for _, begin, _ in spans)
    made = (Span(name, begin - first, end - first) for name, begin, end in spans)
    return tuple(sorted(made, key=lambda one: (one.begin, -one.end)))

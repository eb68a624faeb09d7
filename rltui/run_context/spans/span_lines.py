"""JSON lines of spans: a step with its spans (tinker-cookbook), or a single span with its step.

Begin and end are seconds on any clock; only their differences are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import orjson

from rltui.common.display_text import clean
from rltui.run_context.spans.logged_spans import KEPT_STEPS, MAX_SPANS, StepSpans, relative_spans

# Keys of begin and end; the first pair that a span has is used.
EDGES = (("start", "end"), ("wall_start", "wall_end"), ("start_time", "end_time"))


def parse(lines: Iterable[bytes]) -> StepSpans:
    """The spans of JSON lines; torn lines and other records are left out."""
    steps: dict[int, list[tuple[str, float, float]]] = {}
    for line in lines:
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if not isinstance(record, dict) or type(step := record.get("step")) is not int:
            continue
        spans = record.get("spans", [record])
        edges = map(_name_and_edges, spans if isinstance(spans, list) else ())
        if found := [span for span in edges if span is not None]:
            known = steps.setdefault(step, [])
            known += found[: max(MAX_SPANS - len(known), 0)]
    return {step: relative_spans(steps[step]) for step in sorted(steps)[-KEPT_STEPS:]}


def _name_and_edges(span: object) -> tuple[str, float, float] | None:
    if not isinstance(span, dict) or not isinstance(name := span.get("name"), str):
        return None
    for first, last in EDGES:
        begin, end = span.get(first), span.get(last)
        if isinstance(begin, int | float) and isinstance(end, int | float):
            valid = math.isfinite(begin) and math.isfinite(end) and end >= begin
            return (clean(name), float(begin), float(end)) if valid else None
    return None

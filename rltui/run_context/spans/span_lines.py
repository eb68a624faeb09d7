"""JSON lines of spans: a step with its spans (tinker-cookbook), or a single span with its step.

Begin and end are seconds of any clock; only their distances count.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import orjson

from rltui.common.text import clean
from rltui.run_context.spans.logged_spans import StepSpans, from_first

STEPS = 64  # newest steps kept
MOST = 4000  # spans of a step
# Names of begin and end, the first pair that a span has.
EDGES = (("start", "end"), ("wall_start", "wall_end"), ("start_time", "end_time"))


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
    return {step: from_first(steps[step]) for step in newest}


def _span(span: object) -> tuple[str, float, float] | None:
    if not isinstance(span, dict) or not isinstance(name := span.get("name"), str):
        return None
    for first, last in EDGES:
        begin, end = span.get(first), span.get(last)
        if isinstance(begin, int | float) and isinstance(end, int | float):
            known = math.isfinite(begin) and math.isfinite(end) and end >= begin
            return (clean(name), float(begin), float(end)) if known else None
    return None

"""Traces in the Trace Event Format: those of torch's profiler, and timelines of Ray.

Events are objects in one JSON array, with `ts` and `dur` in microseconds. Sources: the Trace Event Format,
"complete events" (`ph` is X); pytorch/kineto libkineto/src/output_json.cpp (`baseTimeNanoseconds` before the
array, category `user_annotation` for `record_function`, `ProfilerStep#N` for steps of the profiler's
schedule); ray-project/ray python/ray/_private/profiling.py and a timeline of Ray 2.60 (category `task::NAME`
for a task, `task:execute` and others for its parts).

A trace of torch may have gigabytes of operators and kernels: only annotations of the program are read.
"""

from __future__ import annotations

import math

import orjson

from rltui.common.display_text import clean
from rltui.common.regex import regex
from rltui.run_context.spans.logged_spans import LoggedSpans, Span

HEAD = 1 << 16  # bytes by which the two are told apart
MAX_EVENT_BYTES = 1 << 20  # bytes
OVERLAP = 1 << 12  # bytes before an annotation in which its event begins
MAX_SPANS = 20_000  # the longest are kept
MICROSECONDS = 1e-6
TASK = "task::"
_ANNOTATED = regex(rb'"cat":\s*"user_annotation"')
_NEXT = regex(rb"\}\s*,\s*(?=\{)")
_END = regex(rb"\}\s*(?:,\s*\{|\])")
_BASE = regex(rb'"baseTimeNanoseconds":\s*(\d+)')
_STEP = regex(r"ProfilerStep#(\d+)$")


class ChromeTrace:
    """Parses a trace in pieces that may be cut anywhere; torn and other events are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self._annotated: bool | None = None  # whether it is a trace of torch
        self._base = 0.0  # seconds since 1970
        self._spans: list[Span] = []
        self._steps: list[Span] = []
        self._left_out = 0

    @property
    def annotated(self) -> bool:
        """Whether only annotations are read, a small part of its bytes."""
        return bool(self._annotated)

    def feed(self, data: bytes) -> None:
        """Parse the next bytes."""
        data = self._rest + data
        if self._annotated is None:
            if len(data) < HEAD:
                self._rest = data
                return
            data = self._begin(data)
        self._rest = self._annotations(data) if self._annotated else self._events(data)

    def close(self, source: str) -> LoggedSpans:
        """The spans, after the last bytes."""
        data = self._rest
        if self._annotated is None:
            data = self._begin(data)
        rest = self._annotations(data) if self._annotated else self._events(data)
        if self._annotated:
            last = _ANNOTATED.search(rest)
            rest = rest[max(rest.rfind(b"{", 0, last.start()), 0) :] if last is not None else b""
        end = len(rest)
        for _ in range(4):  # after the last event come the ends of the array and of the document
            end = rest.rfind(b"}", 0, end)
            if end < 0 or self._event(rest[: end + 1]):
                break
        tasks = [span for span in self._spans if span.name.startswith(TASK)]
        spans = [span._replace(name=span.name.removeprefix(TASK)) for span in tasks] or self._spans
        spans.sort(key=lambda span: (span.begin, -span.end))
        notes = (f"the {self._left_out:,} shortest spans are left out",) if self._left_out else ()
        return LoggedSpans({}, tuple(spans), tuple(self._steps), source, notes)

    def _begin(self, head: bytes) -> bytes:
        """Examine the head; returns the bytes of the events."""
        base = _BASE.search(head, 0, HEAD)
        self._base = float(base[1]) * 1e-9 if base is not None else 0.0
        self._annotated = (
            base is not None or b'"schemaVersion"' in head[:HEAD] or bool(_ANNOTATED.search(head))
        )
        array = head.find(b'"traceEvents"', 0, HEAD)
        return head[head.find(b"[", max(array, 0)) + 1 :]

    def _annotations(self, data: bytes) -> bytes:
        """Parse the annotated events; returns the bytes that are needed again with the next ones."""
        done = 0
        for found in _ANNOTATED.finditer(data):
            begin = data.rfind(b"{", done, found.start())
            end = _END.search(data, found.end(), found.end() + MAX_EVENT_BYTES)
            if begin < 0 or end is None:
                if begin >= 0 and len(data) - begin < MAX_EVENT_BYTES:
                    return data[begin:]
                continue
            self._event(data[begin : end.start() + 1])
            done = end.start() + 1
        return data[max(done, len(data) - OVERLAP) :]

    def _events(self, data: bytes) -> bytes:
        """Parse all complete events; returns the bytes of the last one."""
        pieces = _NEXT.split(data)
        for piece in pieces[:-1]:
            self._event(piece + b"}")
        return pieces[-1][-MAX_EVENT_BYTES:]

    def _event(self, data: bytes) -> bool:
        """Parse an event; False if it is none."""
        try:
            event = orjson.loads(data)
        except orjson.JSONDecodeError:
            return False
        if not isinstance(event, dict):
            return False
        name, begin, seconds = event.get("name"), event.get("ts"), event.get("dur")
        if event.get("ph") != "X" or not isinstance(name, str):
            return True
        if not isinstance(begin, int | float) or not isinstance(seconds, int | float):
            return True
        start = self._base + begin * MICROSECONDS
        end = start + seconds * MICROSECONDS
        if not math.isfinite(end) or end < start:
            return True
        step = _STEP.match(name)
        if step is not None:
            self._steps.append(Span(f"profiler step {step[1]}", start, end))
            return True
        category = event.get("cat")
        if isinstance(category, str) and category.startswith(TASK):
            name = category  # includes the class of a method
        self._spans.append(Span(clean(name), start, end))
        if len(self._spans) >= 2 * MAX_SPANS:
            self._spans.sort(key=lambda span: span.begin - span.end)
            del self._spans[MAX_SPANS:]
            self._left_out += MAX_SPANS
        return True

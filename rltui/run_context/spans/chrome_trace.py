"""Traces in the format of chrome://tracing: of torch's profiler, and timelines of Ray.

Events are objects in one JSON array, with `ts` and `dur` in microseconds. Sources: the Trace Event Format,
"complete events" (`ph` is X); pytorch/kineto libkineto/src/output_json.cpp (`baseTimeNanoseconds` before the
array, category `user_annotation` for `record_function`, `ProfilerStep#N` for steps of the profiler's
schedule); ray-project/ray python/ray/_private/profiling.py and a timeline of Ray 2.60 (category `task::NAME`
for a task, `task:execute` and others for its parts).

A trace of torch is mostly operators and kernels, gigabytes of them: only what the program annotated is read.
"""

from __future__ import annotations

import math

import orjson

from rltui.common.regex import regex
from rltui.common.text import clean
from rltui.run_context.spans.logged_spans import LoggedSpans, Span

HEAD = 1 << 16  # bytes that say which of the two it is
LONGEST = 1 << 20  # bytes of an event
OVERLAP = 1 << 12  # bytes in which an event begins
MOST = 20_000  # spans kept, the longest
MICROSECONDS = 1e-6
TASK = "task::"
_ANNOTATED = regex(rb'"cat":\s*"user_annotation"')
_NEXT = regex(rb"\}\s*,\s*(?=\{)")
_END = regex(rb"\}\s*(?:,\s*\{|\])")
_BASE = regex(rb'"baseTimeNanoseconds":\s*(\d+)')
_STEP = regex(r"ProfilerStep#(\d+)$")


class ChromeTrace:
    """A trace that is given piece by piece, cut anywhere; torn and foreign events are left out."""

    def __init__(self) -> None:
        self._rest = b""
        self._annotated: bool | None = None  # whether it is one of torch
        self._base = 0.0  # seconds since 1970
        self._spans: list[Span] = []
        self._steps: list[Span] = []
        self._left_out = 0

    @property
    def annotated(self) -> bool:
        """Whether only a small part of its bytes is looked at."""
        return bool(self._annotated)

    def feed(self, data: bytes) -> None:
        """Take the bytes that follow."""
        data = self._rest + data
        if self._annotated is None:
            if len(data) < HEAD:
                self._rest = data
                return
            data = self._begin(data)
        self._rest = self._annotations(data) if self._annotated else self._events(data)

    def close(self, source: str) -> LoggedSpans:
        """What was found, with what the last bytes hold."""
        data = self._rest
        if self._annotated is None:
            data = self._begin(data)
        rest = self._annotations(data) if self._annotated else self._events(data)
        if self._annotated:
            last = _ANNOTATED.search(rest)
            rest = rest[max(rest.rfind(b"{", 0, last.start()), 0) :] if last is not None else b""
        end = len(rest)
        for _ in range(4):  # behind the last event stand the ends of the array and of the document
            end = rest.rfind(b"}", 0, end)
            if end < 0 or self._event(rest[: end + 1]):
                break
        spans = self._spans
        if any(span.name.startswith(TASK) for span in spans):
            spans = [
                Span(span.name.removeprefix(TASK), span.begin, span.end)
                for span in spans
                if span.name.startswith(TASK)
            ]
        spans.sort(key=lambda one: (one.begin, -one.end))
        notes = (f"the {self._left_out:,} shortest spans are left out",) if self._left_out else ()
        return LoggedSpans({}, tuple(spans), tuple(self._steps), source, notes)

    def _begin(self, head: bytes) -> bytes:
        """Look at the head; what follows it."""
        base = _BASE.search(head, 0, HEAD)
        self._base = float(base[1]) * 1e-9 if base is not None else 0.0
        self._annotated = (
            base is not None or b'"schemaVersion"' in head[:HEAD] or bool(_ANNOTATED.search(head))
        )
        array = head.find(b'"traceEvents"', 0, HEAD)
        return head[head.find(b"[", max(array, 0)) + 1 :]

    def _annotations(self, data: bytes) -> bytes:
        """Take the annotated events; what must be looked at again with the next bytes."""
        done = 0
        for found in _ANNOTATED.finditer(data):
            begin = data.rfind(b"{", done, found.start())
            end = _END.search(data, found.end(), found.end() + LONGEST)
            if begin < 0 or end is None:
                if begin >= 0 and len(data) - begin < LONGEST:
                    return data[begin:]
                continue
            self._event(data[begin : end.start() + 1])
            done = end.start() + 1
        return data[max(done, len(data) - OVERLAP) :]

    def _events(self, data: bytes) -> bytes:
        """Take all whole events; the bytes of the last one."""
        pieces = _NEXT.split(data)
        for piece in pieces[:-1]:
            self._event(piece + b"}")
        return pieces[-1][-LONGEST:]

    def _event(self, data: bytes) -> bool:
        """Take an event; whether it was one."""
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
            name = category  # which says of which class it is a method, too
        self._spans.append(Span(clean(name), start, end))
        if len(self._spans) >= 2 * MOST:
            self._spans.sort(key=lambda one: one.begin - one.end)
            del self._spans[MOST:]
            self._left_out += MOST
        return True

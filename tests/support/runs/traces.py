"""Traces and timelines as torch, Ray and Telescope write them, spans and histograms, of made-up steps."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterable
from pathlib import Path

from rltui.logs.batch import Histogram

Timed = tuple[str, float, float]  # name, begin and end in seconds since 1970


def torch_trace(spans: Iterable[Timed], base: float, operators: int = 3) -> bytes:
    """As kineto writes it: an annotation between operators, times in microseconds since `base`."""
    events = []
    for name, begin, end in spans:
        events += [
            *(_event("cpu_op", f"aten::mm {number}", begin - base, 1e-6) for number in range(operators)),
            _event("user_annotation", name, begin - base, end - begin),
            _event("gpu_user_annotation", name, begin - base, end - begin),
        ]
    head = (
        '{\n  "schemaVersion": 1,\n  "deviceProperties": [],\n  "distributedInfo": {"rank": 0},\n'
        f'  "displayTimeUnit": "ms",\n  "baseTimeNanoseconds": {round(base * 1e9)},\n  "traceEvents": [\n'
    )
    last = (
        '  {\n    "ph": "i",\n    "s": "g",\n    "name": "Record Window End",\n    "pid": "",\n'
        '    "tid": "",\n    "ts": 1.0\n  }\n  ],"traceName": "trace_0.json" }'
    )
    return "".join((head, *events, last)).encode()


def _event(category: str, name: str, begin: float, seconds: float) -> str:
    return (
        f'  {{\n    "ph": "X",\n    "cat": "{category}",\n    "name": "{name}",\n    "pid": 7,\n'
        f'    "tid": 7,\n    "ts": {1e6 * begin:.3f},\n    "dur": {1e6 * seconds:.3f},\n'
        '    "args": {\n      "External id": 5,"Ev Idx": 1\n    }\n  },\n'
    )


def ray_timeline(spans: Iterable[Timed]) -> bytes:
    """As Ray 2.60 writes it: the parts of each task, then the task, whose category names its class, too."""
    parts = ("task:deserialize_arguments", "task:execute", "task:store_outputs")
    events: list[object] = [
        {"cat": category, "name": category.rpartition(".")[2], "pid": "10.0.0.1", "tid": f"worker:{number}",
         "ts": 1e6 * begin, "dur": 1e6 * (end - begin), "ph": "X", "cname": "generic_work",
         "args": {"name": name, "task_id": "abc"} if category not in parts else {}}
        for number, (name, begin, end) in enumerate(spans)
        for category in (*parts, f"task::{name}")
    ]  # fmt: skip
    return json.dumps(events).encode()


def telescope_events(
    trainer: Iterable[tuple[str, int, float, float, int]],
    rollouts: Iterable[tuple[str, int, float, float]] = (),
    syncs: Iterable[tuple[int, float, float]] = (),
) -> bytes:
    """An archive of its tables: (kind, step, begin, end, depth), (kind, sample, begin, end), (step, ...)."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    each = [
        {"event_type": kind, "step": step, "rank": rank, "start_time": begin, "end_time": end, "depth": depth}
        for kind, step, begin, end, depth in trainer
        for rank in (1, 0)
    ]
    lives = [
        {"timestamp": time, "event_type": kind, "phase": phase, "sample_id": sample, "agent_id": 0,
         "generation_idx": 0, "tool_call_idx": -1}
        for kind, sample, begin, end in rollouts
        for phase, time in (("start", begin), ("end", end))
    ]  # fmt: skip
    infra = [
        {"timestamp": time, "event_type": "weight_sync", "phase": phase, "step": step, "server_id": 0}
        for step, begin, end in syncs
        for phase, time in (("start", begin), ("end", end))
    ]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression=zipfile.ZIP_DEFLATED) as archive:
        for name, rows in (("trainer", each), ("events_rollout", lives), ("events_infra", infra)):
            buffer = io.BytesIO()
            pq.write_table(pa.Table.from_pylist(rows), buffer)
            archive.writestr(f"{name}.parquet", buffer.getvalue())
        archive.writestr("metadata.json", "{}")
    return out.getvalue()


def write_spans(folder: Path, step: int) -> None:
    """Spans of a step of asynchronous training, as tinker-cookbook writes them."""
    spans = [
        ("generate", 0.0, 7.5), ("reward", 3.0, 3.6), ("reward", 6.0, 7.9), ("train", 1.0, 6.0),
        ("train/forward_backward", 1.0, 5.2), ("train/optim_step", 5.2, 6.0), ("sync weights", 8.0, 8.4),
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    made = [{"name": name, "start": first, "end": last} for name, first, last in spans]
    line = {"step": step, "spans": made}
    (folder / "timing_spans.jsonl").write_text(json.dumps(line) + "\n")


def reward_histograms(tag: str, last: int) -> list[Histogram]:
    """Histograms of rewards that begin around zero and gather at one."""
    found = []
    for step in range(0, last + 1, 10):
        share = step / last
        quantiles = tuple(min(max(share - 0.5, 0) + place, 1.0) for place in (0, 0.1, 0.2, 0.3, 0.5, 0.8, 1))
        found.append(Histogram(tag, step, 0.0, quantiles, 64.0))
    return found

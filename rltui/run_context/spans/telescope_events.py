"""The timeline of Telescope: tables of events in a zip file, in W&B's folder of the run.

Source: eduardoslonski/telescope src/telescope/orchestrator/loggers/event_logger.py @ f002cb2.
`trainer.parquet` has a row for each event of a rank in a step, `events_infra.parquet` and
`events_rollout.parquet` a row for each begin and end; times are seconds since 1970. Generation overlaps with
training: for each type of rollout event, the spans are those in which at least one was running.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from typing import IO

import numpy as np

from rltui.common.arrays import Floats
from rltui.common.display_text import clean
from rltui.draw.numbers import format_bytes
from rltui.run_context.spans.logged_spans import KEPT_STEPS, MAX_SPANS, LoggedSpans, Span, relative_spans

MAX_TABLE_BYTES = 64_000_000  # a larger one is left out
TRAINER, INFRA, ROLLOUT = "trainer.parquet", "events_infra.parquet", "events_rollout.parquet"
Table = Mapping[str, list[object]]


def parse(file: IO[bytes], source: str) -> LoggedSpans:
    """The spans of an archive. Raises ImportError without pyarrow, OSError and BadZipFile."""
    notes: list[str] = []
    with zipfile.ZipFile(file) as archive:
        trainer, infra, rollout = (_table(archive, name, notes) for name in (TRAINER, INFRA, ROLLOUT))
    steps = _trainer_spans(trainer)
    rollouts = _running_rollouts(rollout)
    infra_spans = _pairs(infra, ("event_type", "step", "server_id"))
    by_step: dict[int, tuple[Span, ...]] = {}
    for step in sorted(steps)[-KEPT_STEPS:]:
        spans = steps[step]
        begin, end = min(span[1] for span in spans), max(span[2] for span in spans)
        spans += [(str(key[0]), *edges) for key, edges in infra_spans.items() if key[1] == step]
        for kind, (begins, ends) in rollouts.items():
            inside = (ends > begin) & (begins < end)
            pairs = zip(np.maximum(begins[inside], begin), np.minimum(ends[inside], end), strict=True)
            spans += [(kind, float(first), float(last)) for first, last in pairs]
        by_step[step] = relative_spans(
            [(clean(name), first, last) for name, first, last in spans[:MAX_SPANS]]
        )
    return LoggedSpans(by_step, source=source, notes=tuple(notes))


def _table(archive: zipfile.ZipFile, name: str, notes: list[str]) -> Table:
    """The columns of a table; none if it is missing, too large or damaged."""
    import pyarrow
    import pyarrow.parquet

    if name not in archive.namelist():
        return {}
    if archive.getinfo(name).file_size > MAX_TABLE_BYTES:
        notes.append(f"{name} is larger than {format_bytes(MAX_TABLE_BYTES)} and left out")
        return {}
    try:
        table = pyarrow.parquet.read_table(pyarrow.BufferReader(archive.read(name)))
    except (pyarrow.ArrowException, zipfile.BadZipFile, OSError):
        notes.append(f"{name} cannot be read")
        return {}
    columns: Table = table.to_pydict()
    return columns


def _trainer_spans(table: Table) -> dict[int, list[tuple[str, float, float]]]:
    """By step, the outermost events of the first rank."""
    steps: dict[int, list[tuple[str, float, float]]] = {}
    names = ("event_type", "step", "rank", "start_time", "end_time", "depth")
    if any(name not in table for name in names):
        return steps
    rows = list(zip(*(table[name] for name in names), strict=True))
    first = min((rank for _, _, rank, *_ in rows if isinstance(rank, int)), default=0)
    for kind, step, rank, begin, end, depth in rows:
        if rank != first or depth or not isinstance(step, int) or step < 0:
            continue
        if isinstance(begin, float) and isinstance(end, float) and begin <= end:
            steps.setdefault(step, []).append((str(kind), begin, end))
    return steps


def _pairs(table: Table, keys: tuple[str, ...]) -> dict[tuple[object, ...], tuple[float, float]]:
    """Begin and end of each event that has both, by the values of `keys`; the last of repeated ones."""
    found: dict[tuple[object, ...], tuple[float, float]] = {}
    if any(name not in table for name in (*keys, "phase", "timestamp")):
        return found
    begun: dict[tuple[object, ...], float] = {}
    for phase, time, *key in zip(*(table[name] for name in ("phase", "timestamp", *keys)), strict=True):
        if not isinstance(time, float):
            continue
        if phase == "start":
            begun[tuple(key)] = time
        elif phase == "end" and (start := begun.pop(tuple(key), None)) is not None and start <= time:
            found[tuple(key)] = (start, time)
    return found


def _running_rollouts(table: Table) -> dict[str, tuple[Floats, Floats]]:
    """By event type, begins and ends (n,) of the periods in which at least one event was running."""
    keys = ("event_type", "sample_id", "agent_id", "generation_idx", "tool_call_idx")
    kinds: dict[str, list[tuple[float, float]]] = {}
    for key, edges in _pairs(table, keys).items():
        kinds.setdefault(str(key[0]), []).append(edges)
    found: dict[str, tuple[Floats, Floats]] = {}
    for kind, edges_of_kind in kinds.items():
        begins, ends = np.array(sorted(edges_of_kind), np.float64).T
        latest_end = np.maximum.accumulate(ends)
        starts = np.append(True, begins[1:] > latest_end[:-1])
        last = np.append(np.flatnonzero(starts)[1:] - 1, len(begins) - 1)
        found[kind] = (begins[starts], latest_end[last])
    return found

"""Following runs of trackers beside JSONL: processor time of a step of many runs, in each format.

`python -m tests.bench trackers [RUNS]`. Each figure stands beside that of JSONL in the same process.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rltui.logs.follow.follower import Follower
from tests.support.logs.record_logs import SWANLAB, WANDB, history, record_log, scalar

TAGS = [f"actor/metric_{number}" for number in range(20)]
FIRST, ROUNDS = 20, 8  # steps before the first look, and followed
Write = Callable[[Path, int, int], None]  # a run, its number, the step to add


def values(step: int, number: int) -> dict[str, float]:
    """What a step of a run logs; logs of equal values would be duplicates."""
    return {tag: step * 0.37 + at + 100 * number for at, tag in enumerate(TAGS)}


def jsonl(root: Path, number: int, step: int) -> None:
    """A line of `metrics.jsonl`."""
    _append(
        root / f"run{number}/metrics.jsonl",
        json.dumps({"step": step, "time": 1e9, **values(step, number)}) + "\n",
    )


def clearml(root: Path, number: int, step: int) -> None:
    """An array of events."""
    events = [
        {"timestamp": 10**12, "type": "training_stats_scalar", "metric": tag, "variant": "", "iter": step,
         "value": value}
        for tag, value in values(step, number).items()
    ]  # fmt: skip
    _append(root / f"offline-{number}/metrics.jsonl", json.dumps(events) + "\n")


def console(root: Path, number: int, step: int) -> None:
    """A line that veRL prints."""
    said = " - ".join(f"{tag}:{value}" for tag, value in values(step, number).items())
    _append(root / f"run{number}/console.log", f"(TaskRunner pid=7) step:{step} - {said}\n")


_RECORDS: dict[Path, list[bytes]] = {}


def _record_log(path: Path, header: bytes, records: list[bytes]) -> None:
    """Append records to a record log, in its blocks."""
    known = _RECORDS.setdefault(path, [])
    before = len(record_log(header, known))
    known += records
    path.parent.mkdir(parents=True, exist_ok=True)
    whole = record_log(header, known)
    with path.open("ab") as file:
        file.write(whole[before if len(known) > len(records) else 0 :])


def wandb(root: Path, number: int, step: int) -> None:
    """A history row."""
    row = history({**values(step, number), "_step": step, "_timestamp": 1e9}, step)
    _record_log(root / f"wandb/run-20261122_000000-r{number}/run-r{number}.wandb", WANDB, [row])


def swanlab(root: Path, number: int, step: int) -> None:
    """A record for each scalar."""
    records = [scalar(tag, step, value) for tag, value in values(step, number).items()]
    _record_log(
        root / f"swanlog/run-20261122_000000-r{number}/run-r{number}.swanlab", SWANLAB + b"\x02", records
    )


def mlflow(root: Path, number: int, step: int) -> None:
    """Rows of one database for all runs."""
    with sqlite3.connect(root / "mlflow.db") as base:
        if not step and not number:
            base.executescript(
                "CREATE TABLE experiments (experiment_id, name); CREATE TABLE params (run_uuid, key, value);"
                "CREATE TABLE runs (run_uuid, name, status, lifecycle_stage, experiment_id, start_time);"
                "CREATE TABLE metrics (key, value, timestamp, run_uuid, step, is_nan);"
                "CREATE INDEX index_metrics_run_uuid ON metrics (run_uuid);"
            )
        if not step:
            base.execute(
                "INSERT INTO runs VALUES (?, ?, 'RUNNING', 'active', 0, ?)",
                (f"r{number}", f"n{number}", number),
            )
        rows = [(tag, value, 10**12, f"r{number}", step) for tag, value in values(step, number).items()]
        base.executemany("INSERT INTO metrics VALUES (?, ?, ?, ?, ?, 0)", rows)


def trackio(root: Path, number: int, step: int) -> None:
    """A row of one database for all runs."""
    with sqlite3.connect(root / "project.db") as base:
        if not step and not number:
            base.execute(
                "CREATE TABLE metrics (id INTEGER PRIMARY KEY, run_id, timestamp, run_name, step, metrics)"
            )
        row = (
            f"r{number}",
            "2026-11-22T03:41:43+00:00",
            f"n{number}",
            step,
            json.dumps(values(step, number)),
        )
        base.execute(
            "INSERT INTO metrics (run_id, timestamp, run_name, step, metrics) VALUES (?, ?, ?, ?, ?)", row
        )


def _append(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(text)


def follow(write: Write, count: int) -> float:
    """Processor seconds to follow a step of `count` runs, the median of some."""
    taken = []
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        for step in range(FIRST):
            for number in range(count):
                write(root, number, step)
        follower = Follower([root], poll=0.1)
        while not follower.caught_up:
            list(follower.poll())
        for step in range(FIRST, FIRST + ROUNDS):
            for number in range(count):
                write(root, number, step)
            points, began, spent = 0, time.monotonic(), 0.0
            while points < count * len(TAGS) and time.monotonic() - began < 20:
                time.sleep(min(follower.next_due(), 0.05))
                before = time.process_time()
                points += sum(len(each.batch) for each in follower.poll() if each.kind == "points")
                spent += time.process_time() - before
            if points < count * len(TAGS):
                raise AssertionError(f"{points} of {count * len(TAGS)} points of a step")
            taken.append(spent)
    return sorted(taken)[len(taken) // 2]


def main(number: str = "64") -> None:
    """Print each format beside JSONL."""
    count = int(number)
    formats: list[Write] = [wandb, swanlab, clearml, console, mlflow, trackio]
    usual = follow(jsonl, count)
    print(f"following a step of {count} runs, CPU: jsonl {1000 * usual:.1f} ms", flush=True)
    for write in formats:
        took = follow(write, count)
        print(f"  {write.__name__} {1000 * took:.1f} ms, {took / usual:.2f}x of jsonl", flush=True)

"""What `check` costs beside `export` without its printing and with it, whole processes, on a million scalars.

Programs run in turn, several rounds; processor time (user and system) is compared, because it does not
depend on who else uses the machine. Promised: `check` takes at most 1.3 times what `export` without its
printing takes. It reads and judges everything: what was remembered of a round before is not used, and what
that would save is the last of the programs. Imports and the rules themselves, which a log of one row costs as
well, are told apart: the last line is the same ratio without them.

`python -m tests.bench check [SCALARS] [ROUNDS]`
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from rltui.many_runs.file_marks import MIN_AGE_SECONDS
from tests.support.logs.tfwriter import simple_file

ROOT = Path(__file__).resolve().parents[2]
PROMISE = 1.3
# The command itself, all of it but the lines: what `export` needs to read.
READ = (
    "import sys; from rltui.common.interpreter_settings import prepare_start; prepare_start()\n"
    "from rltui.__main__ import main; from rltui.cli.export import point_lines\n"
    "point_lines.JsonlWriter.lines = lambda *_: ()\n"
    "sys.argv[1:] = 'export', *sys.argv[1:], '--output', '/dev/null'\n"
    "main()"
)
TAGS = (
    "actor/entropy", "actor/kl_loss", "actor/pg_clipfrac", "actor/grad_norm", "actor/lr", "actor/pg_loss",
    "critic/score/mean", "critic/rewards/mean", "critic/rewards/std", "response_length/mean",
    "response_length/clip_ratio", "timing_s/step", "timing_s/gen", "perf/mfu/actor", "perf/throughput",
    *(f"own/metric_{index}" for index in range(25)),
)  # fmt: skip


def values_of(scalars: int) -> np.ndarray:
    """(steps, tags) what both logs hold."""
    draw = np.random.default_rng(5)
    return np.abs(draw.normal(0.1, 0.01, (scalars // len(TAGS), len(TAGS))))


def write_jsonl(folder: Path, scalars: int) -> Path:
    """A verl-like file logger's log of so many scalars."""
    run = folder / "jsonl" / "run"
    run.mkdir(parents=True)
    with (run / "metrics.jsonl").open("w") as file:
        for step, values in enumerate(values_of(scalars).tolist(), 1):
            row = {"step": step, "data": dict(zip(TAGS, values, strict=True)), "timestamp": 1.7636e9 + step}
            file.write(json.dumps(row) + "\n")
    return folder / "jsonl"


def write_events(folder: Path, scalars: int) -> Path:
    """The same as an event file."""
    run = folder / "events" / "run"
    run.mkdir(parents=True)
    data = simple_file(scalars // len(TAGS), TAGS, 1, values_of(scalars))
    (run / "events.out.tfevents.1763600000.node7.991.0").write_bytes(data)
    return folder / "events"


def cost(words: list[str], home: str) -> tuple[float, float]:
    """(processor seconds, seconds) of one process."""
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd=ROOT,
        env={**kept, "HOME": home, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip
    _, _, usage = os.wait4(process.pid, 0)
    process.returncode = 0
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - began


def main(number: str = "1_000_000", repeats: str = "5") -> None:
    """Print the table."""
    scalars, rounds = int(number), int(repeats)
    with tempfile.TemporaryDirectory() as home:
        written = {
            name: (str(write(Path(home), scalars)), str(write(Path(home) / "row", len(TAGS))))
            for name, write in (("JSONL", write_jsonl), ("event file", write_events))
        }
        time.sleep(MIN_AGE_SECONDS)  # of younger files nothing is remembered
        for name, (logs, row) in written.items():
            programs = {
                "start (--version)": ["-m", "rltui", "--version"],
                "export without printing": ["-c", READ, logs],
                "export to /dev/null": ["-m", "rltui", "export", logs, "--output", "/dev/null"],
                "check": ["-m", "rltui", "check", logs, "--no-cache"],
                "check --json": ["-m", "rltui", "check", logs, "--json", "--no-cache"],
                "check, remembered": ["-m", "rltui", "check", logs],
                "export of one row": ["-c", READ, row],
                "check of one row": ["-m", "rltui", "check", row, "--no-cache"],
            }
            found: dict[str, list[tuple[float, float]]] = {key: [] for key in programs}
            cost(programs["check, remembered"], home)  # it leaves the verdicts that its rounds read
            for _ in range(rounds):
                for key, words in programs.items():
                    found[key].append(cost(words, home))
            median = {key: statistics.median(cpu for cpu, _ in costs) for key, costs in found.items()}
            base = median["export without printing"]
            print(f"{name}, {scalars:,} scalars, median of {rounds}       CPU s   s     ratio")
            for key, costs in found.items():
                cpu, wall = (statistics.median(values) for values in zip(*costs, strict=True))
                promise = f"  (promised: at most {PROMISE})" if key == "check" else ""
                print(f"  {key:40}{cpu:8.2f}{wall:8.2f}{cpu / base:8.2f}{promise}")
            judged = median["check"] - median["check of one row"]
            read = base - median["export of one row"]
            print(f"  {'check beyond one row':40}{judged:8.2f}{'':8}{judged / read:8.2f}")

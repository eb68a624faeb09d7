"""Many small runs: how cost grows with their count, two processes beside one, the second `check`.

`python -m tests.bench shards [RUNS]`; 1,000 by default, 10,000 for the figures of the change log. Seconds of
a process of its own for each figure, with a cache of its own.
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

RUNS = 1000
STEPS = 40
GROUP = 500  # runs of a folder
KEYS = (
    "actor/pg_loss", "actor/entropy", "actor/ppo_kl", "actor/pg_clipfrac", "actor/grad_norm",
    "critic/score/mean", "critic/rewards/mean", "response_length/mean", "prompt_length/mean", "timing_s/step",
    "timing_s/gen", "perf/throughput",
)  # fmt: skip
EARLY = 1_600_000_000.0  # seconds since 1970

# Runs of a tree that one command is given; prints seconds, its own peak in MB, and that of its workers.
_COMMAND = """
import resource, subprocess, sys, time
began = time.perf_counter()
subprocess.run([sys.executable, "-m", "rltui", *sys.argv[1:]], stdout=subprocess.DEVNULL)
print(time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)
"""


def write_tree(folder: Path, count: int) -> Path:
    """Small JSONL logs of runs, one after the other, each with the console of its job."""
    for number in range(count):
        rng = random.Random(number)
        run = folder / f"group{number // GROUP:02d}" / f"run_{number:05d}"
        run.mkdir(parents=True)
        rows = []
        for step in range(1, STEPS + 1):
            row: dict[str, float] = {"step": step, "_timestamp": EARLY + 7 * number + 30 * step}
            for key in KEYS:
                row[key] = round(abs(rng.gauss(1, 0.1)) * (0.01 if "kl" in key or "clip" in key else 1), 6)
            rows.append(json.dumps(row))
        (run / "metrics.jsonl").write_text("\n".join(rows) + "\n")
        (run / f"slurm-{100_000 + number}.out").write_text("started\nended\n")
    return folder


def measure(home: Path, *words: str) -> tuple[float, float]:
    """Seconds and megabytes of one command."""
    env = {**os.environ, "XDG_CACHE_HOME": str(home / "cache"), "OPENBLAS_NUM_THREADS": "1"}
    env["PYTHONPATH"] = str(Path(__file__).resolve().parents[2])
    command = [sys.executable, "-c", _COMMAND, *words]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    seconds, peak = done.stdout.split()
    return float(seconds), float(peak)


def main(number: str = str(RUNS)) -> None:
    """Print the figures."""
    count = int(number)
    with tempfile.TemporaryDirectory(prefix="rltui-shards-") as folder:
        home = Path(folder)
        logs = str(write_tree(home / "logs", count))
        half = str(write_tree(home / "half", count // 2))
        time.sleep(4)  # what was just written is not remembered
        less, _ = measure(home, "check", half, "--no-cache", "--engine", "processes:1")
        one, _ = measure(home, "check", logs, "--no-cache", "--engine", "processes:1")
        two, peak = measure(home, "check", logs, "--engine", "processes:2")
        again, _ = measure(home, "check", logs)
        listed, least = measure(home, "runs", logs)
    print(f"{count:,} runs in one process: {one:.1f} s, {one / less:.2f} times half of them (2 is linear)")
    print(f"in two processes: {two:.1f} s, {one / two:.2f} times as fast; the driver holds {peak:.0f} MB")
    print(f"the second check: {again:.1f} s, {two / again:.1f} times as fast")
    print(f"runs after it: {listed:.1f} s, {least:.0f} MB")

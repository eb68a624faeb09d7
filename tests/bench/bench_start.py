"""What commands cost before they do anything: processor time beside that of importing what all of them need.

`python -m tests.bench start`: whole processes in turn, medians of the ratios of each round.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from tests.bench.bench_check import cost, write_jsonl

ROUNDS = 9
CLICK = ["-c", "import click"]
NUMPY = ["-c", "import click, numpy"]


def main() -> None:
    """Print the table."""
    with tempfile.TemporaryDirectory() as home:
        logs = str(write_jsonl(Path(home), 8000))
        commands = {
            "--version": CLICK,
            "--help": CLICK,
            "wait --help": CLICK,
            "merge --help": CLICK,
            "check --help": CLICK,
            "explain actor/pg_clipfrac": CLICK,
            f"check {logs} --no-cache": NUMPY,
            f"snapshot {logs}": NUMPY,
        }
        for command, beside in commands.items():
            run = ["-m", "rltui", *command.split(" ")]
            cost(run, home)  # it leaves compiled modules and tables
            rounds = [(cost(run, home)[0], cost(beside, home)[0]) for _ in range(ROUNDS)]
            took = statistics.median(own for own, _ in rounds)
            ratio = statistics.median(own / other for own, other in rounds)
            what = command.replace(logs, "LOGDIR")
            print(f"  {what:32}{took * 1e3:8.0f} ms{ratio:8.2f} x `{beside[1]}`")

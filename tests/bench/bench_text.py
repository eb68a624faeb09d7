"""How fast text logs are read, against the obvious way of doing it, in the same run."""

from __future__ import annotations

import json
import random
import statistics
import time

from rltui.logs.formats.interface import Format
from rltui.logs.formats.lines import csv_table, jsonl
from rltui.logs.formats.printed_metrics import trainer_console
from tests.bench.timing import cpu
from tests.support.logs.file_in_memory import MemFile, read_whole

TAGS = 60
ROUNDS = 5


def verl_lines(count: int, seed: int = 1) -> bytes:
    """A file logger of veRL: 60 values a line, about 2.4 KB."""
    draw = random.Random(seed)
    keys = [f"critic/some_group_{tag % 7}/metric_{tag}/mean" for tag in range(TAGS)]
    return b"".join(
        json.dumps({"step": step, "data": {key: draw.gauss(0, 1) for key in keys}}).encode() + b"\n"
        for step in range(count)
    )


def trl_lines(count: int, seed: int = 2) -> bytes:
    """Flat records of 26 values."""
    draw = random.Random(seed)
    return b"".join(
        json.dumps({**{f"rewards/f{tag}/mean": draw.random() for tag in range(26)}, "step": step}).encode()
        + b"\n"
        for step in range(count)
    )


def nan_lines(count: int) -> bytes:
    """The veRL lines, every tenth with a NaN token, which orjson refuses."""
    lines = verl_lines(count).split(b"\n")
    return b"\n".join(
        line.replace(b'mean": ', b'mean": NaN, "x": ', 1) if number % 10 == 0 else line
        for number, line in enumerate(lines)
    )


def csv_rows(count: int, seed: int = 3) -> bytes:
    """A progress.csv of 20 columns."""
    draw = random.Random(seed)
    header = ",".join(["time/total_timesteps", *(f"train/m{tag}" for tag in range(19))])
    rows = [f"{step}," + ",".join(f"{draw.random():.12g}" for _ in range(19)) for step in range(count)]
    return "\n".join([header, *rows, ""]).encode()


def console_lines(count: int, seed: int = 4) -> bytes:
    """The console of veRL: 60 values a line, another line between two."""
    draw = random.Random(seed)
    return b"".join(
        (
            f"step:{step} - " + " - ".join(f"actor/m{tag}:np.float64({draw.random()})" for tag in range(TAGS))
        ).encode()
        + b"\n(WorkerDict pid=12) some other line\n"
        for step in range(count)
    )


def plain_json(data: bytes) -> dict[str, list[tuple[int, float]]]:
    """The obvious way: json per line, append per key."""
    series: dict[str, list[tuple[int, float]]] = {}
    for line in data.splitlines():
        record = json.loads(line)
        step = record["step"]
        for key, value in (record.get("data") or record).items():
            if key != "step" and isinstance(value, float):
                series.setdefault(key, []).append((step, value))
    return series


def compare(title: str, form: Format, name: str, data: bytes, plain: bool = True) -> None:
    """Median CPU of reader and obvious way over interleaved rounds."""
    ours, theirs = [], []
    count = 0
    for _ in range(ROUNDS):
        begin = time.process_time()
        count = len(read_whole(form, MemFile(name, data)))
        ours.append(time.process_time() - begin)
        if plain:
            theirs.append(cpu(lambda: plain_json(data)))
    spent = statistics.median(ours)
    rate = count / spent / 1e6
    ratio = f"{statistics.median(theirs) / spent:5.1f}x plain json" if plain else ""
    print(f"{title:34} {count / 1e6:6.2f} M values {spent * 1e3:8.0f} ms {rate:6.2f} M/s  {ratio}")


def main() -> None:
    """Print one line for each kind of log."""
    compare("JSON lines, veRL", jsonl.FORMAT, "a.jsonl", verl_lines(20_000))
    compare("JSON lines, flat", jsonl.FORMAT, "a.jsonl", trl_lines(40_000))
    compare("JSON lines, veRL, NaN in 1 of 10", jsonl.FORMAT, "a.jsonl", nan_lines(10_000))
    compare("CSV", csv_table.FORMAT, "progress.csv", csv_rows(30_000), plain=False)
    compare("console, veRL", trainer_console.FORMAT, "console.log", console_lines(5_000), plain=False)

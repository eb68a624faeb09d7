"""The same bytes whatever works on the runs, and no silent gap where a worker is killed.

`python -m tests.bench engines [RUNS]`: `check --json` of 300 runs in one process, in two, on Ray, Dask
and submitit's local executor (those that are installed), and in shards that are merged. Each engine once more
with the first worker killed that is seen with a log open. Ends with 1 where bytes or exit code differ from
those of one process, or where a worker was lost and neither the whole document nor a diagnostic and exit code
2 came.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rltui.common.extras import EXTRAS
from tests.bench.bench_shards import write_tree

RUNS = 300
SHARDS = 4
ENGINES = ("processes:2", "ray", "dask", "slurm:local")
_SUBREAPER = 36  # PR_SET_CHILD_SUBREAPER, prctl(2)
SHUTDOWN = 600.0  # seconds after which a command is taken for one that hangs


class Command:
    """A command of rltui that runs, with a home of its own."""

    def __init__(self, home: Path, *words: str) -> None:
        root = str(Path(__file__).resolve().parents[2])
        env = {**os.environ, "PYTHONPATH": root, "OPENBLAS_NUM_THREADS": "1"}
        env |= {"XDG_CACHE_HOME": str(home / "c"), "XDG_STATE_HOME": str(home / "s"), "RAY_TMPDIR": str(home)}
        self._out, self._err = home / "out", home / "err"
        self._began, self._spent = time.perf_counter(), _cpu()
        with self._out.open("wb") as out, self._err.open("wb") as err:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "rltui", *words], stdout=out, stderr=err, env=env
            )

    def end(self) -> tuple[int, bytes, float, float]:
        """Exit code, what it printed, seconds, processor seconds of all its processes."""
        code = self.process.wait(SHUTDOWN)
        _wait_for_orphans()
        return code, self._out.read_bytes(), time.perf_counter() - self._began, _cpu() - self._spent


def _adopt_orphans() -> None:
    """Become the parent of processes whose own parent has ended: their time counts, too (Linux)."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans(most: float = 20.0) -> None:
    began = time.monotonic()
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() - began < most:
            if os.waitpid(-1, os.WNOHANG) == (0, 0):
                time.sleep(0.05)


def _cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill_a_worker(command: Command, logs: Path) -> bool:
    """Kill the first process that the command has begun and that has a log open; whether there was one."""
    while command.process.poll() is None:
        for pid in _below(command.process.pid):
            if any(place.startswith(f"{logs}/") for place in _open_files(pid)):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
                    return True
    return False


def _below(pid: int) -> Iterator[int]:
    """The processes that a process has begun, and those that they have."""
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            for each in (task / "children").read_text().split():
                yield int(each)
                yield from _below(int(each))


def _open_files(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError):
        for descriptor in Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(OSError):
                yield str(descriptor.readlink())


def merged(home: Path, logs: Path) -> tuple[int, bytes, float, float]:
    """The shards one after the other, and their documents merged."""
    files, seconds, spent = [], 0.0, 0.0
    for index in range(1, SHARDS + 1):
        words = ("check", str(logs), "--json", "--no-cache", "--shard", f"{index}/{SHARDS}")
        _, out, took, cpu = Command(home, *words).end()
        seconds, spent = seconds + took, spent + cpu
        files.append(home / f"part{index}.json")
        files[-1].write_bytes(out)
    code, out, took, cpu = Command(home, "merge", *map(str, files)).end()
    return code, out, seconds + took, spent + cpu


def main(number: str = str(RUNS)) -> bool:
    """Print the table; whether anything failed."""
    count, wrong = int(number), 0
    _adopt_orphans()
    with tempfile.TemporaryDirectory(prefix="rltui-") as folder:
        home = Path(folder)
        logs = write_tree(home / "logs", count)
        check = ("check", str(logs), "--json", "--no-cache")
        code, whole, seconds, spent = Command(home, *check).end()
        print(f"{count} runs, {len(whole):,} bytes of JSON, exit code {code}; load {os.getloadavg()[0]:.1f}")
        print(f"{'':22}{'s':>8}{'CPU s':>8}  bytes   with a worker killed")
        print(f"{'local':22}{seconds:8.1f}{spent:8.1f}  -", flush=True)
        for engine in ENGINES:
            package = EXTRAS.get(engine.partition(":")[0])
            if package and find_spec(package) is None:
                print(f"{engine:22}  not installed")
                continue
            done = Command(home, *check, "--engine", engine).end()
            command = Command(home, *check, "--engine", engine)
            victim = kill_a_worker(command, logs)
            same, after = done[:2] == (code, whole), command.end()
            fate, fine = _fate(after[0], after[1], (code, whole), count)
            wrong += not (same and fine and victim)
            print(
                f"{engine:22}{done[2]:8.1f}{done[3]:8.1f}  {'equal' if same else 'OTHER'}   {fate}",
                flush=True,
            )
        done = merged(home, logs)
        same = done[:2] == (code, whole)
        wrong += not same
        print(
            f"{f'{SHARDS} shards, merged':22}{done[2]:8.1f}{done[3]:8.1f}  {'equal' if same else 'OTHER'}   -"
        )
    return wrong > 0


def _fate(code: int, out: bytes, whole: tuple[int, bytes], count: int) -> tuple[str, bool]:
    """What came of a command whose worker was killed, and whether that is as promised."""
    if (code, out) == whole:
        return "worked on again: equal", True
    document = json.loads(out or b"{}")
    lost = sum(each["message"].startswith("not judged") for each in document.get("diagnostics", ()))
    judged = len(document.get("runs", ()))
    said = f"exit code {code}, {lost} diagnostics of lost shards, {judged} of {count} runs judged"
    return said, code == 2 and lost > 0

"""Reading and storing together: one large file, many runs, live steps, and a week of following.

`python -m tests.bench large [slow] [week]`. Processor time of a
process of its own for each figure, beside the reader alone and, with `slow`, beside peers that keep all
points. The long week is only run with `week`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rltui.logs.delivery import Delivery, Source
from rltui.logs.formats.tfevents.event_format import FORMAT
from rltui.session.session import Session
from rltui.store.store import Store
from tests.bench import bench_tfevents as peers
from tests.bench.bench_follow import many, runs
from tests.support.logs import tfwriter
from tests.support.logs.week import Week

_WAYS = """
import sys, time
from pathlib import Path
from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import read_all
from rltui.session.session import Session
from rltui.store.store import Store

def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024

way, path, small = sys.argv[1:]
for delivery in read_all([small]):  # imports and first calls
    Store().apply(delivery)
began, count = time.process_time(), 0
store = Store()
store.focus({"run", "run_0000"})  # one run is shown
if way == "load":
    session = Session.load([path], charts=False)
    count, store = sum(view.run.points for view in session.runs.values()), session.store
elif way == "follow":
    follower = Follower([path])
    while not follower.caught_up:
        for delivery in follower.poll():
            count += len(delivery.batch) if delivery.kind == "points" else 0
            store.apply(delivery)
else:
    for delivery in read_all([path]):
        count += len(delivery.batch)
        if way == "store":
            store.apply(delivery)
print(count, time.process_time() - began, peak(), store.nbytes)
"""

WORDS = {
    "read": "read only",
    "store": "read and store",
    "load": "read, store and evaluate (check)",
    "follow": "follow and store",
}


def measure(way: str, path: Path, small: Path, rounds: int = 3) -> tuple[int, float, int, int]:
    """(scalars, median CPU seconds, peak RSS in MB, bytes of the store) of a way to take a LOGDIR in."""
    found = []
    for _ in range(rounds):
        run = [sys.executable, "-c", _WAYS, way, str(path), str(small)]
        words = subprocess.run(
            run, capture_output=True, text=True, check=True, cwd=Path(__file__).resolve().parents[2]
        ).stdout.split()
        found.append((float(words[1]), int(words[0]), int(words[2]), int(words[3])))
    took, count, peak, held = sorted(found)[rounds // 2]
    return count, took, peak, held


def table(what: str, path: Path, small: Path, ways: tuple[str, ...], rounds: int = 3) -> float:
    """Print each way and how it stands to reading only; the seconds of reading and storing."""
    stored = first = 0.0
    for way in ways:
        count, took, peak, held = measure(way, path, small, rounds)
        first = first or took
        stored = took if way == "store" else stored
        print(
            f"{what:14} {WORDS[way]:32} {took:7.3f} s {count / took / 1e6:6.2f} M/s {took / first:5.2f}x"
            f"  peak {peak} MB, store {held / 1e6:.1f} MB",
            flush=True,
        )
    return stored


def large_file(folder: Path, small: Path, millions: int, slow: bool) -> None:
    """One file of 60 tags."""
    path = folder / f"{millions}m" / "run" / peers.NAME
    path.parent.mkdir(parents=True)
    with path.open("wb") as out:
        out.write(tfwriter.version())
        for part in range(millions):
            out.write(tfwriter.simple_file(16_667, first=16_667 * part)[len(tfwriter.version()) :])
    what = f"{millions}M scalars"
    took = table(what, path.parents[1], small, ("read", "store", "follow", "load"))
    server = peers.data_server(path)
    print(f"{what:14} {'data server (sampled)':32} {server:7.3f} s {server / took:19.2f}x of read and store")
    if slow:
        for name, peer in (("EventAccumulator, keep all", peers.accumulator), ("tbparse", peers.tbparse)):
            seconds = peer(path)
            print(f"{what:14} {name:32} {seconds:7.3f} s {seconds / took:19.2f}x of read and store")


def many_runs(small: Path, count: int, scalars: int) -> None:
    """Many files, one for each run."""
    with runs(count, scalars) as root:
        table(f"{count} x {scalars}", root, small, ("read", "store", "follow", "load"))


def live(folder: Path) -> None:
    """Sixty new scalars, from the file to the store and into the session; beside lists by tag."""
    path = folder / "live" / "run" / peers.NAME
    path.parent.mkdir(parents=True)
    whole = tfwriter.simple_file(4000)
    step = len(tfwriter.simple_file(1, first=3000)) - len(tfwriter.version())
    path.write_bytes(whole[: -1000 * step])
    file, log = peers.DiskFile(path), FORMAT.open(peers.NAME)
    store, session = Store(), Session()
    source = Source("run", "run/" + peers.NAME, "tfevents")
    session.focus("run")

    def take(into: Callable[[Delivery], object]) -> int:
        batch = log.read(file)
        into(Delivery(source, batch))
        return len(batch)

    while take(store.apply):
        pass
    spent = {"read and store": 0.0, "read": 0.0}
    with path.open("ab", buffering=0) as writer:
        for left in range(1000, 0, -1):
            writer.write(whole[len(whole) - left * step : len(whole) - (left - 1) * step])
            began = time.process_time()
            batch = log.read(file)
            read = time.process_time()
            store.apply(Delivery(source, batch))
            spent["read"] += read - began
            spent["read and store"] += time.process_time() - began
            assert len(batch) == 60
    file.close()
    both, only = spent["read and store"] * 1e3, spent["read"] * 1e3
    print(
        f"60 new scalars: read and store {both:.0f} us CPU (target 100), {both / only:.2f}x of reading alone"
    )


def focus(runs_of: int) -> None:
    """What the store holds of many long runs, one of them shown."""
    from tests.bench.bench_store import BLOCK, TAGS, rows

    held = {}
    for shown in (True, False):
        store = Store()
        if shown:
            store.focus({"run0"})
        for first in range(0, 10 * BLOCK, BLOCK):
            batch = rows(first, BLOCK)
            for number in range(runs_of):
                store.apply(Delivery(Source(f"run{number}", "events.out.tfevents.1.x", "tfevents"), batch))
        held[shown] = store.nbytes / 1e6
    print(
        f"{runs_of} runs of {len(TAGS)} tags: {held[True]:.1f} MB with one run shown,"
        f" {held[False]:.1f} MB if all were, {held[False] / held[True]:.2f}x"
    )


def long_week(folder: Path) -> None:
    """Seven days with a look each minute: restarts twice a day, rotation each hour."""
    tracemalloc.start()
    week = Week(folder / "week", tuple(f"t/{number}" for number in range(20)), 6)
    began = time.perf_counter()
    for minute in range(7 * 24 * 60):
        if minute and not minute % (12 * 60):
            week.restart()
        week.append()
        if minute % 60 == 59:
            week.rotate()
        week.poll(60.0)
        if minute % (24 * 60) == 24 * 60 - 1:
            now = week.measure()
            print(
                f"day {minute // 1440 + 1}: {now.points} points, traced {now.traced / 1e6:.2f} MB,"
                f" store {now.tables / 1e6:.2f} MB, {now.descriptors} descriptors,"
                f" {now.points / week.expected:.4f}x of what was written",
                flush=True,
            )
    tracemalloc.stop()
    print(f"a week in {time.perf_counter() - began:.0f} s")


def main(*parts: str) -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        small = folder / "small"
        many(small / "run" / peers.NAME, 6000)
        large_file(folder, small, 1, "slow" in parts)
        large_file(folder, small, 10, slow=False)
        many_runs(small, 64, 50_000)
        many_runs(small, 1000, 1000)
        live(folder)
        focus(64)
        focus(300)
        if "week" in parts:
            long_week(folder)

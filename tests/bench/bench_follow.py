"""Following at scale: start, idle cost, newest values first, throughput over many runs, huge folders.

`python -m tests.bench follow [PART ...]`. Each figure stands beside another one of the same run.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from rltui.logs.follow.follower import Follower
from rltui.logs.follow.read_all import read_all
from rltui.logs.follow.reader_thread import ReaderThread
from tests.bench.bench_terminal import running
from tests.support.logs import tfwriter

TAGS = [f"actor/metric_{number}" for number in range(60)]


def many(path: Path, scalars: int, first: int = 0) -> None:
    """An event file of `scalars` scalars, 60 tags a step."""
    steps = -(-scalars // len(TAGS))
    records = [
        tfwriter.event(first + step, tfwriter.simple(tag, step * 0.37 + index), wall=1.7e9 + step)
        for step in range(steps)
        for index, tag in enumerate(TAGS)
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(tfwriter.version() + b"".join(records[:scalars]))


@contextmanager
def runs(count: int, scalars: int) -> Iterator[Path]:
    """A LOGDIR of `count` runs with one event file of `scalars` scalars each."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        many(root / "model", scalars)
        content = (root / "model").read_bytes()
        (root / "model").unlink()
        for number in range(count):
            run = root / f"run_{number:04}"
            run.mkdir()
            (run / f"events.out.tfevents.17000{number:05}.host.1.0").write_bytes(content)
        yield root


def timed(work: Callable[[], object]) -> tuple[float, float]:
    """Wall and CPU seconds of a call."""
    wall, cpu = time.perf_counter(), time.process_time()
    work()
    return time.perf_counter() - wall, time.process_time() - cpu


def catch_up(follower: Follower) -> int:
    """Look until everything has been read; the number of points."""
    count = 0
    while not follower.caught_up:
        for delivery in follower.poll():
            count += len(delivery.batch) if delivery.kind == "points" else 0
    return count


def idle(count: int, seconds: float = 20.0) -> None:
    """CPU and bytes of a feed while nothing happens, beside listing and asking every file once a second."""
    with runs(count, 60) as root:
        follower = Follower([root])
        feed = ReaderThread(follower, lambda _: None)
        feed.start()
        while not follower.caught_up:
            time.sleep(0.1)
        time.sleep(2.0)
        before, cpu = follower.status(), time.process_time()
        time.sleep(seconds)
        used = (time.process_time() - cpu) / seconds
        after = follower.status()
        feed.stop()

        def naive() -> None:
            for folder, _, names in os.walk(root):
                for name in names:
                    Path(folder, name).stat()

        _, walk = timed(naive)
        print(
            f"idle, {count} files: {used:.3%} of a core, {after.bytes_read - before.bytes_read} bytes read in"
            f" {seconds:.0f} s, poll {after.poll:.2f} s, {after.noticing};"
            f" walk and stat at 1 Hz: {walk:.3%}, {walk / max(used, 1e-9):.1f}x"
        )


def newest() -> None:
    """Ends of 64 large logs, beside reading them whole."""
    with runs(64, 50_000) as root:
        follower = Follower([root])
        seen: set[str] = set()
        first = last = used = 0.0
        began, cpu = time.perf_counter(), time.process_time()
        while len(seen) < 64:
            for delivery in follower.poll():
                if len(delivery.batch):
                    first = first or time.perf_counter() - began
                    seen.add(delivery.source.run)
                    last, used = time.perf_counter() - began, time.process_time() - cpu
        wall, _ = timed(lambda: catch_up(follower))
        print(
            f"newest of 64 runs: first {first * 1000:.0f} ms, all {last * 1000:.0f} ms"
            f" ({used * 1000:.0f} ms CPU); their history: {wall * 1000:.0f} ms, {wall / last:.0f}x"
        )


def throughput(count: int, scalars: int) -> None:
    """Following from the start, beside reading once."""
    with runs(count, scalars) as root:
        follower = Follower([root])
        points: list[int] = []
        wall, cpu = timed(lambda: points.append(catch_up(follower)))
        whole: list[int] = []
        once, once_cpu = timed(
            lambda: whole.append(sum(len(delivery.batch) for delivery in read_all([root])))
        )
        assert points == whole == [count * scalars]
        print(
            f"{count} x {scalars}: follow {points[0] / cpu / 1e6:.2f} M/s CPU ({wall:.2f} s),"
            f" read once {whole[0] / once_cpu / 1e6:.2f} M/s CPU ({once:.2f} s), {once_cpu / cpu:.2f}x"
        )


def small_files(count: int = 45_000) -> None:
    """45,000 small logs: to be found, to be read, and then idle."""
    with tempfile.TemporaryDirectory() as folder:
        content = tfwriter.version() + tfwriter.event(1, tfwriter.simple("loss", 0.5))
        for number in range(count):
            run = Path(folder) / f"{number // 300:03}" / f"{number % 300:03}"
            run.mkdir(parents=True)
            (run / "events.out.tfevents.1.host").write_bytes(content)
        follower = Follower([folder])
        wall, _ = timed(lambda: catch_up(follower))
        began = follower._clock()
        _, cpu = timed(lambda: [list(follower.poll(began + second)) for second in range(1, 61)])
        status = follower.status()
        print(
            f"{count} logs: read in {wall:.1f} s ({wall / count * 1e6:.0f} us each),"
            f" then {cpu / 60:.2%} of a core; poll {status.poll:.1f} s, rescan {status.rescan:.1f} s,"
            f" worst look {status.look_worst:.2f} s"
        )


def checkpoints(count: int = 100_000) -> None:
    """100,000 files beside a log: the first search, and the following ones."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        many(root / "events.out.tfevents.1.host", 600)
        for number in range(count):
            (root / f"shard_{number}.distcp").touch()
        os.utime(root, (1.7e9, 1.7e9))
        follower = Follower([root])
        first, _ = timed(lambda: catch_up(follower))
        began = follower._clock()
        again, _ = timed(lambda: list(follower.poll(began + 60)))
        print(
            f"{count} files beside a log: first {first * 1000:.0f} ms, then {again * 1000:.2f} ms,"
            f" {first / again:.0f}x"
        )


def start(count: int, scalars: int, rounds: int = 7) -> None:
    """From the start of the process to a frame with values, beside a bare Textual hello world."""
    walls: dict[str, list[float]] = {"hello": [], "rltui": []}
    with runs(count, scalars) as root, tempfile.TemporaryDirectory() as home:
        programs = {
            "hello": (("tests.support.screen.peers", "hello"), b"hello"),
            # A card with its name and value; the first start fills a cache and is left out.
            "rltui": (("rltui", "watch", str(root)), b"actor/metric_"),
        }
        for number in range(rounds + 1):
            for name, (words, sign) in programs.items():
                with running(*words, home=home) as probe:
                    wall = probe.wait_for(sign) * 1000
                if number:
                    walls[name].append(wall)
    bare, ours = statistics.median(walls["hello"]), statistics.median(walls["rltui"])
    print(
        f"start, {count} x {scalars}: {ours:.0f} ms to values, hello world {bare:.0f} ms, {ours / bare:.2f}x"
    )


def growing(count: int = 1000, seconds: int = 8) -> None:
    """How late a line of `count` logs that all grow once a second is seen, beside the poll."""
    with runs(count, 60) as root, ExitStack() as stack:
        follower = Follower([root])
        catch_up(follower)
        logs = [stack.enter_context(path.open("ab")) for path in sorted(root.glob("*/*"))]
        written: dict[tuple[str, int], float] = {}
        late: list[float] = []
        step, due = 10, time.perf_counter() + 1.0
        until = due + seconds
        while time.perf_counter() < until + 2.0:
            now = time.perf_counter()
            if due <= now < until:
                step, due = step + 1, due + 1.0
                for number, log in enumerate(logs):
                    log.write(tfwriter.event(step, tfwriter.simple(TAGS[0], 0.5)))
                    log.flush()
                    written[f"run_{number:04}", step] = time.perf_counter()
            wait = min(follower.next_due(), 0.02)
            if wait > 0:
                time.sleep(wait)
                continue
            for delivery in follower.poll():
                now = time.perf_counter()
                said = {(delivery.source.run, at) for at in delivery.batch.step.tolist()}
                late += [now - written[each] for each in said & written.keys()]
        assert len(late) == len(written)
        late.sort()
        print(
            f"{count} growing logs: a line is seen {statistics.median(late):.2f} s late, at worst"
            f" {late[-1]:.2f} s, {late[-1] / follower.interval.poll:.2f}x of what was asked for;"
            f" poll {follower.status().poll:.2f} s"
        )


def headless(count: int, scalars: int, rounds: int = 5) -> None:
    """CPU of whole processes that read everything, beside reading alone."""
    reading = (
        "import sys; from rltui.logs.follow.read_all import read_all; [0 for _ in read_all(sys.argv[1:])]"
    )
    with runs(count, scalars) as root:
        commands = {
            "read alone": [sys.executable, "-c", reading, str(root)],
            **{
                name: [sys.executable, "-m", "rltui", name, str(root)] for name in ("runs", "check", "export")
            },
        }
        cpu: dict[str, list[float]] = {name: [] for name in commands}
        for _ in range(rounds):
            for name, command in commands.items():
                before = resource.getrusage(resource.RUSAGE_CHILDREN)
                environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
                subprocess.run(
                    command,
                    stdout=subprocess.DEVNULL,
                    cwd=Path(__file__).parents[2],
                    env=environment,
                    check=False,
                )
                after = resource.getrusage(resource.RUSAGE_CHILDREN)
                cpu[name].append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
        alone = statistics.median(cpu["read alone"])
        said = [f"{name} {statistics.median(all_of):.2f} s" for name, all_of in cpu.items()]
        ratios = [f"{name} {statistics.median(all_of) / alone:.2f}x" for name, all_of in cpu.items()][1:]
        print(f"{count} x {scalars}, whole processes, CPU: {', '.join(said)}; {', '.join(ratios)} of reading")


ALL: dict[str, Callable[[], None]] = {
    "start1": lambda: start(1, 50_000),
    "start64": lambda: start(64, 50_000),
    "newest": newest,
    "throughput64": lambda: throughput(64, 50_000),
    "throughput1000": lambda: throughput(1000, 1000),
    "idle64": lambda: idle(64),
    "idle1000": lambda: idle(1000),
    "small": small_files,
    "checkpoints": checkpoints,
    "growing": growing,
    "headless1": lambda: headless(1, 1_000_000),
    "headless64": lambda: headless(64, 2000),
}


def main(*parts: str) -> None:
    """Run these parts, by default all."""
    for name in parts or ALL:
        ALL[name]()

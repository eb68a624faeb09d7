"""Event files against TensorBoard's accumulator, tbparse and the data server, in the same round.

`python -m tests.bench tfevents [fast]`. Every figure is processor time unless it says wall. The slow peers
read the same million scalars once; ours and the data server take the median of interleaved rounds.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from rltui.logs.formats.tfevents.bulk import bulk_reader
from rltui.logs.formats.tfevents.event_format import FORMAT
from rltui.logs.formats.tfevents.event_tags import EventTags
from rltui.logs.formats.tfevents.templates import TemplateCache
from tests.bench.timing import cpu
from tests.support.logs import tfwriter as w

NAME = "events.out.tfevents.1763600000.node7.991.0"
ROUNDS = 5
ODD_STEPS = 5000


class DiskFile:
    """A `File` over one open descriptor."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        self._descriptor = os.open(path, os.O_RDONLY)

    def size(self) -> int:
        """The size now."""
        return os.fstat(self._descriptor).st_size

    def read_at(self, offset: int, length: int) -> bytes:
        """Bytes at an offset."""
        return os.pread(self._descriptor, length, offset)

    def close(self) -> None:
        """Close it."""
        os.close(self._descriptor)


def ours(path: Path, verify: bool = False) -> int:
    """Read a whole file; returns the number of scalars."""
    file, log, count = DiskFile(path), FORMAT.open(NAME, verify=verify), 0
    while True:
        before = log.offset
        count += len(log.read(file))
        if log.offset == before:
            file.close()
            return count


def accumulator(path: Path) -> float:
    """Seconds that EventAccumulator takes to keep all of a file."""
    from tensorboard.backend.event_processing import event_accumulator

    guidance = dict.fromkeys(("scalars", "tensors", "histograms", "images"), 0)
    return cpu(lambda: event_accumulator.EventAccumulator(str(path), guidance).Reload())


def tbparse(path: Path) -> float:
    """Seconds that tbparse takes to make its table of scalars (of tensors, for TF2 files)."""
    from tbparse import SummaryReader

    def read() -> object:
        reader = SummaryReader(str(path), event_types={"scalars", "tensors"})
        return (reader.scalars, reader.tensors)

    return cpu(read)


def data_server(path: Path, *flags: str) -> float:
    """Seconds that TensorBoard's data server takes for its first load cycle, process start included."""
    import tensorboard_data_server

    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    with subprocess.Popen(
        [
            tensorboard_data_server.server_binary(),
            *("--logdir", str(path.parent), "--port", "0", "--reload", "once", "-vv", *flags),
        ],
        stderr=subprocess.PIPE,
        text=True,
    ) as server:
        assert server.stderr is not None
        for line in server.stderr:
            if "Finished load cycle" in line:
                break
        server.kill()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(runs: list[float]) -> float:
    """The median."""
    return statistics.median(runs)


def line(what: str, count: int, seconds: float, ratio: str = "") -> None:
    """One row of the table."""
    rate = f"{count / seconds / 1e6:7.2f} M/s"
    print(f"{what:44s} {count:>10,d}  {seconds * 1e3:9.1f} ms  {rate}  {ratio}", flush=True)


def million(folder: Path, slow_peers: bool) -> None:
    """A million simple scalars of 60 tags, all readers in the same round."""
    path = folder / "million" / NAME
    path.parent.mkdir()
    path.write_bytes(w.simple_file(16_667))
    count = ours(path)
    plain, proved, server = [], [], []
    for _ in range(ROUNDS):
        plain.append(cpu(lambda: ours(path)))
        proved.append(cpu(lambda: ours(path, verify=True)))
        server.append(data_server(path))
    line("1M simple: rltui", count, median(plain))
    line("1M simple: rltui, all data CRCs", count, median(proved))
    line("1M simple: data server (sampled)", count, median(server), f"{median(server) / median(plain):.1f}x")
    if slow_peers:
        for name, peer in (("EventAccumulator, keep all", accumulator), ("tbparse", tbparse)):
            seconds = peer(path)
            line(f"1M simple: {name} (once)", count, seconds, f"{seconds / median(plain):.0f}x")


def odd_styles(folder: Path) -> None:
    """Other styles, with and without proof of all checksums, against the data server."""
    for style in w.STYLES:
        if style == "simple":
            continue
        path = folder / style / NAME
        path.parent.mkdir()
        path.write_bytes(w.STYLES[style](ODD_STEPS))
        count = ours(path)
        plain, proved, server = [], [], []
        for _ in range(ROUNDS):
            plain.append(cpu(lambda path=path: ours(path)))
            proved.append(cpu(lambda path=path: ours(path, verify=True)))
            server.append(data_server(path))
        line(f"{style}: rltui", count, median(plain), f"data server {median(server) / median(plain):.1f}x")
        line(f"{style}: rltui, all data CRCs", count, median(proved))


def one_step(folder: Path) -> None:
    """Sixty new scalars, read as they arrive; and the end of a long file."""
    path = folder / "live" / NAME
    path.parent.mkdir()
    whole = w.simple_file(4000)
    step = len(w.simple_file(1, first=3000)) - len(w.version())
    path.write_bytes(whole[: -1000 * step])
    file, log = DiskFile(path), FORMAT.open(NAME)
    while log.read(file):
        pass
    took = []
    with path.open("ab", buffering=0) as writer:
        for k in range(1000, 0, -1):
            writer.write(whole[len(whole) - k * step : len(whole) - (k - 1) * step])
            began = time.perf_counter()
            batch = log.read(file)
            took.append(time.perf_counter() - began)
            assert len(batch) == 60
    print(f"60 new scalars, read: {median(took) * 1e6:.0f} us wall")
    previews = [cpu(lambda: FORMAT.open(NAME).newest(file, 256 << 10)) for _ in range(64)]
    print(f"newest 256 KiB of a file: {median(previews) * 1e3:.2f} ms, 64 times {sum(previews) * 1e3:.0f} ms")
    file.close()


def small_logs() -> None:
    """Small logs, each new, whose tags other logs have had before."""
    for steps in (1, 4, 17, 35, 70):
        contents = [w.simple_file(steps)] * 60
        took = [cpu(partial(one_by_one, contents)) for _ in range(5 * ROUNDS)]
        scalars = steps * len(w.TAGS)
        line(f"60 new logs of {scalars} scalars", scalars * 60, median(took))


def one_by_one(contents: list[bytes]) -> None:
    """Decode logs, each new and alone."""
    for content in contents:
        bulk_reader.decode(content, TemplateCache(EventTags()))


_TEN = """
import sys, time
from pathlib import Path
from tests.bench.bench_tfevents import ours
def peak():
    return int(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) // 1024
ours(Path(sys.argv[2]))
base = peak()
began = time.process_time(); count = ours(Path(sys.argv[1])); took = time.process_time() - began
print(count, took, peak(), base)
"""


def ten_million(folder: Path) -> None:
    """Ten million scalars in one file, batches dropped as they come: the reader's own time and memory."""
    path = folder / "ten" / NAME
    path.parent.mkdir()
    with path.open("wb") as out:
        out.write(w.version())
        for k in range(10):
            out.write(w.simple_file(16_667, first=16_667 * k)[len(w.version()) :])
    small = folder / "live" / NAME
    run = [sys.executable, "-c", _TEN, str(path), str(small)]
    count, took, peak, base = subprocess.run(run, capture_output=True, text=True, check=True).stdout.split()
    line("10M simple: rltui", int(count), float(took), f"peak RSS {peak} MB ({base} MB after a small file)")


def main(*parts: str) -> None:
    """Print the tables."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        million(folder, slow_peers="fast" not in parts)
        odd_styles(folder)
        one_step(folder)
        small_logs()
        ten_million(folder)

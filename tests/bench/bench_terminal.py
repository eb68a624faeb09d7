"""What the real screen costs in bytes and in processor time, beside bare Textual and stock widgets.

Every program runs in a pseudo-terminal of 140x45 that knows synchronised output; rounds are interleaved and
medians are shown. A writer appends a step of 60 metrics at 1 Hz and at 4 Hz while the screen watches.

`python -m tests.bench terminal [ROUNDS]`; `day` instead simulates 24 hours at one step each second and
prints the memory every three hours; `load` presses keys while ten million scalars are read.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
import timeit
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyte

from rltui.draw.braille import Canvas
from tests.support.screen.growing_run import Paced
from tests.support.screen.probe import Probe
from tests.support.screen.screens import screen_of

SIZE = (140, 45)
SECONDS = 12  # of watching updates at each rate
IDLE = 12.0
ROOT = Path(__file__).resolve().parents[2]
Figures = dict[str, float]
CACHE = tempfile.TemporaryDirectory()  # of compiled data files: only the very first start fills it

# Figures that the screen promises: at most so much.
BUDGET: Figures = {
    "start: first frame, ms": 400,
    "start: bytes": 25_000,
    "start: RSS, MB": 70,
    "overview 1 Hz: bytes per update": 1500,
    "policy 1 Hz: bytes per update": 1500,
    "overview 4 Hz: bytes/s": 6000,
    "overview 4 Hz: CPU, %": 4,
    "idle: bytes/s": 0,
    "idle: CPU, %": 0.5,
    "pane key: first bytes, ms": 10,
    "pane key: last bytes, ms": 10,
    "pane key: CPU, ms": 10,
    "row key: last bytes, ms": 10,
    "row key: CPU, ms": 10,
    "pane key: bytes": 15_000,
    "chart 100x20 of 200 points, ms": 0.3,
    "chart 100x20 of 20000 points, ms": 0.3,
}


def environment(home: str) -> dict[str, str]:
    """A terminal with true colours, and nothing of the user's own."""
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    return {
        **kept, "TERM": "xterm-256color", "COLORTERM": "truecolor", "LANG": "C.UTF-8", "HOME": home,
        "XDG_CACHE_HOME": CACHE.name, "XDG_STATE_HOME": f"{home}/state",
        "XDG_CONFIG_HOME": f"{home}/config", "PYTHONPATH": str(ROOT),
    }  # fmt: skip


@contextmanager
def running(*words: str, home: str) -> Iterator[Probe]:
    """A module of ours in a pseudo-terminal."""
    columns, rows = SIZE
    command = [sys.executable, "-m", *words]
    with Probe(command, columns=columns, rows=rows, env=environment(home), cwd=str(ROOT)) as probe:
        yield probe


def started(probe: Probe, words: bytes) -> Figures:
    """Time until the program shows some words, and what it had sent and held when it was quiet."""
    first = probe.wait_for(words) * 1000
    probe.wait_until_quiet(0.6)
    return {
        "start: first frame, ms": first,
        "start: bytes": float(probe.sent),
        "start: RSS, MB": probe.memory(),
        "start: CPU, ms": probe.cpu() * 1000,
    }


def fed(probe: Probe, label: str, hz: float, step: Callable[[], None]) -> Figures:
    """Bytes and processor time while steps arrive."""
    step()
    probe.during(1.2)
    per_update: list[int] = []
    cpu, began = probe.cpu(), time.perf_counter()
    for index in range(round(SECONDS * hz)):
        step()
        per_update.append(probe.during(began + (index + 1) / hz - time.perf_counter()))
    seconds = time.perf_counter() - began
    figures = {f"{label}: CPU, %": (probe.cpu() - cpu) / seconds * 100}
    if hz == 1:
        figures[f"{label}: bytes per update"] = statistics.median(per_update)
    figures[f"{label}: bytes/s"] = sum(per_update) / seconds
    return figures


def idle(probe: Probe) -> Figures:
    """What a screen costs on which nothing happens: bytes of the median second."""
    probe.wait_until_quiet(1.5)
    cpu = probe.cpu()
    seconds = [probe.during(1.0) for _ in range(round(IDLE))]
    return {"idle: bytes/s": statistics.median(seconds), "idle: CPU, %": (probe.cpu() - cpu) / IDLE * 100}


def pressed(probe: Probe, label: str, keys: tuple[bytes, ...]) -> Figures:
    """From writing a key to the bytes of its picture, and the processor time of all threads for it."""
    answers, cpu = [], []
    for key in keys * 4:
        before = probe.cpu_of_threads()
        answers.append(probe.press(key))
        cpu.append((probe.cpu_of_threads() - before) * 1000)
        probe.wait_until_quiet(0.3)
    return {
        f"{label}: first bytes, ms": statistics.median(one.first for one in answers),
        f"{label}: last bytes, ms": statistics.median(one.silence for one in answers),
        f"{label}: CPU, ms": statistics.median(cpu),
        f"{label}: bytes": max(float(one.sent) for one in answers),
    }


def ours(home: str) -> Figures:
    """The real screen, watching a run that is being written."""
    logs = Path(home) / "logs"
    run = Paced(logs)
    with running("rltui", "watch", str(logs), home=home) as probe:
        figures = started(probe, b"overview")
        figures |= fed(probe, "overview 1 Hz", 1, run.step)
        probe.press(b"3")
        figures |= fed(probe, "policy 1 Hz", 1, run.step)
        figures |= idle(probe)
        figures |= pressed(probe, "pane key", (b"2", b"3", b"5", b"7", b"1"))
        figures |= pressed(probe, "row key", (b"j", b"k"))
    with running("rltui", "watch", str(logs), "--poll", "0.25", home=home) as probe:
        probe.wait_for(b"overview")
        probe.wait_until_quiet(0.6)
        figures |= fed(probe, "overview 4 Hz", 4, run.step)
    return figures


def hello(home: str) -> Figures:
    """A bare Textual program."""
    with running("tests.support.screen.peers", "hello", home=home) as probe:
        figures = started(probe, b"hello") | idle(probe)
        return figures | pressed(probe, "row key", (b"j", b"k"))


def widgets(home: str) -> Figures:
    """Textual's own Sparkline and DataTable: 12 series, fed from memory."""
    with running("tests.support.screen.peers", "widgets", "1", home=home) as probe:
        figures = started(probe, b"metric")
        figures |= fed(probe, "overview 1 Hz", 1, lambda: None)
    with running("tests.support.screen.peers", "widgets", "4", home=home) as probe:
        probe.wait_for(b"metric")
        figures |= fed(probe, "overview 4 Hz", 4, lambda: None)
    return figures


def charts() -> Figures:
    """The drawing core: a chart of 100x20 cells from any number of points, reduced to columns."""
    figures: Figures = {}
    draw = np.random.default_rng(7)
    for count in (200, 2_000, 20_000):
        values = np.cumsum(draw.normal(size=count))
        heads = np.linspace(0, count, 200, endpoint=False).astype(np.intp)

        def chart(values: np.ndarray = values, heads: np.ndarray = heads) -> list[str]:
            low, high = np.minimum.reduceat(values, heads), np.maximum.reduceat(values, heads)
            canvas = Canvas(100, 20)
            canvas.line(low, high, float(low.min()), float(high.max()))
            return canvas.lines()

        best = min(timeit.repeat(chart, number=100, repeat=7)) / 100
        figures[f"chart 100x20 of {count} points, ms"] = best * 1000
    return figures


def day(hours: int = 24) -> None:
    """A session and a frame every ten steps, with a clock that runs ahead: memory must stay flat."""
    from rltui.logs.batch import Batch
    from rltui.logs.delivery import Delivery, Source
    from rltui.screen.start import build
    from rltui.session.session import Session
    from tests.support.screen.growing_run import TAGS

    start, count = 1_763_600_000.0, len(TAGS)
    now = [start]
    session = Session()
    screen = screen_of(build(session, ["logs"], clock=lambda: now[0]))
    draw = np.random.default_rng(7)
    tag, single = np.arange(count, dtype=np.uint32), np.ones(count, np.bool_)
    first = 0.0
    for step in range(1, hours * 3600 + 1):
        now[0] = start + step
        batch = Batch(
            TAGS, tag, np.full(count, step), np.full(count, now[0]), draw.normal(1.0, 0.1, count), single
        )
        size = step * 3500
        source = Source("run", "run/events", "tfevents", size, size, modified=now[0], caught_up=True)
        session.apply((Delivery(source, batch, "points"),))
        session.evaluate()
        if step % 10 == 0:
            screen.frame(*SIZE)
        if step % 3600 == 0 and step // 3600 in (1, *range(3, hours + 1, 3)):
            held = resident()
            first = first or held
            print(f"after {step // 3600:2} h: {held:6.1f} MB ({held - first:+.1f} since the first hour)")


def resident() -> float:
    """Memory of this process in MB."""
    words = Path("/proc/self/statm").read_text().split()
    return int(words[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def loading() -> None:
    """Keys while ten million scalars are being read, and when they have been."""
    from tests.support.logs.tfwriter import simple_file

    with tempfile.TemporaryDirectory() as home:
        logs = Path(home) / "logs"
        for number in range(10):  # a million each: the writer needs memory, too
            path = logs / f"run-{number}" / "events.out.tfevents.1763600000.host.1.0"
            path.parent.mkdir(parents=True)
            path.write_bytes(simple_file(1_000_000 // 60))
        with running("rltui", "watch", str(logs), home=home) as probe:
            first = probe.wait_for(b"overview") * 1000
            print(f"first data after {first:.0f} ms")
            terminal = pyte.Screen(*SIZE)
            stream = pyte.ByteStream(terminal)
            stream.feed(bytes(probe.output))
            loading, loaded = [], []
            while len(loading) < 30 and any("reading" in row for row in terminal.display):
                loading.append(helped(probe, terminal, stream))
            told("while loading", loading)
            stream.feed(bytes(probe.read(3.0)))
            while len(loaded) < 12:
                loaded.append(helped(probe, terminal, stream))
            told("when loaded", loaded)
            print(f"{probe.memory():.0f} MB")


def helped(probe: Probe, terminal: pyte.Screen, stream: pyte.ByteStream) -> float:
    """Milliseconds from the help key until help can be read; updates may come in between."""
    began = time.perf_counter()
    probe.type(b"H")
    chunks = []
    while (now := time.perf_counter() - began) < 0.8:
        if data := probe.read(0.8 - now):
            chunks.append((time.perf_counter() - began, data))
    probe.type(b"\x1b")
    end = time.perf_counter() + 0.5
    while (left := end - time.perf_counter()) > 0:
        if data := probe.read(left):
            chunks.append((math.inf, data))
    found = math.inf
    for at, data in chunks:
        stream.feed(data)
        if any("previous metric" in row for row in terminal.display):
            found = min(found, at)
    return found * 1000


def told(label: str, times: list[float]) -> None:
    """Median and worst of some milliseconds."""
    if not times:
        print(f"{label}: over before a key could be pressed")
        return
    print(f"{label}: {len(times)} keys, median {statistics.median(times):.0f} ms, worst {max(times):.0f} ms")


def main(part: str = "3") -> object:
    """Print the table, or run another part."""
    if part in ("day", "load"):
        return day() if part == "day" else loading()
    rounds = int(part)
    with tempfile.TemporaryDirectory() as home, running("rltui", "watch", home, home=home) as probe:
        Paced(Path(home), history=3)
        probe.wait_for(b"overview")
    programs = {"rltui": ours, "hello": hello, "stock": widgets}
    found: dict[str, list[Figures]] = {name: [] for name in programs}
    for _ in range(rounds):
        for name, program in programs.items():
            with tempfile.TemporaryDirectory() as home:
                found[name].append(program(home) | (charts() if name == "rltui" else {}))
    print(f"{'median of ' + str(rounds):36}" + "".join(f"{name:>10}" for name in programs) + "    budget")
    for key in dict.fromkeys(key for name in programs for key in found[name][0]):
        cells = ""
        for name in programs:
            values = [one[key] for one in found[name] if key in one and math.isfinite(one[key])]
            cells += f"{statistics.median(values):>10,.2f}" if values else f"{'':>10}"
        print(f"{key:36}{cells}" + (f"{BUDGET[key]:>10,.1f}" if key in BUDGET else ""))
    return None

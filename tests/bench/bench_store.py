"""The store and the export: each figure beside the plain way to do the same, in the same round.

`python -m tests.bench store`. CPU time of this process, medians of interleaved rounds.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from functools import partial

import numpy as np

from rltui.cli.export.point_lines import JsonlWriter
from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.store.run import Run
from rltui.store.store import Store
from tests.bench.timing import cpu

TAGS = tuple(f"actor/metric_{number}" for number in range(60))
SOURCE = Source("run", "events.out.tfevents.1763600000.node.1.0", "tfevents")
BLOCK = 280  # steps of one delivery of history: about 1 MiB of an event file
LARGE = 1120  # likewise 4 MiB, what the readers deliver while there is more


def rows(first: int, steps: int) -> Batch:
    """`steps` rows of 60 tags."""
    step = np.repeat(np.arange(first, first + steps), len(TAGS))
    size = len(step)
    value = np.sin(step * 0.01).astype(np.float32).astype(np.float64)
    tag = np.tile(np.arange(len(TAGS), dtype=np.uint32), steps)
    return Batch(TAGS, tag, step, 1763600000.0 + step, value, np.ones(size, np.bool_))


def compare(what: str, unit: str, per: float, ways: dict[str, Callable[[], object]], rounds: int = 5) -> None:
    """Print the median of each way and how it stands to the first."""
    taken: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, work in ways.items():
            taken[name].append(cpu(work))
    medians = {name: statistics.median(times) for name, times in taken.items()}
    first = next(iter(medians.values()))
    for name, median in medians.items():
        print(f"{what:28} {name:34} {median / per:10.2f} {unit}  {median / first:6.2f}x")


def filled(steps: int) -> tuple[Store, Run]:
    """A store with one long run."""
    store = Store()
    run, _ = store.apply(Delivery(SOURCE, rows(0, 1)))
    for first in range(1, steps, BLOCK):
        store.apply(Delivery(SOURCE, rows(first, min(BLOCK, steps - first))))
    return store, run


def lists(batches: list[Batch]) -> dict[str, list[tuple[int, float, float]]]:
    """The plain way: a list of points for each tag."""
    found: dict[str, list[tuple[int, float, float]]] = {tag: [] for tag in TAGS}
    for batch in batches:
        names = [batch.tags[tag] for tag in batch.tag.tolist()]
        columns = zip(names, batch.step.tolist(), batch.wall_time.tolist(), batch.value.tolist(), strict=True)
        for tag, step, wall, value in columns:
            found[tag].append((step, wall, value))
    return found


def bulk() -> None:
    """History: 3 million scalars in blocks of 1 and of 4 MiB of an event file."""
    steps = 50_000
    blocks = {
        size: [rows(first, size) for first in range(0, steps - size + 1, size)] for size in (BLOCK, LARGE)
    }

    def store(size: int) -> None:
        target = Store()
        for batch in blocks[size]:
            target.apply(Delivery(SOURCE, batch))

    for size, batches in blocks.items():
        ways: dict[str, Callable[[], object]] = {
            f"store, blocks of {size * len(TAGS)}": partial(store, size),
            "lists by tag": partial(lists, batches),
        }
        compare("history", "ns/scalar", sum(map(len, batches)) * 1e-9, ways, rounds=3)


def small_runs() -> None:
    """Many small runs, none of which is shown: sixty tags, seventeen steps."""
    count, batch = 500, rows(0, 17)
    sources = [Source(f"run{number}", SOURCE.path, "tfevents") for number in range(count)]

    def store() -> Store:
        target = Store()
        target.focus(())
        for source in sources:
            target.apply(Delivery(source, batch))
        return target

    ways: dict[str, Callable[[], object]] = {
        "store": store,
        "lists by tag": lambda: [lists([batch]) for _ in sources],
    }
    compare("a run of 1,020 scalars", "us", count * 1e-6, ways)
    print(f"{'':28} {'held':34} {store().nbytes / count / 1024:10.1f} KiB")


def ticks() -> None:
    """A live step of 60 new scalars."""
    store, _ = filled(3000)
    count = 600
    batches = [rows(first, 1) for first in range(3000, 3000 + 6 * count)]
    turn = iter(batches)

    def live() -> None:
        for _ in range(count):
            store.apply(Delivery(SOURCE, next(turn)))

    ways: dict[str, Callable[[], object]] = {"store": live, "lists by tag": lambda: lists(batches[:count])}
    compare("60 new scalars", "us", count * 1e-6, ways)


def queries() -> None:
    """A hundred columns of a series, beside numpy over all its points."""
    steps = 200_000
    _, run = filled(steps)
    series = run.series[TAGS[0]]
    step, value = np.arange(steps), np.sin(np.arange(steps) * 0.01)

    def plain() -> None:
        heads = np.searchsorted(step, np.linspace(0, steps, 101)[:-1])
        for reduce in (np.minimum.reduceat, np.maximum.reduceat, np.add.reduceat):
            reduce(value, heads)

    def times(work: Callable[[], object]) -> Callable[[], object]:
        return lambda: [work() for _ in range(300)]

    ways = {
        "store, whole range": times(lambda: series.columns(0, steps, 100)),
        "store, newest 500 steps": times(lambda: series.columns(steps - 500, steps, 100)),
        "store, old 100 steps": times(lambda: series.columns(1000, 1100, 100)),
        f"numpy over all {steps} points": times(plain),
    }
    compare("100 columns", "us", 300 * 1e-6, ways)


def memory() -> None:
    """Bytes of a series after 10 thousand and 200 thousand steps."""
    for steps in (100, 10_000, 200_000):
        store, _ = filled(steps)
        size = store.nbytes / len(TAGS) / 1024
        plain = steps * 24 / 1024
        print(
            f"{'memory of a series':28} {f'{steps} steps':34} {size:10.1f} KiB (all points: {plain:.1f} KiB)"
        )
        store.focus(())
        size = store.nbytes / len(TAGS) / 1024
        print(f"{'':28} {'  the same, out of focus':34} {size:10.1f} KiB")


def lines() -> None:
    """Points as JSON lines."""
    batch = rows(0, 4000)
    printer = JsonlWriter()

    def plain() -> None:
        columns = zip(
            batch.tag.tolist(),
            batch.step.tolist(),
            batch.wall_time.tolist(),
            batch.value.tolist(),
            strict=True,
        )
        for tag, step, wall, value in columns:
            point = {"run": "run", "tag": batch.tags[tag], "step": step, "wall_time": wall, "value": value}
            json.dumps(point | {"source": SOURCE.path})

    ways: dict[str, Callable[[], object]] = {
        "by column": lambda: list(printer.lines(SOURCE, batch, None)),
        "json.dumps of each": plain,
    }
    compare("points as JSON lines", "ns/point", len(batch) * 1e-9, ways)


def main() -> None:
    """Run all."""
    for each in (bulk, small_runs, ticks, queries, memory, lines):
        each()

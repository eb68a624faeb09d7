"""How long loading the glossary takes, and what it weighs.

    PYTHONPATH=. python tests/bench/bench_glossary.py

The budget is 50 ms and 10 MB for the whole glossary; the ratio is to parsing the same files with tomllib.
"""

from __future__ import annotations

import statistics
import time
import tomllib
import tracemalloc
from collections.abc import Callable

from rltui.metrics.glossary_files import DATA, load


def _median_ms(work: Callable[[], object], rounds: int = 15) -> float:
    times = []
    for _ in range(rounds):
        begun = time.perf_counter()
        work()
        times.append(time.perf_counter() - begun)
    return statistics.median(times) * 1e3


def _parse() -> None:
    for path in (DATA / "metrics").glob("*.toml"):
        tomllib.loads(path.read_text())


def bench_load() -> None:
    """Loading the glossary against parsing its files alone."""
    loaded, parsed = _median_ms(lambda: load(DATA / "metrics"), 5), _median_ms(_parse, 5)
    print(f"loading {loaded:.1f} ms, parsing alone {parsed:.1f} ms: {loaded / parsed:.2f}")


def bench_memory() -> None:
    """What the glossary holds once it is loaded."""
    tracemalloc.start()
    book = load(DATA / "metrics")
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"{len(book.metrics)} metrics hold {held / 1e6:.2f} MB, {peak / 1e6:.2f} MB at the peak of loading")


if __name__ == "__main__":
    bench_load()
    bench_memory()

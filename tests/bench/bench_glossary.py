"""How long loading the glossary takes, and what it weighs.

The budget is 50 ms and 10 MB for the whole glossary; the ratio is to parsing the same files with tomllib.
"""

from __future__ import annotations

import tomllib
import tracemalloc

from rltui.metrics.glossary_files import DATA, load
from tests.bench.timing import median_cpu


def _parse() -> None:
    for path in (DATA / "metrics").glob("*.toml"):
        tomllib.loads(path.read_text())


def main() -> None:
    """Loading the glossary against parsing its files alone, and what it holds then."""
    loaded, parsed = median_cpu(lambda: load(DATA / "metrics")), median_cpu(_parse)
    print(f"loading {loaded * 1e3:.1f} ms, parsing alone {parsed * 1e3:.1f} ms: {loaded / parsed:.2f}")
    tracemalloc.start()
    book = load(DATA / "metrics")
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    print(f"{len(book.metrics)} metrics hold {held / 1e6:.2f} MB, {peak / 1e6:.2f} MB at the peak of loading")

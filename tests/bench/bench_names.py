"""Names: resolving ten thousand tags and loading the data, against the work that the cache saves.

Run: python -m tests.bench.bench_names
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rltui.data import toml_files
from rltui.metrics import FrameworkRecogniser, MetricNames, catalogue
from rltui.metrics.frameworks.load import DATA, load
from rltui.metrics.frameworks.schema import build


def tags(count: int) -> list[str]:
    """Distinct tags of a large veRL run with many data sources, and its own metrics."""
    made = [f"val-core/org/set_{i}/acc/mean@{i % 64}" for i in range(count // 4)]
    made += [f"timing_s/agent_loop/phase_{i}/mean" for i in range(count // 4)]
    made += [f"actor/module_{i}/grad_norm" for i in range(count // 4)]
    return made + [f"custom/group_{i % 97}/metric_{i}" for i in range(count - len(made))]


def best(work: Callable[[], Any], rounds: int = 5) -> float:
    """Shortest of a few rounds, seconds of processor time: other programs do not count."""
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    """Print times and ratios."""
    known, some = catalogue(), tags(10_000)
    for label in ("verl", "prime-rl", "unknown"):

        def resolve(label: str = label) -> None:
            names = MetricNames(label)
            for tag in some:
                names.name(tag)

        print(f"10,000 tags as {label:9} {best(resolve) * 1e3:7.1f} ms")
    one = MetricNames("verl")
    first = best(lambda: [MetricNames("verl").name(tag) for tag in some[:2500]], 3)
    for tag in some:
        one.name(tag)
    again = best(lambda: [one.name(tag) for tag in some[:2500]])
    print(f"remembered against resolved: {first / again:.0f} times quicker")

    def recognise() -> None:
        recogniser = FrameworkRecogniser(known.frameworks)
        recogniser.add(some)
        recogniser.result()

    print(f"recognising 10,000 tags  {best(recognise) * 1e3:7.1f} ms")
    parsed = best(lambda: build(toml_files._parse(sorted(DATA.glob("*.toml")), []), []), 3)
    with tempfile.TemporaryDirectory():
        load(Path(DATA))
        cached = best(lambda: load(DATA))
    print(f"frameworks parsed {parsed * 1e3:.1f} ms, recalled {cached * 1e3:.1f} ms: {parsed / cached:.0f} x")


if __name__ == "__main__":
    main()

"""The share of metric names that nobody knows, per framework, over all recorded runs.

Run: python -m tests.unrecognised
"""

from __future__ import annotations

from collections import Counter, defaultdict

from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from tests.support.catalogue import logs


def main() -> None:
    """Print one line per framework, and the names."""
    total: Counter[str] = Counter()
    unknown: dict[str, set[str]] = defaultdict(set)
    count: Counter[str] = Counter()
    for _, _, keys in logs():
        label = recognise(keys).label
        names = MetricNames(label)
        total[label] += len(keys)
        missed = [key for key in keys if not names.name(key).recognised]
        count[label] += len(missed)
        unknown[label] |= set(missed)
    print(f"{'framework':20} {'names':>6} {'unrecognised':>13}")
    for label, size in sorted(total.items()):
        print(f"{label:20} {size:6} {count[label]:6} {count[label] / size:6.1%}")
        if unknown[label]:
            print(f"    {', '.join(sorted(unknown[label]))}")


if __name__ == "__main__":
    main()

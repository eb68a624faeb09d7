"""Names: resolving ten thousand tags and loading the data."""

from __future__ import annotations

from rltui.metrics.catalogue import catalogue
from rltui.metrics.frameworks.framework_files import frameworks
from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from tests.bench.timing import median_cpu


def tags(count: int) -> list[str]:
    """Distinct tags of a large veRL run with many data sources, and its own metrics."""
    made = [f"val-core/org/set_{i}/acc/mean@{i % 64}" for i in range(count // 4)]
    made += [f"timing_s/agent_loop/phase_{i}/mean" for i in range(count // 4)]
    made += [f"actor/module_{i}/grad_norm" for i in range(count // 4)]
    return made + [f"custom/group_{i % 97}/metric_{i}" for i in range(count - len(made))]


def main() -> None:
    """Print times and ratios."""
    some = tags(10_000)
    catalogue()
    for label in ("verl", "prime-rl", "unknown"):

        def resolve(label: str = label) -> None:
            names = MetricNames(label)
            for tag in some:
                names.name(tag)

        print(f"10,000 tags as {label:9} {median_cpu(resolve) * 1e3:7.1f} ms")
    one = MetricNames("verl")
    first = median_cpu(lambda: [MetricNames("verl").name(tag) for tag in some[:2500]], 3)
    for tag in some:
        one.name(tag)
    again = median_cpu(lambda: [one.name(tag) for tag in some[:2500]])
    print(f"remembered against resolved: {first / again:.0f} times quicker")

    print(f"recognising 10,000 tags  {median_cpu(lambda: recognise(some)) * 1e3:7.1f} ms")
    print(f"frameworks loaded {median_cpu(frameworks.__wrapped__, 3) * 1e3:.1f} ms")

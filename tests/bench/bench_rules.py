"""What judging costs: in bulk, many short runs, one live step: `python -m tests.bench.bench_rules`.

Processor time of this process, which does not depend on who else uses the machine.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

from rltui.rules.evaluate.rule_selection import RuleSelection
from rltui.rules.evaluator import Evaluator
from rltui.rules.load import rulebook
from tests.support.judged import canonical_names, evaluator, fresh, run_with

CANONICAL = (
    "reward.mean",
    "reward.std",
    "reward.zero_std_fraction",
    "policy.entropy",
    "policy.kl_ref",
    "policy.approx_kl",
    "policy.clip_fraction",
    "policy.loss",
    "policy.total_loss",
    "policy.ratio.mean",
    "optimizer.grad_norm",
    "optimizer.learning_rate",
    "optimizer.loss",
    "critic.loss",
    "critic.explained_variance",
    "critic.value.mean",
    "lengths.response.mean",
    "lengths.response_clip_fraction",
    "timing.step",
    "timing.generation",
    "timing.reward",
    "perf.throughput",
    "perf.mfu.actor",
    "validation.accuracy",
    "reward.score.mean",
    "policy.advantage.mean",
    "rollout.mismatch_kl",
    "load.seqlen_spread",
    "load.seqlen.mean",
    "perf.memory.allocated",
)
TAGS = (*CANONICAL, *(f"other{k}" for k in range(30)))  # of sixty tags about half are known and judged


def columns(n: int, seed: int = 1) -> dict[str, np.ndarray]:
    """Sixty healthy, noisy series of n points."""
    noise = np.random.default_rng(seed)
    return {tag: 0.5 + 0.05 * noise.standard_normal(n) for tag in TAGS}


def live(n: int = 2000, steps: int = 200) -> float:
    """Median seconds to judge one step of sixty scalars after n steps, findings included."""
    data = columns(n + steps)
    judge = evaluator()
    judge.feed([fresh(tag, values[:n]) for tag, values in data.items()])
    judge.findings()  # the first one loads the glossary
    took = []
    for k in range(n, n + steps):
        pieces = [fresh(tag, values[k : k + 1], [k + 1]) for tag, values in data.items()]
        begin = time.process_time()
        judge.feed(pieces)
        judge.findings()
        took.append(time.process_time() - begin)
    took.sort()
    middle, high, worst = (took[int(share * (len(took) - 1))] * 1e3 for share in (0.5, 0.99, 1))
    print(
        f"  one step of {steps} after {n:,}: median {middle:.2f} ms, 99 % below {high:.2f}, worst {worst:.2f}"
    )
    return statistics.median(took)


def bulk(total: int = 1_000_000) -> float:
    """Seconds to judge a million scalars at once."""
    data = columns(total // len(TAGS))
    pieces = [fresh(tag, values) for tag, values in data.items()]
    judge = evaluator()
    begin = time.process_time()
    judge.feed(pieces)
    judge.findings()
    return time.process_time() - begin


def many(runs: int = 100, tags: int = 40, points: int = 25) -> float:
    """Seconds to judge one of many short runs whole; their rules are chosen once."""
    known = sorted({metric for rule in rulebook().rules.values() for metric in rule.metrics})[::3][:tags]
    noise, names, run = np.random.default_rng(2), canonical_names(), run_with()
    pieces = [
        [fresh(tag, 0.02 * noise.standard_normal(points) + place / tags) for place, tag in enumerate(known)]
        for _ in range(runs)
    ]
    chosen = RuleSelection(names)
    took = []
    for _ in range(3):
        begin = time.process_time()
        for each in pieces:
            judge = Evaluator(run, names, selection=chosen)
            judge.feed(each)
        took.append((time.process_time() - begin) / runs)
    ruled = [series.ruled for series in judge.series.values()]
    watches = sum(len(each.shown) + len(each.recordings) for each in ruled)
    seconds = min(took)
    print(
        f"  a whole run of {tags} tags at {points} points: {seconds * 1e3:.2f} ms, "
        f"{seconds / watches * 1e6:.1f} us for each of {watches} watches"
    )
    return seconds


def main() -> None:
    """Print all, and how a million points compare with the same points one step at a time."""
    live(0, 600)  # with the first joining of ticks, when all that waits is evaluated
    for n in (50, 500, 2000, 20_000):
        live(n)
    for n in (25, 100):
        many(points=n)
    seconds = min(bulk() for _ in range(3))
    print(f"  a million scalars at once: {seconds:.3f} s")
    print(f"  ratio of a step's cost at 20,000 to that at 500: {live(20_000) / live(500):.2f}")


if __name__ == "__main__":
    main()

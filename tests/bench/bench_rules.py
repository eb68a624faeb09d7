"""What judging costs: in bulk, many short runs, one live step: `python -m tests.bench rules`.

Processor time of this process, which does not depend on who else uses the machine.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Mapping
from itertools import accumulate

import numpy as np

from rltui.common.arrays import Floats
from rltui.rules.evaluator import Evaluator
from rltui.rules.rule_states.rule_selection import RuleSelection
from rltui.rules.rulebook import rulebook
from tests.support.runs.evaluators import canonical_names, fresh, new_evaluator, run_with

# Sixty metrics of a PPO run of a language model that is well: first level, last level, noise.
HEALTHY = {
    "reward.mean": (0.25, 0.65, 0.03),
    "reward.max": (1.0, 1.0, 0.0),
    "reward.min": (0.0, 0.0, 0.0),
    "reward.score.mean": (0.25, 0.65, 0.03),
    "reward.std": (0.4, 0.36, 0.02),
    "reward.zero_std_fraction": (0.2, 0.3, 0.03),
    "reward.solve_all_fraction": (0.08, 0.25, 0.02),
    "reward.solve_none_fraction": (0.12, 0.05, 0.02),
    "policy.entropy": (0.8, 0.5, 0.02),
    "policy.kl_ref": (0.001, 0.03, 0.001),
    "policy.kl_loss": (0.001, 0.03, 0.001),
    "policy.kl_coef": (0.001, 0.001, 0.0),
    "policy.approx_kl": (0.004, 0.004, 0.0006),
    "policy.clip_fraction": (0.06, 0.06, 0.008),
    "policy.clip_fraction_low": (0.02, 0.02, 0.003),
    "policy.loss": (0.01, 0.01, 0.01),
    "policy.ratio.mean": (1.0, 1.0, 0.001),
    "policy.advantage.mean": (0.0, 0.0, 0.01),
    "policy.advantage.max": (2.5, 2.5, 0.2),
    "policy.advantage.min": (-2.5, -2.5, 0.2),
    "policy.logprob.mean": (-0.6, -0.5, 0.02),
    "policy.ref_logprob.mean": (-0.6, -0.53, 0.02),
    "optimizer.grad_norm": (0.4, 0.3, 0.03),
    "optimizer.learning_rate": (1e-6, 1e-6, 0.0),
    "optimizer.critic_grad_norm": (3.0, 2.5, 0.3),
    "optimizer.critic_learning_rate": (1e-5, 1e-5, 0.0),
    "critic.loss": (0.2, 0.1, 0.01),
    "critic.explained_variance": (0.3, 0.8, 0.03),
    "critic.value.mean": (0.25, 0.65, 0.02),
    "critic.return.mean": (0.25, 0.65, 0.03),
    "critic.clip_fraction": (0.02, 0.02, 0.004),
    "lengths.response.mean": (400, 480, 12),
    "lengths.response.max": (1000, 1020, 15),
    "lengths.response.min": (80, 90, 8),
    "lengths.response_clip_fraction": (0.02, 0.02, 0.004),
    "lengths.prompt.mean": (150, 150, 4),
    "lengths.prompt.max": (400, 400, 25),
    "load.seqlen.mean": (90_000, 100_000, 2000),
    "load.seqlen.max": (100_000, 110_000, 2500),
    "load.seqlen_spread": (9000, 9000, 800),
    "timing.step": (60, 64, 1.5),
    "timing.generation": (25, 28, 0.8),
    "timing.reward": (1.0, 1.0, 0.05),
    "timing.old_logprob": (4.0, 4.2, 0.1),
    "timing.ref_logprob": (4.0, 4.2, 0.1),
    "timing.values": (3.0, 3.1, 0.1),
    "timing.advantage": (0.2, 0.2, 0.01),
    "timing.update_actor": (14, 15, 0.4),
    "timing.update_critic": (8, 8.5, 0.3),
    "timing.weight_sync": (2.0, 2.0, 0.05),
    "perf.throughput": (1500, 1550, 40),
    "perf.tokens": (90_000, 100_000, 2000),
    "perf.mfu.actor": (0.4, 0.41, 0.01),
    "perf.mfu.critic": (0.38, 0.39, 0.01),
    "perf.memory.allocated": (40, 41, 0.3),
    "perf.memory.reserved": (60, 61, 0.3),
    "rollout.mismatch_kl": (0.0005, 0.0005, 0.00005),
    "rollout.is_weight.mean": (1.0, 1.0, 0.002),
    "rollout.prob_diff.mean": (0.002, 0.002, 0.0002),
    "rollout.staleness.mean": (1.0, 1.0, 0.05),
}
TAGS = tuple(HEALTHY)
# The same of what goes wrong in a run that is not well.
FAULTY = {
    "reward.mean": (0.25, 0.02, 0.03),
    "policy.entropy": (0.8, 0.005, 0.002),
    "policy.kl_ref": (0.001, 4.0, 0.1),
    "policy.clip_fraction": (0.06, 0.5, 0.02),
    "optimizer.grad_norm": (0.4, 40.0, 3.0),
    "critic.explained_variance": (0.3, -0.6, 0.05),
    "lengths.response_clip_fraction": (0.02, 0.7, 0.02),
    "timing.step": (60, 180, 5),
}
SETTLES = 300  # steps in which two thirds of the way to the last level are gone
LIKE = 0.6  # correlation of the noise of neighbours


def columns(n: int, faults: Mapping[str, tuple[float, float, float]] | None = None) -> dict[str, Floats]:
    """Sixty series of n points, on their way from one level to another, with noise that is correlated."""
    draw = np.random.default_rng(1)
    way = 1 - np.exp(-np.arange(n) / SETTLES)
    found = {}
    for tag, (first, last, noise) in {**HEALTHY, **(faults or {})}.items():
        shock = draw.standard_normal(n) * np.sqrt(1 - LIKE**2)
        wave = np.array(list(accumulate(shock.tolist(), lambda before, new: LIKE * before + new)))
        found[tag] = first + (last - first) * way + noise * wave
    return found


def live(n: int, steps: int = 200, faults: Mapping[str, tuple[float, float, float]] | None = None) -> float:
    """Median seconds to evaluate one step of sixty scalars after n steps, findings included.

    The least of three times of each step counts, so that the worst one is a step's and not the machine's.
    """
    data = columns(n + steps, faults)
    rounds = []
    for _ in range(3):
        evaluator, told = new_evaluator(), 0
        evaluator.feed([fresh(tag, values[:n]) for tag, values in data.items()])
        evaluator.findings()  # the first one loads the glossary
        rounds.append([])
        gc.collect()
        for k in range(n, n + steps):
            pieces = [fresh(tag, values[k : k + 1], [k + 1]) for tag, values in data.items()]
            begin = time.process_time()
            evaluator.feed(pieces, live=True)
            told += len(evaluator.findings())
            rounds[-1].append(time.process_time() - begin)
    took = np.min(rounds, axis=0)
    middle, high, worst = (1e3 * np.quantile(took, share) for share in (0.5, 0.99, 1))
    print(
        f"  one of {steps} steps after {n:,}: median {middle:.2f} ms, 99 % below {high:.2f}, "
        f"worst {worst:.2f} at {n + took.argmax() + 1:,}; {told / steps:.1f} findings"
    )
    return float(np.median(took))


def bulk(total: int = 1_000_000) -> float:
    """Seconds to evaluate a million scalars at once."""
    data = columns(total // len(TAGS))
    pieces = [fresh(tag, values) for tag, values in data.items()]
    evaluator = new_evaluator()
    begin = time.process_time()
    evaluator.feed(pieces)
    evaluator.findings()
    return time.process_time() - begin


def many(runs: int = 100, tags: int = 40, points: int = 25) -> float:
    """Seconds to evaluate one of many short runs whole; their rules are chosen once."""
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
            evaluator = Evaluator(run, names, selection=chosen)
            evaluator.feed(each)
        took.append((time.process_time() - begin) / runs)
    ruled = [series.ruled for series in evaluator.series.values()]
    watches = sum(len(each.shown) + len(each.recording_rules) for each in ruled)
    seconds = min(took)
    print(
        f"  a whole run of {tags} tags at {points} points: {seconds * 1e3:.2f} ms, "
        f"{seconds / watches * 1e6:.1f} us for each of {watches} watches"
    )
    return seconds


def main() -> None:
    """Print all, and how a million points compare with the same points one step at a time."""
    for name, faults in (("well", None), ("not well", FAULTY)):
        print(f" a run of {len(TAGS)} metrics that is {name}:")
        live(0, 5000, faults)  # with four joinings of ticks, each of all series at one step
        for n in (50, 500, 2000, 20_000):
            live(n, faults=faults)
    for n in (25, 100):
        many(points=n)
    seconds = min(bulk() for _ in range(3))
    print(f"  a million scalars at once: {seconds:.3f} s")

"""What a frame costs as a run and its company grow: thousands of metrics, hundreds of runs, long runs.

Prints milliseconds per frame and the ratio to the small case.
"""

from __future__ import annotations

import os
import time

from tests.support.screen.screens import Screen

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from rltui.logs.batch import Batch
from rltui.logs.delivery import Delivery, Source
from rltui.session.session import Session

SIZE = (140, 45)


def median(screen: Screen, prepare: str, times: int = 15) -> float:
    """Milliseconds of a frame after something has changed."""
    found = []
    for _ in range(times):
        screen.press(prepare)
        for view in screen.session.runs.values():
            view.run.version += 1
        start = time.perf_counter()
        screen.frame(*SIZE)
        found.append(1e3 * (time.perf_counter() - start))
    return sorted(found)[times // 2]


KNOWN = (
    "actor/entropy", "actor/ppo_kl", "actor/pg_clipfrac", "actor/grad_norm", "actor/lr", "actor/pg_loss",
    "critic/rewards/mean", "critic/rewards/max", "critic/rewards/min", "response_length/mean",
    "response_length/max", "response_length/clip_ratio", "timing_s/step", "timing_s/gen", "perf/throughput",
    "perf/mfu/actor", "global_seqlen/minmax_diff", "val-core/gsm8k/acc/mean@1",
)  # fmt: skip


def delivery(run: str, tags: list[str], steps: int, first: int = 1) -> Delivery:
    """So many steps of every tag, as a reader would hand them up."""
    rng = np.random.default_rng(len(tags))
    n = len(tags) * steps
    step = np.repeat(np.arange(first, first + steps), len(tags))
    batch = Batch(
        tags=tags,
        tag=np.tile(np.arange(len(tags), dtype=np.uint32), steps),
        step=step,
        wall_time=1.7e9 + step * 10.0,
        value=rng.normal(1, 0.1, n),
        single=np.zeros(n, bool),
    )
    return Delivery(Source(run, f"{run}/metrics.jsonl", "jsonl", size=n, read=n, modified=1.7e9), batch)


def session_of(runs: int, tags: int, steps: int) -> Session:
    """A session with real stores, names and judges."""
    session = Session()
    names = [*KNOWN, *(f"layer{index % 50}/norm/{index}" for index in range(tags))]
    session.apply(delivery(f"group{index % 7}/run{index}", names, steps) for index in range(runs))
    session.evaluate(force=True)
    return session


def main() -> None:
    """Print the table."""
    few, tags, runs, steps = (1, 0, 300), (1, 5000, 20), (300, 0, 60), (1, 0, 20_000)
    cases = {
        "overview": (few, tags, (), "j"),
        "pane": (few, tags, ("3",), "j"),
        "all metrics": (few, tags, ("9",), "j"),
        "overview, many runs": (few, runs, (), "j"),
        "list of runs": (few, runs, ("r",), "j"),
        "overview, long run": (few, steps, (), "j"),
        "large chart, long run": (few, steps, ("3", "enter"), "right"),
    }
    print(f"{'':24}{'small':>10}{'large':>10}{'ratio':>8}   ms a frame, {SIZE[0]}x{SIZE[1]}")
    for name, (small, large, keys, prepare) in cases.items():
        figures = []
        for size in (small, large):
            screen = Screen(session_of(*size))
            for key in keys:
                screen.press(key)
                screen.frame(*SIZE)
            figures.append(median(screen, prepare))
        print(
            f"{name:24}{figures[0]:10.2f}{figures[1]:10.2f}{figures[1] / figures[0]:8.1f}   {small} / {large}"
        )
    print("small, large: runs, further metrics, steps")

"""Small labelled logs of toys: `python -m tests.support.toys.toy_logs` writes those below `tests/logs`.

Each is a policy really trained (`tests.support.toys.language`), logged by a framework's names as JSONL rows
of step, time and values; what is done to it, and when, is the label in `tests/logs/expected.toml`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np

from tests.support.shared import BUNDLED
from tests.support.toys.language import Recipe
from tests.support.toys.recipes import run
from tests.support.toys.styles import CONTROL, LANGUAGE, written

BASE = Recipe(seed=3, steps=120, lr=0.04, limit=16)
CONTROLLED = Recipe(seed=5, steps=80, lr=0.02, epochs=4, entropy=0.01)

# Folder: recipe, whether it is a control task, names in use.
TOYS: dict[str, tuple[Recipe, bool, Mapping[str, str]]] = {
    "toy-healthy": (BASE, False, LANGUAGE["verl"]),
    "toy-control-healthy": (CONTROLLED, True, CONTROL["sb3"]),
    "toy-rate-raised": (
        replace(BASE, schedule=lambda share: 150.0 if share >= 0.5 else 1.0), False, LANGUAGE["verl"],
    ),
    "toy-frozen": (replace(BASE, lr=0.0, steps=150), False, LANGUAGE["trl"]),
    "toy-brevity": (
        replace(BASE, lr=0.08, limit=24, reward=lambda share, score, length: -length / 10.0),
        False, LANGUAGE["trl"],
    ),
    "toy-judge-breaks": (
        replace(BASE, lr=0.08, reward=lambda share, score, length: score * (share < 0.6)),
        False, LANGUAGE["openrlhf"],
    ),
    "toy-stale": (
        replace(BASE, lr=0.1, steps=200, stale=lambda share: int(40 * max(share - 0.4, 0.0))),
        False, LANGUAGE["prime-rl"],
    ),
}  # fmt: skip


def write(folder: Path, series: Mapping[str, np.ndarray]) -> None:
    """One row a step, four digits; what is logged every so many steps stands in every so many rows."""
    folder.mkdir(parents=True, exist_ok=True)
    longest = max(map(len, series.values()))
    with (folder / "metrics.jsonl").open("w") as file:
        for step in range(1, longest + 1):
            values = {
                tag: float(f"{column[step // every - 1]:.4g}")
                for tag, column in series.items()
                if step % (every := longest // len(column)) == 0
            }
            file.write(json.dumps({"step": step, "data": values, "timestamp": 1.76e9 + 10 * step}) + "\n")


if __name__ == "__main__":
    for name, (recipe, of_control, tags) in TOYS.items():
        write(BUNDLED / name, written(run(recipe, of_control), tags))

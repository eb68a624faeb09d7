"""Runs for `check`, and an environment without the user's files."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

from tests.support.logs.live_logs import write_rows

ROOT = Path(__file__).resolve().parents[3]
DAY = 86_400.0


WELL = [0.05] * 80
SICK = [0.05] * 50 + [20.0] * 30
MILD = [0.05] * 50 + [5.0] * 30


def environment(home: Path, **more: str) -> dict[str, str]:
    """An environment without the user's files."""
    kept = {key: os.environ[key] for key in ("PATH", "LD_LIBRARY_PATH") if key in os.environ}
    return {**kept, "HOME": str(home), "PYTHONPATH": str(ROOT), "LANG": "C.UTF-8", **more}


def write(
    run: Path, values: Sequence[float], *, ago: float = 10 * DAY, gap: float = 2.0, key: str = "actor/kl_loss"
) -> Path:
    """A log of one metric and a rising reward whose last point was written `ago` seconds ago."""
    end = time.time() - ago
    rows = (
        {"step": step, "data": {key: value, "critic/score/mean": 0.5 + 0.002 * step},
         "timestamp": end - gap * (len(values) - step)}
        for step, value in enumerate(values, 1)
    )  # fmt: skip
    os.utime(write_rows(run / "metrics.jsonl", rows), (end, end))
    return run

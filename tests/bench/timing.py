"""Processor time of calls, which does not depend on who else uses the machine."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable


def cpu(work: Callable[[], object]) -> float:
    """CPU seconds of one call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def median_cpu(work: Callable[[], object], rounds: int = 5) -> float:
    """CPU seconds of a call, median of some rounds."""
    return statistics.median(cpu(work) for _ in range(rounds))

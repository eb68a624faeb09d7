"""Data quality: what is odd about the numbers themselves, judged apart from the training."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from rltui.rules.load import Rulebook
from rltui.rules.track import Floats, Ints, Track
from rltui.scalars import Problem
from rltui.text import clean


@dataclass(frozen=True, slots=True)
class Impossible:
    """Values outside what the metric can be."""

    first_step: int
    count: int
    worst: float


def configured(book: Rulebook, config: Any) -> Rulebook:
    """The shipped rules with the user's own thresholds."""
    return book


def impossible(
    bounds: tuple[float, float], steps: Ints, values: Floats, before: Impossible | None
) -> Impossible | None:
    """Count values outside hard bounds. A hair beyond is rounding, not a fault."""
    low, high = bounds
    slack = 1e-4 * max(abs(low) if np.isfinite(low) else 0.0, abs(high) if np.isfinite(high) else 0.0, 1.0)
    outside = (values < low - slack) | (values > high + slack)
    outside &= np.isfinite(values)
    if not outside.any():
        return before
    where = np.flatnonzero(outside)
    worst = float(values[where[np.argmax(np.abs(values[where]))]])
    if before is None:
        return Impossible(int(steps[where[0]]), len(where), worst)
    worst = worst if abs(worst) > abs(before.worst) else before.worst
    return Impossible(before.first_step, before.count + len(where), worst)


def diagnostics(run: Any, names: Any, series: Mapping[str, Any]) -> list[Problem]:
    """Non-finite values, impossible values, metrics that are always zero, per tag, in the order of tags."""
    found: list[Problem] = []
    where = clean(str(getattr(run, "name", "")))
    for tag, each in series.items():
        track: Track = each.track
        if track.bad_count:
            episodes = [*track.bad_before, *([track.bad] if track.bad else [])]
            first = episodes[0].since_step
            found.append(
                Problem(
                    "warning", "non-finite", where,
                    f"{tag}: {_times(track.bad_count, 'value')} not finite, the first at step {first:,}",
                    offset=None, count=track.bad_count,
                )
            )  # fmt: skip
        odd = each.impossible
        if odd is not None:
            low, high = each.bounds
            found.append(
                Problem(
                    "warning", "impossible-value", where,
                    f"{tag}: {_times(odd.count, 'value')} outside {low:g}..{high:g}, the first at step "
                    f"{odd.first_step:,}, "
                    f"the farthest {odd.worst:g}; the metric is suspicious, not the training",
                    count=odd.count,
                )
            )  # fmt: skip
        if (
            track.zeros
            and track.points >= 5
            and (track.canonical or "").startswith(("perf.mfu", "perf.tflops"))
        ):
            found.append(
                Problem("info", "not-reported", where, f"{tag}: always exactly 0, taken as not reported")
            )
    return found


def _times(count: int, word: str) -> str:
    return f"{count:,} {word}{'s' * (count != 1)}"

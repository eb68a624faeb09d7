"""Bands behind curves are sent once: a new step costs a few cells of them, not the picture again."""

from __future__ import annotations

import statistics
from pathlib import Path

import numpy as np
import pytest

from tests.screen import test_cell_diff
from tests.support.logs import tfwriter
from tests.support.screen.growing_run import Paced

GROUPS = ("critic/rewards", "critic/score", "response_length", "prompt_length", "critic/values")
OTHERS = ("actor/entropy", "actor/ppo_kl", "actor/grad_norm", "actor/pg_clipfrac", "perf/throughput")
TAGS = (*(f"{group}/{part}" for group in GROUPS for part in ("mean", "max", "min")), *OTHERS)


class Spread(Paced):
    """A run whose distributions have extremes that wander."""

    def __init__(self, folder: Path, **options: object) -> None:
        super().__init__(folder, tags=TAGS, **options)

    def _row(self, step: int, wall: float) -> bytes:
        data = b""
        for at, tag in enumerate(self.tags):
            group = at // 3 * 3 if at < 3 * len(GROUPS) else at
            value = 1 + np.sin(step / 90 + group) + self._draw.normal(0, 0.04)
            aside = abs(self._draw.normal(0.5, 0.15))
            value += {"max": aside, "min": -aside}.get(tag.rsplit("/", 1)[-1], 0.0)
            data += tfwriter.event(step, tfwriter.simple(tag, float(value)), wall=wall)
        return data


@pytest.mark.parametrize("keys", [(), ("2",), ("2", "enter")], ids=["overview", "pane", "chart"])
async def test_a_step_with_bands_stays_within_a_packet(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keys: tuple[str, ...]
) -> None:
    """At 140x45 a new step of distributions with bands sends at most 1.5 KB, median of twelve."""
    monkeypatch.setattr(test_cell_diff, "Paced", Spread)
    watched = test_cell_diff.Watched(tmp_path)
    async with watched.app.run_test(size=(140, 45)) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
            await pilot.pause()
        watched.step()
        await pilot.pause()
        assert any(role.startswith("band") for line in watched.app.page.lines for _, role in line.spans)
        sent = await watched.sent(pilot)
    assert statistics.median(sent) <= 1500, sent

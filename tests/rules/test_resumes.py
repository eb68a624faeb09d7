"""What changes at the step at which a training is resumed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from rltui.session.session import Session
from tests.support.logs.tfwriter import WALL, event, simple, version

RISES = np.linspace(20, 300, 40)
RESUMED = 4000  # step


def told(folder: Path, metric: str, first: Sequence[float], second: Sequence[float]) -> dict[str, int]:
    """Warnings of a run with these values in two event files, the second from RESUMED on."""
    for begin, values in ((0, first), (RESUMED, second)):
        steps = [begin + 100 * k for k in range(len(values))]
        events = [
            event(step, simple(metric, value), simple("actor/grad_norm", 1 + step % 3), wall=WALL + step)
            for step, value in zip(steps, values, strict=True)
        ]
        (folder / f"events.out.tfevents.{int(WALL) + begin}.host").write_bytes(
            b"".join([version(WALL + begin), *events])
        )
    (view,) = Session.load([folder]).runs.values()
    assert view.run.resumes == (RESUMED,)
    return {one.id: one.since_step for one in view.evaluator.findings() if one.rank and not one.explained_by}


@pytest.mark.parametrize(
    ("second", "lost"),
    [
        ([300, 250, 180, 90, *[30] * 12], True),  # a mean over the last hundred episodes
        ([40] * 12, True),
        (np.linspace(300, 380, 20), False),
        (np.linspace(240, 380, 20), False),  # the rolling mean began anew
        ([40, *np.linspace(60, 320, 30)], False),  # it has recovered
    ],
)
def test_an_outcome_lost_at_a_resume_is_told_with_its_step(
    tmp_path: Path, second: Sequence[float], lost: bool, noise: np.random.Generator
) -> None:
    """Half of the gain gone right after a resume, and not made up, is its fault."""
    first = RISES + noise.standard_normal(40)
    found = told(tmp_path, "rollout/ep_rew_mean", first.tolist(), list(second))
    assert found == ({"resume-lost-gain": RESUMED} if lost else {})


@pytest.mark.parametrize(("low", "lost"), [(150.0, True), (35.0, False)])
def test_single_low_values_before_a_resume_hide_no_loss(
    tmp_path: Path, low: float, lost: bool, noise: np.random.Generator
) -> None:
    """Every fifth value is half of the others; if one of them is as low as those after, nothing is sure."""
    first = np.r_[RISES[:20], np.full(20, 300.0)] + noise.standard_normal(40)
    first[24::5] = low
    found = told(tmp_path, "rollout/ep_rew_mean", first.tolist(), [40.0] * 12)
    assert ("resume-lost-gain" in found) is lost


@pytest.mark.parametrize(("second", "replaced"), [(0.0005, True), (0.09, False), (0.02, False)])
def test_a_reference_that_is_replaced_at_a_resume_is_told(
    tmp_path: Path, second: float, replaced: bool, noise: np.random.Generator
) -> None:
    """KL to a fixed reference does not begin again at zero."""
    first = np.linspace(0, 0.09, 40) + 0.001 * noise.random(40)
    later = second + np.linspace(0, 0.02, 30) + 0.0001 * noise.random(30)
    found = told(tmp_path, "actor/kl_loss", first.tolist(), later.tolist())
    assert ("reference-replaced" in found) is replaced

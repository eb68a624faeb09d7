"""Faults that a person who watches tells long before a run is over, and what only looks like them."""

from __future__ import annotations

import numpy as np

from tests.support.runs.evaluators import evaluator_of, ids

NOISE = np.random.default_rng(17)
KL = {"policy.approx_kl": 0.005 + 0.001 * NOISE.normal(size=120)}


def test_a_kl_estimate_below_zero_is_no_distance_from_the_reference() -> None:
    """A policy that never left its reference is held back, however noisy the first estimates of KL are."""
    for first, told in ((-0.04, True), (0.04, False)):
        kl = np.concatenate((first + 0.005 * NOISE.normal(size=12), 1e-4 * NOISE.normal(size=400)))
        reward = -1.8 + 0.1 * NOISE.normal(size=412)
        evaluator = evaluator_of({"policy.kl_ref": kl, "reward.mean": reward})
        assert ("policy-held-back" in ids(evaluator, "warning")) is told

"""Noise for series that tests of rules make."""

from __future__ import annotations

import numpy as np
import pytest


@pytest.fixture
def noise() -> np.random.Generator:
    """A generator that is new for each case, so that its draws do not depend on the cases before."""
    return np.random.default_rng(11)

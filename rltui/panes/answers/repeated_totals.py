"""Components of the reward that are the total again, under another name."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import in_both
from rltui.panes.answers.recent_values import RunValues, Values

if TYPE_CHECKING:
    from rltui.session.run_view import RunView

EPISODE_RETURN = "reward.episode_return"
TOTAL = ("reward", EPISODE_RETURN)
COMPONENT = "reward.component.mean"
MOST = 12  # components that are compared with the total: one differs if there are more


def repeated_totals(view: RunView) -> frozenset[str]:
    """The tags of components that are the total again: of the only reward function, or the only policy.

    Empty if one of them differs from the total, or has a finding.
    """
    tags = view.tag_index.canonical.get(COMPONENT, ())
    return view.cached("repeated-totals", view.run.version, lambda: _repeated(view)) if tags else frozenset()


def _repeated(view: RunView) -> frozenset[str]:
    run = RunValues(view)
    totals = [values for base in TOTAL if (values := run.find(f"{base}.mean", of_part=True)) is not None]
    tags = [tag for tag in run.tags(COMPONENT) if not run.name(tag).held_out]
    named = {tag for one in view.evaluator.findings() for tag in one.metrics}
    if not 0 < len(tags) <= MOST or not totals or named.intersection(tags):
        return frozenset()
    if not all(any(equal_values(run.of(tag), total) for total in totals) for tag in tags):
        return frozenset()
    return frozenset(one for tag in tags for one in (tag, *view.tag_index.distribution_of(tag)))


def equal_values(one: Values, other: Values) -> bool:
    """Whether two metrics have the same values at the steps that both log."""
    steps = in_both(one.step, other.step)
    return len(steps) > 0 and bool(np.allclose(one.at(steps), other.at(steps), rtol=1e-3))

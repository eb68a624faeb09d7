"""Components of the reward that are the total again, and a total that is the score again."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from rltui.common.arrays import in_both
from rltui.panes.answers.answer_metrics import answer_metrics

if TYPE_CHECKING:
    from rltui.panes.answers.values.recent_values import RunValues, Values
    from rltui.session.run_view import RunView

MOST = 12  # components that are compared with the total: one differs if there are more


def repeated_totals(view: RunView) -> frozenset[str]:
    """The tags of components that are the total again: of the only reward function, or the only policy.

    And those of a reward that is the score again, as without penalties. None of either kind if one of them
    differs, or has a finding.
    """
    known, single = view.tag_index.canonical, answer_metrics().single
    if single.reward_component not in known and not known.keys() >= {single.score, single.reward}:
        return frozenset()
    return view.cached("repeated-totals", view.run.version, lambda: _found(view))


def _found(view: RunView) -> frozenset[str]:
    # Imported here: four modules that most runs in a list do not need.
    from rltui.panes.answers.values.recent_values import RunValues

    run = RunValues(view)
    return _components(view, run) | _rewards(view, run)


def _rewards(view: RunView, run: RunValues) -> frozenset[str]:
    """The tags of a reward with the values of the score."""
    single = answer_metrics().single
    score, reward = run.find(single.score), run.find(single.reward)
    if score is None or reward is None or not repeats(reward, score):
        return frozenset()
    tags = (reward.tag, *view.tag_index.distribution_of(reward.tag))
    named = {tag for one in view.evaluator.findings() for tag in one.metrics}
    return frozenset() if named.intersection(tags) else frozenset(tags)


def _components(view: RunView, run: RunValues) -> frozenset[str]:
    listed = answer_metrics().metrics["reward_totals"]
    totals = [values for each in listed if (values := run.find(each, of_part=True)) is not None]
    tags = [tag for tag in run.tags(answer_metrics().single.reward_component) if not run.name(tag).held_out]
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


def repeats(one: Values, other: Values) -> bool:
    """Whether a metric has no value that another one does not have at the same step."""
    return len(one.step) == len(in_both(one.step, other.step)) and equal_values(one, other)

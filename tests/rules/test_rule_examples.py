"""Every shipped rule against its own examples, and the texts of the data files."""

from __future__ import annotations

from fnmatch import fnmatchcase

import numpy as np
import pytest

from rltui.rules.metric_roles import STEP_TIME
from rltui.rules.rule import ENDED, NON_FINITE, Rule
from rltui.rules.rulebook import rulebook
from rltui.store.points import NewPoints, Points
from tests.support.runs.evaluators import fresh, new_evaluator, only
from tests.support.runs.window_language import values

BOOK = rulebook()
CASES = [rule for rule in BOOK.rules.values() if rule.fires or rule.quiet]


def _fired(rule: Rule, example: str) -> bool:
    """Whether the rule alone ever fires on the window, fed point by point as in a live run."""
    evaluator = new_evaluator(book=only(rule.id))
    text, _, per = example.partition("/")  # the metric's values, and those of the one that divides it
    tag, series = _tag(rule), values(text)
    below = values(per) if per else None
    # Steps between points, where a rule counts steps, or points that are episodes.
    every = max(int(rule.number("steps", 0.0) // 200), 100 if "episodes" in rule.numbers else 1)
    for i in range(len(series)):
        pieces = [fresh(tag, series[i : i + 1], [every * (i + 1)])]
        if tag == STEP_TIME:  # derived from when a writer that tells no times logged its updates
            wall = 1e9 + series[: i + 1].sum()
            pieces = [NewPoints("policy.loss", Points(np.array([i + 1]), np.array([wall]), np.ones(1)))]
        if below is not None and i < len(below):
            pieces.append(fresh(rule.per, below[i : i + 1], [i + 1]))
        evaluator.feed(pieces)
        if evaluator.state.of(rule.id):
            return True
    return False


def _tag(rule: Rule) -> str:
    tag = f"eval/{rule.metrics[0]}" if rule.applies.held_out else rule.metrics[0]
    return f"{tag}@sum" if rule.applies.comparable is False else tag


def _holds_at_the_end(rule: Rule, example: str) -> bool:
    evaluator = new_evaluator()
    evaluator.feed([fresh(_tag(rule), values(example))])
    return bool(evaluator.state.of(rule.id))


@pytest.mark.parametrize("rule", CASES, ids=lambda rule: rule.id)
def test_a_rule_keeps_its_examples(rule: Rule) -> None:
    """It fires on the windows in `fires` and not on those in `quiet`."""
    told = _holds_at_the_end if rule.kind == "non-finite" else _fired
    assert [example for example in rule.fires if not _fired(rule, example)] == []
    assert [example for example in rule.quiet if told(rule, example)] == []


def test_the_data_files_have_no_mistakes() -> None:
    """Shipped rules load without a problem."""
    assert BOOK.problems == ()


def test_a_symptom_explains_what_can_be_a_finding() -> None:
    """Each name in `explains` matches the id of a rule that is shown, of a setting or of a gap."""
    shown = {rule.id for rule in BOOK.rules.values() if rule.shown} | BOOK.joint_conditions.keys()
    names = {name for symptom in BOOK.symptoms for name in symptom.explains}
    assert [name for name in sorted(names) if not any(fnmatchcase(each, name) for each in shown)] == []


@pytest.mark.parametrize(
    "rule", [rule for rule in BOOK.rules.values() if rule.shown], ids=lambda rule: rule.id
)
def test_a_shown_rule_explains_itself(rule: Rule) -> None:
    """A rule that can become a finding has a reason, advice, and examples of both kinds."""
    assert rule.source and rule.advice and rule.check_next
    assert (rule.fires or rule.kind == ENDED) and rule.quiet  # which no series shows by itself
    assert np.all([len(values(example.partition("/")[0])) for example in (*rule.fires, *rule.quiet)])


def test_every_kind_has_a_list_of_parameters() -> None:
    """The table of numbers and the table of kinds have the same kinds."""
    from rltui.rules.kind_fields import NUMBERS
    from rltui.rules.kinds import KINDS

    assert {*KINDS, NON_FINITE, ENDED} == NUMBERS.keys()

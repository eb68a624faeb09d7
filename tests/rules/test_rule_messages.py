"""Numbers in messages of findings, as a person would say them."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from rltui.rules.finding import Finding
from tests.support.runs.evaluators import evaluator_of, fresh, new_evaluator, only


def _finding(rule: str, metric: str, *levels: float) -> Finding:
    """What one rule finds on a series with 40 points around each of these levels."""
    noise = np.random.default_rng(4)
    values = np.concatenate([level * (1 + 0.05 * noise.normal(size=40)) for level in levels])
    (found,) = evaluator_of({metric: list(values)}, book=only(rule)).findings()
    return found


def test_a_count_that_is_nearly_zero_is_said_in_words() -> None:
    """Nobody calls a tool 9.77e-4 times."""
    found = _finding("tool-use-dies", "turns.tool_calls.mean", 2.0, 0.5, 0.0009)
    assert found.message == "Tools are called less than a quarter as often as at best (Tool calls: almost 0)"


def test_shares_of_one_message_are_all_in_percent() -> None:
    """A value and the level before it are written alike; a small share keeps a digit."""
    found = _finding("responses-refuse", "samples.refusal_fraction", 0.004, 0.4)
    assert found.message == "38 % of the responses begin as refusals do (earlier 0.4 %)"


def test_a_finding_is_in_the_pane_of_the_metric_that_fired() -> None:
    """A rule on metrics of several panes would warn in one that does not show the metric."""
    for metric, pane in (("validation.loss", "validation"), ("reward.mean", "reward")):
        found = evaluator_of({metric: [0.5] * 40 + [float("nan")] * 40}, book=only("values-non-finite"))
        assert [one.pane for one in found.findings()] == [pane]


@pytest.mark.parametrize("climb", [0.3, 1.0, 1.9])
@pytest.mark.parametrize("after", [0.05, 1.0, 2.4, 5.5])
def test_a_spike_is_as_many_times_the_usual_level_as_is_said(climb: float, after: float) -> None:
    """Norms that climb before they explode, or come down again, are told by one beyond ten times 0.2."""
    levels = [0.2] * 50 + [climb] * 12 + [9.0] * 14 + [after] * 60
    evaluator, told = new_evaluator(book=only("grad-explosion")), set()
    for step, level in enumerate(levels):
        evaluator.feed([fresh("optimizer.grad_norm", [level], [step])])
        told |= {each.message for each in (*evaluator.findings(), *evaluator.history())}
    assert told
    for message in told:
        found = re.match(r"The gradient norm rose to (\S+), more than ten times its usual level", message)
        assert found is not None and float(found[1]) > 10 * 0.2, message


def test_the_evidence_of_a_spike_begins_at_its_usual_level() -> None:
    """Norms that climb before they explode: "ten times its usual" beside 1.4 -> 9 reads as a mistake."""
    levels = [0.2] * 50 + [*np.linspace(0.3, 1.9, 12)] + [9.0] * 14
    (found,) = evaluator_of({"optimizer.grad_norm": levels}, book=only("grad-explosion")).findings()
    assert [(one.before, one.now) for one in found.evidence] == [(0.2, 9.0)]


@pytest.mark.parametrize(
    ("rule", "metric", "usual", "now"),
    [
        ("loss-jump", "policy.loss", -0.1, -5.0),
        ("advantage-off-centre", "policy.advantage.mean", -0.1, -0.9),
        ("logprob-shift", "policy.logprob.mean", -20.0, -60.0),
    ],
)
def test_where_a_size_is_judged_the_level_before_is_a_size_too(
    rule: str, metric: str, usual: float, now: float
) -> None:
    """A loss from -0.1 to 5 would have changed its sign: of a rule on sizes both levels are sizes."""
    found = _finding(rule, metric, usual, now)
    (evidence,) = found.evidence
    assert evidence.before == pytest.approx(-usual, rel=0.1)
    assert evidence.now == found.value == pytest.approx(-now, rel=0.1)


def test_the_limit_of_spikes_is_of_the_level_that_is_told() -> None:
    """Norms that grow to 200 times their usual level exceed ten times that level, not a later one."""
    norms = np.random.default_rng(4).normal(0.17, 0.01, 400)
    norms[100::3] = 9.0
    norms[250:] *= 200
    (found,) = evaluator_of({"optimizer.grad_norm": norms}, book=only("grad-spikes")).findings()
    (evidence,) = found.evidence
    assert evidence.before == pytest.approx(0.17, rel=0.1)
    assert found.limit == pytest.approx(10 * evidence.before)


def test_a_multiple_of_the_start_is_told_with_the_start() -> None:
    """What is three times as much as at the start was so much there: the level that the limit is made of."""
    climbs = [*[1.0] * 20, *np.linspace(1, 8, 40), *[8.0] * 10]
    (found,) = evaluator_of({"policy.action_std": climbs}, book=only("action-noise-explodes")).findings()
    assert found.message.startswith("The standard deviation of actions grew from 1 at the start to 8, ")
    assert [(one.before, one.now) for one in found.evidence] == [(1.0, 8.0)]


def test_an_accuracy_that_fell_is_told_once() -> None:
    """Two rules, one for few points, say of it that it is worse than at the start."""
    noise = 0.02 * np.random.default_rng(2).normal(size=110)
    levels = np.concatenate((np.full(30, 0.9), np.linspace(0.9, 0.6, 40), np.full(40, 0.6))) + noise
    found = evaluator_of({"reward.accuracy": levels}).findings()
    assert [one.title for one in found].count("worse than at the start") == 1


def test_a_sentence_has_one_pair_of_parentheses() -> None:
    """The worst value so far joins the limit in the parentheses that a message ends with."""
    found = _finding("kl-ref-high", "policy.kl_ref", 0.1, 3.3, 7.5, 3.3)
    assert re.search(r" from the reference \(limit 3; up to [78]\.\d+ at step \d+\)$", found.message), (
        found.message
    )


def test_what_falls_has_been_up_to_no_worst_value() -> None:
    """The worst of a fall is its lowest value; "up to 22" after "fell from 205 to 9" says the contrary."""
    noise = np.random.default_rng(3)
    learnt, lost = np.r_[np.linspace(22, 200, 45), [200] * 10], np.r_[np.linspace(200, 9.4, 4), [9.4] * 36]
    values = np.r_[learnt, lost] + np.r_[8 * noise.normal(size=59), 0.2 * noise.normal(size=36)]
    book = only("return-crash")
    (found,) = evaluator_of({"reward.episode_return.mean": list(values)}, book=book).findings()
    assert re.fullmatch(
        r"The return of episodes fell from \d+ to 9\.\d+: most of what was gained is lost", found.message
    )


def test_all_that_broke_is_named() -> None:
    """Whoever looks for the first metric that broke finds a reward that broke before the gradients."""
    broke_at = {"reward.mean": 30, "optimizer.grad_norm": 32}
    values = {metric: [0.5] * at + [math.nan] * (50 - at) for metric, at in broke_at.items()}
    found = evaluator_of(values).findings()
    broken = next(one for one in found if one.id == "numerical-breakdown")
    assert [item.canonical for item in broken.evidence] == ["reward.mean", "optimizer.grad_norm"]
    assert any("reward.mean" in one.canonical for one in found if not one.symptom)  # its row is marked


def test_the_evidence_of_a_course_has_the_numbers_of_its_message() -> None:
    """A message from one level to another and the evidence below it begin and end alike."""
    noise = np.random.default_rng(5)
    rise = np.linspace(0.1, 5.0, 200) * (1 + 0.05 * noise.normal(size=200))
    (found,) = evaluator_of({"optimizer.grad_norm": list(rise)}, book=only("grad-grows")).findings()
    (evidence,) = found.evidence
    assert evidence.before is not None and evidence.now is not None
    assert found.message.endswith(f"from {evidence.before:.3g} to {evidence.now:.3g}")

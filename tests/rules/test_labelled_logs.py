"""The shipped recordings and logs against their labels."""

from __future__ import annotations

import pytest

from rltui.demo import recording
from rltui.rules.rule import RECORDING
from rltui.rules.rulebook import rulebook
from tests.confusion import ANSWERS, PUBLIC_ANSWERS
from tests.support.runs.labelled_logs import LATE, Fault, Label, Told, early, labels, late, told_of

LABELS = labels()
HEALTHY = [pytest.param(each, id=each.name) for each in LABELS if each.healthy]
SICK = [pytest.param(each, id=each.name) for each in LABELS if not each.healthy]


def test_every_recording_is_labelled() -> None:
    """Every shipped recording has a label."""
    assert {each.name for each in LABELS if each.kind == "recording"} == set(recording.names())
    assert all(each.healthy != bool(each.faults) for each in LABELS)
    assert all(fault.findings and fault.onset and fault.because for each in LABELS for fault in each.faults)


@pytest.mark.parametrize("label", HEALTHY)
def test_a_healthy_log_raises_no_alarm(label: Label) -> None:
    """No warning and nothing critical, at the end or at any time before."""
    assert told_of(label).alarms == {}


@pytest.mark.parametrize("label", SICK)
def test_a_fault_is_named_in_time(label: Label) -> None:
    """All ids that name a fault are reported, none before its onset or long after it."""
    told = told_of(label)
    assert early(told, label) == {}
    assert [late(told, fault) for fault in label.faults] == [{}] * len(label.faults)


@pytest.mark.parametrize("label", SICK)
def test_no_other_cause_is_named(label: Label) -> None:
    """Whatever leads the findings at any time is the fault, or is listed as true besides."""
    named = {name for fault in label.faults for name in fault.findings}
    assert set(told_of(label).leading) <= {*named, *label.also}


def test_an_alarm_before_the_onset_is_false_and_one_long_after_is_late() -> None:
    """The check itself detects both, and a missing alarm."""
    told = Told(alarms={"a": 9, "b": 10, "c": 31}, begin=0, end=100)
    fault = Fault(10, "", ("b", "c", "d"))
    assert early(told, Label("", "log", faults=(fault,))) == {"a": 9}
    assert late(told, fault) == {"c": 31, "d": None}
    assert LATE == 0.2


def test_a_second_fault_is_told_after_its_own_onset() -> None:
    """Of two faults, an alarm of the second before its onset is false although the first has begun."""
    told = Told(alarms={"cut": 10, "nan": 30}, begin=0, end=100)
    label = Label("", "log", faults=(Fault(10, "", ("cut",)), Fault(41, "", ("nan",))))
    assert early(told, label) == {"nan": 30}


def test_nan_must_be_found_where_it_is_labelled() -> None:
    """Where values become NaN in a run that is faulty already, NaN is a fault of its own."""
    nan = {
        name for each in LABELS for fault in each.faults if "NaN" in fault.because for name in fault.findings
    }
    late_nan = {each.name for each in LABELS if len(each.faults) > 1}
    assert late_nan >= {"nan", "verl-grpo-nan"} and nan == {"numerical-breakdown"}
    assert not any("numerical-breakdown" in each.also for each in LABELS)


@pytest.mark.parametrize("answers", [ANSWERS, PUBLIC_ANSWERS], ids=["recorded", "public"])
def test_answers_to_labels_are_findings(answers: dict[str, tuple[str, ...]]) -> None:
    """Each is the whole name of a rule that is shown, or of a symptom."""
    book = rulebook()
    shown = {each.id for each in book.symptoms}
    shown |= {name for name, rule in book.rules.items() if rule.severity != RECORDING}
    assert {name for names in answers.values() for name in names} <= shown


@pytest.mark.parametrize("answers", [ANSWERS, PUBLIC_ANSWERS], ids=["recorded", "public"])
def test_opposite_labels_have_no_answer_in_common(answers: dict[str, tuple[str, ...]]) -> None:
    """What says that entropy or length fell does not answer for its growth."""
    for kind in ("entropy", "length"):
        fell = set(answers[f"{kind}_collapse"])
        rose = {*answers.get(f"{kind}_explosion", ()), *answers.get(f"{kind}_rise", ())}
        assert not fell & rose

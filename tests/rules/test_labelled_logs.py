"""The shipped recordings and logs against their labels."""

from __future__ import annotations

import pytest

from rltui.demo import recording
from tests.support.runs.labelled_logs import LATE, Label, Told, early, labels, late, told_of

LABELS = labels()
HEALTHY = [pytest.param(each, id=each.name) for each in LABELS if each.healthy]
SICK = [pytest.param(each, id=each.name) for each in LABELS if not each.healthy]


def test_every_recording_is_labelled() -> None:
    """Every shipped recording has a label."""
    assert {each.name for each in LABELS if each.kind == "recording"} == set(recording.names())
    assert all(each.healthy != bool(each.findings and each.onset and each.because) for each in LABELS)


@pytest.mark.parametrize("label", HEALTHY)
def test_a_healthy_log_raises_no_alarm(label: Label) -> None:
    """No warning and nothing critical, at the end or at any time before."""
    assert told_of(label).alarms == {}


@pytest.mark.parametrize("label", SICK)
def test_a_fault_is_named_in_time(label: Label) -> None:
    """All ids that name the fault are reported, none before its onset or long after it."""
    told = told_of(label)
    assert early(told, label.onset) == {}
    assert late(told, label.onset, label.findings) == {}


@pytest.mark.parametrize("label", SICK)
def test_no_other_cause_is_named(label: Label) -> None:
    """Whatever leads the findings at any time is the fault, or is listed as true besides."""
    assert set(told_of(label).leading) <= {*label.findings, *label.also}


def test_an_alarm_before_the_onset_is_false_and_one_long_after_is_late() -> None:
    """The check itself detects both, and a missing alarm."""
    told = Told(alarms={"a": 9, "b": 10, "c": 31}, begin=0, end=100)
    assert early(told, 10) == {"a": 9}
    assert late(told, 10, ("b", "c", "d")) == {"c": 31, "d": None}
    assert LATE == 0.2

"""The labelled logs of real frameworks: healthy ones raise no alarm at any time, faults are named early."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

from tests.confusion import NOT_NAMED, found, onset_of
from tests.support.runs.labelled_logs import Told, longest, replayed
from tests.support.shared import LOGS, manifest, needs_shared

# Not a verdict on training: values are noise or set to NaN on purpose, as the notes of these logs say.
UNJUDGED = ("odd/odd-tf",)

RUNS = manifest()


@cache
def told(path: str) -> list[Told]:
    """The replays of a log's runs."""
    return replayed(LOGS / path)


@needs_shared
@pytest.mark.parametrize(
    "path", [run["path"] for run in RUNS if run["healthy"] and run["path"] not in UNJUDGED]
)
def test_a_healthy_run_raises_no_alarm(path: str) -> None:
    """No warning and nothing critical, at the end or at any time before."""
    for run in told(path):
        assert run.alarms == {}


@needs_shared
@pytest.mark.parametrize(
    ("path", "fault"),
    [
        pytest.param(run["path"], fault, id=f"{run['path']}-{fault['kind']}-{number}")
        for run in RUNS
        for number, fault in enumerate(run["faults"])
    ],
)
def test_a_fault_is_named_in_time(path: str, fault: dict[str, Any]) -> None:
    """A rule or symptom that names it fires at or after the onset, within a fifth of the run."""
    answer = found(fault, longest(told(path)), onset_of(path, fault))
    named = answer is not None and answer[2] == "found"
    assert named is ((path, fault["kind"]) not in NOT_NAMED), answer


@needs_shared
@pytest.mark.parametrize("path", [run["path"] for run in RUNS if run["healthy"] is False])
def test_a_faulty_run_is_not_called_healthy(path: str) -> None:
    """At its end a faulty run has at least a warning, in one sentence with a step."""
    run = longest(told(path))
    assert run.alarms
    assert re.search(r"(since|from|at) step [\d,]+", run.sentence)

"""The labelled logs of real frameworks: healthy ones raise no alarm at any time, faults are found early."""

from __future__ import annotations

from typing import Any

import pytest

from tests.confusion import LATE, ONSETS, Replay, found, replay
from tests.support.shared import manifest, needs_shared

# Not a verdict on training: values are noise or set to NaN on purpose, as the notes of these logs say.
UNJUDGED = ("odd/odd-tf",)
# Labelled without an onset because single samples only show it; rules judge windows.
SINGLE = {("trl/trl011-ppo-left", "negative_kl")}

RUNS = manifest()
_seen: dict[str, list[Replay]] = {}


def told(path: str) -> list[Replay]:
    """The replay of a run, made once."""
    if path not in _seen:
        _seen[path] = replay(path)
    return _seen[path]


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
        if (run["path"], fault["kind"]) not in SINGLE
    ],
)
def test_a_fault_is_found_in_time(path: str, fault: dict[str, Any]) -> None:
    """The right rule or symptom fires no later than a fifth of the run after the onset."""
    run = max(told(path), key=lambda each: each.end - each.begin)
    answer = found(fault, run)
    assert answer is not None
    onset = ONSETS.get((path, fault["kind"]), fault.get("first_step_holding"))
    if onset is not None:
        assert answer[1] <= onset + LATE * (run.end - run.begin)


@needs_shared
@pytest.mark.parametrize("path", [run["path"] for run in RUNS if run["healthy"] is False])
def test_a_sick_run_is_not_called_well(path: str) -> None:
    """At its end a sick run has at least a warning, told in one sentence with a step."""
    run = max(told(path), key=lambda each: each.end - each.begin)
    assert run.alarms
    assert "since step" in run.sentence

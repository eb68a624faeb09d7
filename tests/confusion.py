"""Prints, run by run, what the judge says of the labelled logs, and when: `python -m tests.confusion [PART]`.

Each run is replayed in about a hundred pieces, as if it were being written. For every labelled fault: the
first step at which a matching rule or symptom fired, against the step of its onset.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from rltui.rules.evaluate.evaluator import Evaluator
from rltui.session.session import Session
from rltui.store import Fresh, Points
from tests.support.shared import LOGS, manifest

# What may be said of a fault so that it counts as found. A fault need not be told by its own name: where a
# symptom explains it, the symptom is the better answer.
ANSWERS: dict[str, tuple[str, ...]] = {
    "kl_explosion": ("kl-*", "approx-kl-*", "first-update-kl", "reward-crash-with-kl", "saturated-policy"),
    "grad_explosion": ("grad-*", "update-instability"),
    "truncation": ("truncation*", "no-stop", "runaway-length"),
    "reward_drop": (
        "reward-*",
        "return-*",
        "no-stop",
        "policy-collapsed",
        "learning-rate-blow-up",
        "kl-ref-high",
    ),
    "reward_collapse": ("reward-*", "return-*", "no-stop", "policy-collapsed"),
    "no_signal": ("no-reward-spread", "zero-*", "no-signal", "truncation-no-signal"),
    "zero_advantage": (
        "no-reward-spread",
        "zero-*",
        "no-signal",
        "truncation-no-signal",
        "degenerate-optimum",
    ),
    "zero_gradient": ("zero-gradient", "no-signal"),
    "length_collapse": ("length-*",),
    "length_explosion": ("runaway-length", "no-stop", "length-drift", "truncation", "learning-rate-blow-up"),
    "entropy_collapse": ("entropy-*", "policy-collapsed", "saturated-policy"),
    "entropy_fall": ("entropy-*",),
    "reward_hack": ("runaway-length", "length-hacking", "reward-component-drop", "degenerate-optimum"),
    "nan": ("non-finite", "numerical-breakdown"),
    "inf": ("non-finite", "numerical-breakdown"),
    "no_learning": (
        "not-moving",
        "policy-collapsed",
        "reward-*",
        "return-*",
        "no-signal",
        "saturated-policy",
    ),
    "overfit": ("preference-overfit", "validation-loss-rising", "reward-model-overfit"),
    "saturated_accuracy": ("preference-saturated", "preference-overfit"),
    "explained_variance_bad": ("explained-variance-*", "policy-collapsed", "saturated-policy"),
    "clip_fraction_high": ("clip-fraction-high", "approx-kl-*", "saturated-policy"),
    "negative_kl": ("kl-ref-negative", "kl-sum-negative"),
    "slowdown": ("step-slow", "slow-training"),
    "crash": ("non-finite", "numerical-breakdown"),
}
# Where a label's condition also holds early, while the run is learning, its note says when the fault began.
ONSETS = {("trl/grpo-qwen-late", "reward_drop"): 151, ("sb3/sb3-ppo-late", "reward_drop"): 49_152}
PIECES = 100
LATE = 0.2  # share of the run after the onset


@dataclass
class Replay:
    """What a judge said while a run was replayed."""

    first: dict[str, int] = field(default_factory=dict)  # id -> step at which it was first told
    alarms: dict[str, str] = field(default_factory=dict)  # id -> worst severity ever told
    last: list[Any] = field(default_factory=list)  # the findings at the end
    sentence: str = ""
    begin: int = 0
    end: int = 0


def replay(path: str) -> list[Replay]:
    """Replay every run below a path of the collection."""
    session = Session.load([LOGS / path])
    return [_replay(view) for view in session.ordered() if view.run.series]


def _replay(view: Any) -> Replay:
    columns = {tag: series.recent() for tag, series in view.run.series.items() if series.count}
    steps = np.unique(np.concatenate([points.step for points in columns.values()]))
    cuts = np.unique(steps[np.linspace(0, len(steps) - 1, min(PIECES, len(steps))).astype(int)])
    judge, told = Evaluator(view.run, view.names, None), Replay(begin=int(steps[0]), end=int(steps[-1]))
    given = dict.fromkeys(columns, 0)
    for cut in cuts:
        fresh = []
        for tag, points in columns.items():
            upto = int(np.searchsorted(points.step, cut, "right"))
            if upto > given[tag]:
                part = slice(given[tag], upto)
                fresh.append(
                    Fresh(tag, Points(points.step[part], points.wall_time[part], points.value[part]), None)
                )
                given[tag] = upto
        judge.feed(fresh)
        for finding in judge.findings():
            told.first.setdefault(finding.id, int(cut))
            if finding.rank:
                worst = told.alarms.get(finding.id)
                told.alarms[finding.id] = "critical" if "critical" in (worst, finding.severity) else "warning"
    told.last, told.sentence = judge.findings(), judge.sentence()
    return told


def found(fault: dict[str, Any], told: Replay) -> tuple[str, int] | None:
    """The first matching answer to a fault, and its step; an answer from before the onset counts as at it."""
    hits = [
        (step, name)
        for name, step in told.first.items()
        if any(fnmatchcase(name, pattern) for pattern in ANSWERS.get(fault["kind"], ()))
    ]
    return (min(hits)[1], min(hits)[0]) if hits else None


def main(part: str = "") -> int:
    """Print the table; the exit code is the number of misses and false alarms."""
    warnings.simplefilter("ignore")
    wrong = healthy = quiet = faults = caught = 0
    for entry in manifest():
        path = entry["path"]
        if part not in path:
            continue
        replays = replay(path)
        label = {True: "healthy", False: "sick", None: "unjudged"}[entry["healthy"]]
        for told in replays:
            at_end = [finding.id for finding in told.last if finding.rank and not finding.explained_by]
            alarms = ", ".join(at_end) or "-"
            passing = sorted(set(told.alarms) - {finding.id for finding in told.last if finding.rank})
            print(f"{label:9}{path:33}{alarms}" + (f"   (passing: {', '.join(passing)})" if passing else ""))
            if entry["healthy"]:
                healthy += 1
                quiet += not told.alarms
                wrong += bool(told.alarms)
        told = max(replays, key=lambda each: each.end - each.begin, default=Replay())
        for fault in entry["faults"]:
            faults += 1
            answer = found(fault, told)
            onset = ONSETS.get((path, fault["kind"]), fault.get("first_step_holding"))
            span = max(told.end - told.begin, 1)
            if answer is None:
                mark, text = "MISSED", ""
            else:
                delay = max(answer[1] - (onset if onset is not None else answer[1]), 0) / span
                mark = "late" if delay > LATE else "found"
                text = f"{answer[0]} at {answer[1]:,} ({delay:.0%} after onset)"
            caught += mark == "found"
            wrong += mark != "found"
            print(f"         {mark:7}{fault['kind']:22} onset {onset!s:8} {text}")
    print(f"\nhealthy runs without any alarm at any time: {quiet} of {healthy}")
    print(f"faults found in time: {caught} of {faults}")
    return wrong


if __name__ == "__main__":
    sys.exit(min(main(*sys.argv[1:2]), 1))

"""Prints, run by run, what is said of labelled logs, and when: `python -m tests.confusion [--public] [PART]`.

Each run is replayed in about a hundred pieces, as if it were being written. Of the logs made for the project:
for every labelled fault the first step at which a rule or symptom that names it was told, against the step of
its onset. With `--public`, of logs of public repositories: the headline at the end, the alarms
of the replay that passed, the delay of the right cause after the onset (a share of the run), and flaps, which
are changes of the health back to ok after an alarm; at last the shares of the whole collection. PART selects
the runs whose path holds it.
"""

from __future__ import annotations

import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from rltui.rules.finding import order
from tests.support.runs.labelled_logs import LATE, Told, longest, replayed
from tests.support.shared import LOGS, PUBLIC, manifest

# What names a fault: rules on the very quantity, in the direction of the label, and symptoms that say of it
# what the label says. A symptom that explains the fault by another cause is no answer; the rule that it
# gathers below itself is one. Only whole names: a pattern such as `entropy-*` also holds the opposite.
_REWARD_FELL = (
    "reward-crash",
    "reward-crash-with-kl",
    "reward-drop",
    "reward-dead",
    "return-crash",
    "return-drop",
)
_ENTROPY_FELL = (
    "entropy-collapse",
    "entropy-low",
    "entropy-zero",
    "entropy-vanished",
    "entropy-half",
    "entropy-arrival",
    "entropy-falling",
    "collapsed-without-success",
    "entropy-and-gradient-gone",
    "saturated-policy",
    "policy-collapsed",
)
_ENTROPY_ROSE = ("entropy-explosion", "entropy-rising", "policy-became-random")
_CUT = (
    "truncation",
    "truncation-most",
    "truncation-lasting",
    "truncation-rises",
    "truncation-from-start",
    "truncation-throughout",
    "truncation-no-signal",
    "no-stop",
    "runaway-length",
)
_SHORTER = (
    "length-collapse",
    "length-vanished",
    "length-half",
    "length-hacking",
    "length-hacking-total",
    "length-collapse-lowers-score",
    "length-collapse-without-gain",
)
_LONGER = (
    "length-drift",
    "length-drift-slow",
    "length-twice",
    "length-without-gain",
    "length-fourfold-without-gain",
    "no-stop",
    "runaway-length",
)
_NO_SPREAD = (
    "no-reward-spread",
    "zero-advantage",
    "zero-advantage-many",
    "no-signal",
    "truncation-no-signal",
    "scoring-broke",
)
_UPDATE_KL = (
    "approx-kl-extreme",
    "approx-kl-very-high",
    "approx-kl-high",
    "approx-kl-spike",
    "first-update-kl",
)
_REFERENCE_KL = (
    "kl-ref-jump",
    "kl-ref-high",
    "kl-ref-runaway",
    "kl-per-token-high",
    "kl-sum-high",
    "kl-sum-jump",
)
_TOO_LARGE = ("updates-too-large", "drastic-updates")  # say that clipping and KL are high
ANSWERS: dict[str, tuple[str, ...]] = {
    "kl_explosion": (*_REFERENCE_KL, *_UPDATE_KL),
    "grad_explosion": ("grad-explosion", "grad-spikes", "update-instability"),
    "truncation": _CUT,
    "reward_drop": (*_REWARD_FELL, "no-stop"),
    "reward_collapse": (*_REWARD_FELL, "no-stop"),
    "no_signal": _NO_SPREAD,
    "zero_advantage": _NO_SPREAD,
    "zero_gradient": ("zero-gradient", "no-signal"),
    "length_collapse": _SHORTER,
    "length_explosion": _LONGER,
    "entropy_collapse": _ENTROPY_FELL,
    "entropy_fall": _ENTROPY_FELL,
    "reward_hack": ("reward-hacking", "length-hacking", "length-hacking-total", "runaway-length"),
    "nan": ("non-finite", "numerical-breakdown"),
    "inf": ("non-finite", "numerical-breakdown"),
    "no_learning": (
        "not-moving", "policy-collapsed", "no-signal", "learning-rate-too-high", "reward-says-nothing",
    ),
    "overfit": ("preference-overfit", "validation-loss-rising", "reward-model-overfit"),
    "saturated_accuracy": ("preference-saturated",),
    "explained_variance_bad": (
        "explained-variance-broken", "explained-variance-low", "explained-variance-none",
    ),
    "clip_fraction_high": ("clip-fraction-high", "clip-fraction-most"),
    "negative_kl": ("kl-ref-negative", "kl-sum-negative"),
    "slowdown": ("step-slow", "slow-training"),
    "crash": ("non-finite", "numerical-breakdown"),
}  # fmt: skip
# What a headline must be so that it says the cause of a labelled public fault. The labels have other words.
_OUTCOME_FELL = (
    *_REWARD_FELL, "reward-below-start", "reward-rate-below-start", "reward-per-step-lower",
    "return-long-below-start", "return-never-came-back", "ended-below-best", "ended-below-start",
    "resume-lost-gain", "steps-earn-less", "values-broke", "values-diverge", "values-far-off",
    "policy-gets-worse", "on-policy-below-start", "learning-rate-crash", "learning-rate-unlearns",
    "mismatch-breaks-training", "policy-became-random", "no-stop",
)  # fmt: skip
_NO_GAIN = (
    "outcome-no-gain", "outcome-no-gain-long", "return-no-gain", "return-hardly-rises",
    "return-hardly-rises-long", "half-spent-without-gain", "half-spent-reward-flat", "ended-without-gain",
    "learns-nothing", "learns-nothing-few", "learns-nothing-late", "learns-too-little", "random-so-far",
    "random-at-half", "as-random-as-at-start", "policy-stays-random", "greedy-without-gain",
    "settled-without-gain", "values-settled", "values-stopped", "setting-without-gain",
    "learning-rate-without-gain",
)  # fmt: skip
PUBLIC_ANSWERS: dict[str, tuple[str, ...]] = {
    "reward_collapse": _OUTCOME_FELL,
    "reward_drop": _OUTCOME_FELL,
    "reward_sag": _OUTCOME_FELL,
    "reward_no_gain": (*_NO_GAIN, "length-without-gain", "length-fourfold-without-gain"),
    "no_learning": (
        *_NO_GAIN, "not-moving", "no-signal", "reward-says-nothing", "reward-constant", "reward-repeats",
        "reward-dead", "return-same", "return-constant", "return-constant-long", "ended-constant",
        "policy-collapsed", "saturated-policy", "episodes-end-at-once",
    ),
    "eval_drop": (
        "validation-drop", "validation-lost", "validation-below-start", "validation-fell-back",
        "over-optimised", "memorised", "tool-use-lost-held-out",
    ),
    "policy_collapse": _ENTROPY_FELL,
    "entropy_collapse": _ENTROPY_FELL,
    "entropy_explosion": _ENTROPY_ROSE,
    "entropy_rise": _ENTROPY_ROSE,
    "std_explosion": ("action-noise-explodes", "action-noise-huge", "action-noise-widens", *_ENTROPY_ROSE),
    "length_collapse": _SHORTER,
    "length_explosion": _LONGER,
    "truncation": _CUT,
    "truncation_rising": ("truncation", "truncation-most", "truncation-rises", "no-stop", "runaway-length"),
    "tool_use_dies": ("tool-use-dies", "tool-use-without-gain", "tool-use-lost-held-out"),
    "loss_explosion": (
        "loss-jump", "loss-jump-total", "loss-risen", "loss-grows-without-gain", "value-loss-spike",
        "value-loss-spike-late", "value-loss-risen", "values-explode", "values-broke", "values-diverge",
        "q-diverges", "q-beyond-returns",
    ),
    "clip_high": (
        "clip-fraction-high", "clip-fraction-most", "clip-side-high", "clip-worst-high", *_TOO_LARGE,
    ),
    "kl_high": (*_UPDATE_KL, *_TOO_LARGE),
    "kl": (
        *_REFERENCE_KL, "kl-ref-step", "update-instability", "update-out-of-bounds", "reward-crash-with-kl",
    ),
}  # fmt: skip
# The labels hold the step from which on a limit is passed for good. Where the fault can be seen before, or a
# label's condition also holds while the run is still learning: the first step at which it is seen, and why.
ONSETS: dict[tuple[str, str], int] = {
    ("trl/grpo-gpt2-multi", "kl_explosion"): 81,  # 3 nats, from 0.1
    ("trl/grpo-gpt2-multi", "grad_explosion"): 70,  # 9.2, from 0.3
    ("trl/grpo-qwen-brief", "entropy_collapse"): 9,  # 0.56, from 2.0
    ("trl/grpo-qwen-hack", "reward_hack"): 9,  # the judge's score rises as true quality falls
    ("trl/grpo-qwen-late", "kl_explosion"): 152,  # the learning rate goes from 0.0002 to 0.02
    ("trl/grpo-qwen-late", "reward_drop"): 152,
    ("trl/trl011-ppo-left", "reward_drop"): 40,  # 2.7, from 4.4; never above 3.9 from there on
    ("sb3/sb3-ppo-late", "kl_explosion"): 49_152,  # the learning rate goes from 0.0007 to 0.08
    ("sb3/sb3-ppo-late", "entropy_collapse"): 49_152,
    ("sb3/sb3-ppo-late", "reward_drop"): 49_152,
    ("sb3/sb3-ppo-lr", "entropy_collapse"): 3_072,  # 0.04, from 0.38
    ("verl/verl-grpo-nan", "truncation"): 12,  # 12 %, from 0 to 8; 77 % three steps later
    ("rlinf/rlinf-hot", "entropy_collapse"): 1,  # 0.001 nats over two actions
    ("rlinf/rlinf-hot", "no_learning"): 1,  # the first update moves the policy by 3.3 nats
    ("openrlhf/openrlhf-short", "entropy_collapse"): 7,  # 0.29, from 2.0
    ("verl/verl-grpo-hot", "entropy_collapse"): 3,  # 0.27, from 2.4
}
# Faults that nothing names, and why. Each run is called sick for another of its faults.
NOT_NAMED = {
    ("trl/grpo-qwen-hilr", "reward_drop"),  # one point before the fall is no level to fall from
    ("sb3/sb3-ppo-late", "reward_drop"),  # the return slides over thirty points, within slow waves
    ("trl/trl011-ppo-left", "negative_kl"),  # two single points below zero; rules judge windows
    ("trl/trl011-ppo-hot", "explained_variance_bad"),  # late: a new value head is given twenty points
    ("sb3/sb3-a2c-lr", "explained_variance_bad"),  # it is 0, not bad: all returns are the same
    ("sb3/sb3-ppo-lr", "clip_fraction_high"),  # three points at the start, above its limit
}


def found(fault: dict[str, Any], told: Told, onset: int | None) -> tuple[str, int, str] | None:
    """(id, step, verdict) of the first answer to a fault: found, late, or early (before the onset).

    A remark (severity info) from before the onset is no alarm; it counts from the onset on if it still holds.
    """
    hits = [(step, name) for name, step in told.first.items() if name in ANSWERS.get(fault["kind"], ())]
    if not hits:
        return None
    early = [
        (told.alarms[name], name) for _, name in hits if told.alarms.get(name, onset or 0) < (onset or 0)
    ]
    if early:
        return min(early)[1], min(early)[0], "early"
    step, name = min((max(step, onset or 0), name) for step, name in hits)
    limit = (onset if onset is not None else step) + LATE * (told.end - told.begin)
    return name, step, "late" if step > limit else "found"


def onset_of(path: str, fault: dict[str, Any]) -> int | None:
    """The first step at which a fault can be seen."""
    return ONSETS.get((path, fault["kind"]), fault.get("first_step_holding"))


def main(part: str = "") -> int:
    """Print the table; the exit code says whether a fault was missed or an alarm false."""
    warnings.simplefilter("ignore")
    wrong = healthy = quiet = faults = caught = 0
    for entry in manifest():
        path = entry["path"]
        if part not in path:
            continue
        replays = replayed(LOGS / path)
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
        for fault in entry["faults"]:
            faults += 1
            onset = onset_of(path, fault)
            name, step, verdict = found(fault, longest(replays), onset) or ("-", 0, "MISSED")
            caught += verdict == "found"
            wrong += verdict != "found"
            print(f"         {verdict:7}{fault['kind']:22} onset {onset!s:8} {name} at {step:,}")
    print(f"\nhealthy runs without any alarm at any time: {quiet} of {healthy}")
    print(f"faults named in time: {caught} of {faults}")
    return wrong


@dataclass
class Table:
    """The counts over a collection, and the delays of right causes as shares of their runs."""

    runs: Counter[str] = field(default_factory=Counter)
    delays: list[float] = field(default_factory=list)

    def lines(self) -> list[str]:
        """The counts as shares."""
        count, delays = self.runs, sorted(self.delays)
        found = [
            f"faulty: {count['faulty']}, flagged {_share(count['flagged'], count['faulty'])},"
            f" right cause in the headline {_share(count['named'], count['flagged'])}",
            f"healthy: {count['healthy']}, alarmed at the end {_share(count['wrong'], count['healthy'])},"
            f" at any moment {_share(count['passing'], count['healthy'])}",
            f"flaps: {count['flaps']} in {count['flapping']} faulty runs",
        ]
        if delays:
            early = sum(delay <= 0.1 for delay in delays)
            found.append(
                f"delay of the right cause: median {median(delays):.1%}, within 10 % of the run"
                f" {_share(early, len(delays))}, worst {delays[-1]:.1%}"
            )
        return found


def _share(part: int, whole: int) -> str:
    return f"{part} of {whole}" + (f" ({100 * part / whole:.0f} %)" if whole else "")


def answers(told: Told, faults: Sequence[dict[str, Any]]) -> list[tuple[int, int, str]]:
    """(delay, onset, id) of the faults that an alarm names, in steps; told before its onset counts as 0."""
    named = []
    for fault in faults:
        onset = int(fault["first_step_holding"])
        hits = [
            (max(step - onset, 0), onset, name)
            for name, step in told.alarms.items()
            if name in PUBLIC_ANSWERS.get(fault["kind"], ())
        ]
        named += [min(hits)] if hits else []
    return named


def public(part: str = "") -> int:
    """Print the table of the public logs; the exit code says whether a fault was missed or an alarm false."""
    warnings.simplefilter("ignore")
    table = Table()
    for entry in manifest(PUBLIC):
        path, label, faults = entry["path"], entry["label"], entry["faults"]
        if part not in path:
            continue
        replays = replayed(PUBLIC / path)
        told = longest(replays) if replays else Told()
        serious = sorted(
            (finding for finding in told.last if finding.rank and not finding.explained_by), key=order
        )
        head = serious[0] if serious else None
        verdict = ""
        if label == "healthy":
            table.runs.update(healthy=1, wrong=bool(serious), passing=bool(told.alarms))
            verdict = "FALSE" if serious else "passing" if told.alarms else ""
        elif label == "faulty":
            right = {name for fault in faults for name in PUBLIC_ANSWERS.get(fault["kind"], ())}
            named = head is not None and head.id in right
            flaps = told.flaps(min(int(fault["first_step_holding"]) for fault in faults))
            table.runs.update(faulty=1, flagged=bool(serious), named=named, flaps=flaps, flapping=bool(flaps))
            verdict = "" if named else "OTHER" if serious else "passing" if told.alarms else "MISSED"
            hits = answers(told, faults) if serious else []
            if hits:
                delay = min(hits)[0] / max(told.end - told.begin, 1)
                table.delays.append(delay)
                verdict += f" +{delay:.1%}" + (f" flaps {flaps}" if flaps else "")
        told_faults = ", ".join(f"{fault['kind']} {fault['first_step_holding']:,}" for fault in faults)
        print(f"{label:9}{verdict:16}{path:42}[{told_faults}] to {told.end:,}")
        now = {finding.id for finding in serious}
        passed = [f"{name} @{step:,}" for name, step in told.leading.items() if name not in now]
        if head is not None:
            others = [f"{finding.id} @{finding.since_step:,}" for finding in serious[1:]]
            print("      " + "; ".join([f"{head.id} @{head.since_step:,}: {head.message}", *others]))
        if passed:
            print(f"      also: {', '.join(passed)}")
    print("", *table.lines(), sep="\n")
    return table.runs["faulty"] - table.runs["named"] + table.runs["passing"]


if __name__ == "__main__":
    chosen = [each for each in sys.argv[1:] if each != "--public"][:1]
    sys.exit(min(public(*chosen) if "--public" in sys.argv else main(*chosen), 1))

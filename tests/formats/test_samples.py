"""Logs of one record per sample: aggregates per step and prompt group, and their formulas."""

from __future__ import annotations

import json
import math
import random
import statistics
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.batch import Batch
from rltui.logs.formats.lines import sample_log
from rltui.logs.formats.lines.sample_log import IDLE_READS, MAX_STEPS, step_in_path
from rltui.logs.records.record_keys import COMPUTED
from rltui.logs.records.sample_statistics import (
    SampledStep,
    all_equal,
    gini,
    hit_limit,
    max_median_ratio,
    numbers,
)
from tests.support.logs.file_in_memory import MemFile, cut, read_in_pieces, read_on, read_whole

FORM = sample_log.FORMAT
_numbers = st.floats(-1e12, 1e12)
_groups = st.lists(_numbers, min_size=1, max_size=12)


def lines(*records: dict[str, Any]) -> bytes:
    """Records as JSON lines."""
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


def last(*batches: Batch) -> dict[tuple[str, int], float]:
    """The value of each tag and step that counts in the end: the newest one."""
    return {
        (batch.tags[tag], step): value
        for batch in batches
        for tag, step, value in zip(
            batch.tag.tolist(), batch.step.tolist(), batch.value.tolist(), strict=True
        )
    }


def at(step: int, *batches: Batch) -> dict[str, float]:
    """The same of one step, by tag without what marks it as made by rltui."""
    found = {tag: value for (tag, at), value in last(*batches).items() if at == step}
    assert all(tag.startswith(COMPUTED) for tag in found)
    return {tag.removeprefix(COMPUTED): value for tag, value in found.items()}


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        ([1, 1, 1], 0),
        ([0, 0, 0, 0], 0),
        ([0, 0, 0, 1], 0.75),
        ([1, 3], 0.25),
        ([5], 0),
        ([-1, 1], 0.5),
        ([-2, -2], 0),
    ],
)
def test_gini_of_known_groups(values: list[float], wanted: float) -> None:
    """The Gini coefficient has its textbook values."""
    assert gini(values) == pytest.approx(wanted)


@given(_groups)
def test_gini_is_the_mean_difference(values: list[float]) -> None:
    """The sorted formula equals the definition over all pairs."""
    total = sum(map(abs, values))
    if total > 1e-9:
        pairs = sum(abs(a - b) for a in values for b in values)
        assert gini(values) == pytest.approx(pairs / (2 * len(values) * total), abs=1e-9)


@given(_groups, st.randoms(), st.integers(-30, 30))
def test_gini_bounds_and_invariances(values: list[float], shuffle: random.Random, power: int) -> None:
    """It lies in [0, 1], and neither order nor scale nor repetition of the group makes a difference."""
    found = gini(values)
    assert 0 <= found <= 1
    if all(value >= 0 for value in values):
        assert found <= (len(values) - 1) / len(values) + 1e-12
    mixed = list(values)
    shuffle.shuffle(mixed)
    assert gini(mixed) == pytest.approx(found, abs=1e-9)
    assert gini([math.ldexp(value, power) for value in values]) == pytest.approx(found, abs=1e-9)
    assert gini([*values, *values]) == pytest.approx(found, abs=1e-9)


@given(st.lists(st.floats(0, 1e6), min_size=1, max_size=9), st.randoms())
def test_max_median_ratio(values: list[float], shuffle: random.Random) -> None:
    """The ratio is that of the longest to the median, at least one, in any order; no median, no ratio."""
    mixed = list(values)
    shuffle.shuffle(mixed)
    found = max_median_ratio(mixed)
    median = statistics.median(values)
    if median > 0:
        assert found is not None
        assert found == pytest.approx(max(values) / median)
        assert found >= 1
    else:
        assert found is None


def test_equal_up_to_noise() -> None:
    """Rewards equal up to the noise of float32 averages leave no advantage; a real difference does."""
    assert all_equal([0.3, 0.3 + 3e-8])
    assert all_equal([0, 0])
    assert all_equal([-1, -1])
    assert not all_equal([0, 1e-12])
    assert not all_equal([1, 1.001])


GROUPED = [
    {
        "step": 4,
        "prompt_id": "a",
        "reward": 1.0,
        "completion_length": 10,
        "stop_reason": "stop",
        "text": "x" * 99,
    },
    {"step": 4, "prompt_id": "a", "reward": 0.0, "completion_length": 30, "stop_reason": "length"},
    {"step": 4, "prompt_id": "b", "reward": 0.0, "completion_length": 20, "stop_reason": "stop"},
    {"step": 4, "prompt_id": "b", "reward": 0.0, "completion_length": 20, "stop_reason": "stop"},
    {"step": 4, "prompt_id": "c", "reward": 0.5, "completion_length": 20, "stop_reason": "stop"},
    {"step": 4, "prompt_id": "c", "reward": 0.5, "completion_length": 20, "stop_reason": "stop"},
]


def test_aggregates_of_a_step() -> None:
    """Mean, std, min, max and Gini of each key; lengths, stop reasons and groups without advantage."""
    found = at(4, read_whole(FORM, MemFile("rollouts.jsonl", lines(*GROUPED))))
    wanted = {
        "reward/mean": 2 / 6,
        "reward/std": statistics.pstdev([1, 0, 0, 0, 0.5, 0.5]),
        "reward/min": 0,
        "reward/max": 1,
        "reward/gini": (0.5 + 0 + 0) / 3,
        "completion_length/mean": 20,
        "completion_length/std": statistics.pstdev([10, 30, 20, 20, 20, 20]),
        "completion_length/min": 10,
        "completion_length/max": 30,
        "completion_length/gini": 0.25 / 3,
        "group_length_gini_mean": 0.25 / 3,
        "group_length_max_median_ratio_mean": (1.5 + 1 + 1) / 3,
        "stop_reason_length_pct": 100 / 6,
        "zero_advantage_pct": 200 / 3,
        "zero_advantage_all_zero_pct": 100 / 3,
        "zero_advantage_all_positive_pct": 100 / 3,
        "responses/count": 1,  # the one with a text
        "responses/selected": 1,
        "responses/empty_pct": 0,
        "responses/refusal_pct": 0,
        "responses/unclosed_pct": 0,
    }
    assert found == pytest.approx(wanted)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.floats(0, 100), st.integers(0, 500)), min_size=1, max_size=20),
    st.randoms(),
)
def test_order_of_samples_makes_no_difference(
    content: list[tuple[int, float, int]], shuffle: random.Random
) -> None:
    """Any order of a step's samples gives the same aggregates; shares are percent, Ginis fractions."""
    records = [{"prompt_id": group, "reward": reward, "length": length} for group, reward, length in content]
    mixed = list(records)
    shuffle.shuffle(mixed)
    one, other = SampledStep(), SampledStep()
    for record in records:
        one.add(record)
    for record in mixed:
        other.add(record)
    found = dict(one.aggregates())
    assert dict(other.aggregates()) == pytest.approx(found)
    for tag, value in found.items():
        if tag.endswith("_pct"):
            assert 0 <= value <= 100
        if "gini" in tag:
            assert 0 <= value <= 1
    if "zero_advantage_pct" in found:
        parts = found["zero_advantage_all_zero_pct"] + found["zero_advantage_all_positive_pct"]
        assert parts == pytest.approx(found["zero_advantage_pct"])


def test_rollout_dump_of_verl() -> None:
    """A dump named after its step: prompts group by their text, ground truths are no metrics."""
    records = [
        {"input": f"q{n // 2}", "output": "long", "gts": "42", "score": float(n % 2), "acc": n % 2 == 0}
        for n in range(8)
    ]
    batch = read_whole(FORM, MemFile("dump/17.jsonl", lines(*records)))
    found = at(17, batch)
    assert found["score/mean"] == 0.5
    assert found["score/gini"] == 0.5
    assert found["acc/mean"] == 0.5
    assert found["zero_advantage_pct"] == 0
    assert not any(tag.startswith("gts") for tag in found)
    assert {step for _, step in last(batch)} == {17}


def test_results_of_verifiers() -> None:
    """Samples with messages, nested metrics and an example id; without any step they are step 0."""
    records = [
        {"example_id": n // 2, "prompt": [{"role": "user"}], "completion": [{"content": "a"}], "reward": n,
         "answer": 7, "metrics": {"format": n % 2}, "usage": {"completion_tokens": 10 + n},
         "is_truncated": n == 3}
        for n in range(4)
    ]  # fmt: skip
    found = at(0, read_whole(FORM, MemFile("results.jsonl", lines(*records))))
    assert found["metrics/format/mean"] == 0.5
    assert found["usage/completion_tokens/max"] == 13
    assert found["group_length_max_median_ratio_mean"] == pytest.approx((11 / 10.5 + 13 / 12.5) / 2)
    assert found["stop_reason_length_pct"] == 25
    assert not any(tag.startswith(("answer/", "example_id")) for tag in found)


def test_samples_without_texts_are_known_by_their_number() -> None:
    """Trajectories of robots and games have a step, a reward and a number of their own."""
    data = lines(*({"update": 1 + n // 2, "traj_id": n, "reward": n, "success": n == 1} for n in range(4)))
    assert FORM.matches("rollout_metrics.jsonl", data) and not FORM.matches("metrics.jsonl", data)
    found = at(2, read_whole(FORM, MemFile("rollout_metrics.jsonl", data)))
    assert (found["reward/mean"], found["success/mean"]) == (2.5, 0) and "traj_id/mean" not in found


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("rollouts/step_12/train.jsonl", 12),
        ("rollouts/step-7.jsonl", 7),
        ("a/global_step_40/x.jsonl", 40),
        ("dump/17.jsonl", 17),
        ("17.jsonl", 17),
        ("step_3/9.jsonl", 9),
        ("run3/results.jsonl", None),
        ("2025-01-01/results.jsonl", None),
        ("footstep_9/results.jsonl", None),
    ],
)
def test_steps_in_paths(path: str, step: int | None) -> None:
    """A step is read from a path only where a name says so."""
    assert step_in_path(path) == step


def test_a_step_is_given_when_the_next_begins_and_again_when_more_come() -> None:
    """Later samples of a step, even after another one began, replace what was said of it."""
    first, second = lines(*GROUPED[:3]), lines({"step": 5, "prompt_id": "a", "reward": 3.0})
    file = MemFile("rollouts.jsonl", first, second, lines(*GROUPED[3:]))
    log = FORM.open(file.path)
    batches = read_on(log, file)
    assert at(4, *batches)["reward/max"] == 1.0
    file.grow()
    batches += read_on(log, file)
    assert at(5, *batches)["reward/mean"] == 3.0
    file.grow()
    batches += read_on(log, file)
    assert at(4, *batches) == pytest.approx(
        at(4, read_whole(FORM, MemFile("rollouts.jsonl", lines(*GROUPED))))
    )


@pytest.mark.parametrize("name", ["rollouts.jsonl", "4.jsonl"])
def test_samples_let_go_in_a_pause_are_read_again(name: str) -> None:
    """After a pause the samples are not in memory any more; new ones still join the old of their step."""
    file = MemFile(name, lines({"step": 3, "prompt_id": 1, "reward": 9.0}, *GROUPED[:2]), lines(*GROUPED[2:]))
    log = FORM.open(file.path)
    batches = read_on(log, file)
    for _ in range(IDLE_READS + 1):
        batches.append(log.read(file))
    log.close()
    assert not log._steps
    file.grow()
    batches += read_on(log, file)
    assert at(4, *batches) == pytest.approx(at(4, read_whole(FORM, MemFile(name, lines(*GROUPED)))))
    assert not any(batch.problems for batch in batches)


def test_very_late_samples_are_counted() -> None:
    """Samples of a step that is long over are left out, counted and said, and change nothing."""
    steps = [{"step": n, "prompt_id": 0, "reward": float(n)} for n in range(MAX_STEPS + 3)]
    file = MemFile("rollouts.jsonl", lines(*steps), lines({"step": 0, "prompt_id": 0, "reward": 100.0}))
    log = FORM.open(file.path)
    batches = read_on(log, file)
    file.grow()
    batches += read_on(log, file)
    assert at(0, *batches)["reward/mean"] == 0
    assert [(p.code, p.count) for batch in batches for p in batch.problems] == [("late-samples", 1)]


def test_texts_are_not_held() -> None:
    """A step holds numbers only, whatever texts its samples carry."""
    step = SampledStep()
    for number in range(10):
        step.add({"prompt": "p" * 100_000, "reward": 1.0, "info": {"text": "x", "n": number}})
    assert step.size == 20
    assert dict(numbers({"a": 1, "ok": True, "seed": 3, "step": 4, "t": "5", "prompt": {"n": 1}})) == {
        "a": 1.0,
        "ok": 1.0,
    }


def test_non_finite_rewards() -> None:
    """A NaN reward makes the mean NaN, as in the trainer, and leaves least, greatest and groups finite."""
    data = b'{"step": 1, "uid": "a", "reward": NaN}\n' + lines(
        {"step": 1, "uid": "a", "reward": 2.0}, {"step": 1, "uid": "a", "reward": 2.0}
    )
    found = at(1, read_whole(FORM, MemFile("rollouts.jsonl", data)))
    assert math.isnan(found["reward/mean"])
    assert math.isnan(found["reward/std"])
    assert (found["reward/min"], found["reward/max"], found["reward/gini"]) == (2.0, 2.0, 0.0)
    assert found["zero_advantage_all_positive_pct"] == 100


def test_records_without_a_step_belong_to_the_latest() -> None:
    """A record that names no step joins the step before it, also when it is read again after a pause."""
    stray = {"prompt_id": "a", "reward": 7.0}
    file = MemFile("rollouts.jsonl", lines(stray, *GROUPED, stray), lines(GROUPED[0]))
    log = FORM.open(file.path)
    batches = [log.read(file) for _ in range(IDLE_READS + 3)]
    assert (at(0, *batches)["reward/mean"], at(4, *batches)["reward/max"]) == (7, 7)
    file.grow()
    batches += read_on(log, file)
    assert last(*batches) == pytest.approx(last(read_whole(FORM, file)))


@pytest.mark.parametrize(
    ("record", "wanted"),
    [
        ({"stop_reason": "length"}, True),
        ({"finish_reason": "stop"}, False),
        ({"is_truncated": True}, True),
        ({}, None),
    ],
)
def test_length_limit(record: dict[str, Any], wanted: bool | None) -> None:
    """Whether the limit ended a sample is read from reasons and flags; silence is no answer."""
    assert hit_limit(record) is wanted


@given(st.lists(st.integers(0, 700), max_size=6), st.integers(1, 300))
def test_any_pieces_give_the_same(places: list[int], budget: int) -> None:
    """However the bytes arrive, the last word on every step is the same."""
    data = lines(*GROUPED, {"step": 5, "prompt_id": "a", "reward": 3.0}, *GROUPED[:1])
    whole = last(read_whole(FORM, MemFile("rollouts.jsonl", data)))
    assert last(read_in_pieces(FORM, "rollouts.jsonl", cut(data, places), budget)) == pytest.approx(whole)


def test_junk_and_torn_tail() -> None:
    """Lines that are no samples are counted once; a torn last line is reported at the end."""
    batch = read_whole(FORM, MemFile("rollouts.jsonl", lines(*GROUPED) + b"oops\nno\n" + b'{"step": 4'))
    assert at(4, batch)["reward/max"] == 1
    assert [(problem.code, problem.count) for problem in batch.problems] == [
        ("not-json", 2),
        ("torn-tail", 10),
    ]

"""Each pane names the right answer on logs in the style of each framework: made-up values, real keys."""

from __future__ import annotations

import json

import pytest

from rltui.panes.answers.pane_answers import answer_of
from rltui.panes.pane_report import as_record, pane_report
from rltui.panes.render.lines.answer_lines import answer_lines
from rltui.panes.render.markdown import as_markdown
from tests.support.runs.pane_answers import NOW, run

STEPS = range(60)
STYLES: dict[str, tuple[dict[str, object], dict[str, str]]] = {
    "verl": (
        {
            "actor/pg_loss": 0.1, "critic/score/mean": 0.5, "timing_s/step": [900.0] + [100.0] * 59,
            "timing_s/gen": 60.0, "timing_s/update_actor": 30.0, "global_seqlen/min": 800.0,
            "global_seqlen/mean": 1200.0, "global_seqlen/max": 1600.0, "global_seqlen/balanced_min": 1150.0,
            "global_seqlen/balanced_max": 1250.0, "perf/mfu/actor": 0.28, "response/aborted_ratio": 0.02,
            "response_length/mean": 700.0, "response_length/max": 2048.0, "response_length/min": 9.0,
            "response_length/clip_ratio": 0.3,
        },
        {
            "timing": "The bottleneck is generation: 60 % of a step; actor update 30 %.",
            "load": "the lightest rank waits 8.0 % of the time for the heaviest (50 % before).",
            "perf": "MFU actor is 28.0 %, below 30 %: the accelerators wait.",
            "rollout": "98 % of the rollouts are used; lost: aborted 2.0 %.",
            "lengths": "30 % are cut off at 2048 tokens",
        },
    ),
    "telescope": (
        {
            "timing_step_total": 12.0, "timing_waiting_for_data": 5.0, "timing_forward_total": 2.0,
            "timing_backward_total": 4.0, "kl_divergence_inference": 0.01, "discarded_count": 60.0,
            "discarded_max_async_pct": [70.0 + at % 2 for at in STEPS],
            "discarded_zero_advantage_pct": [30.0 - at % 2 for at in STEPS],
            "discarded_zero_advantage_all_zero_pct": 80.0, "discarded_zero_advantage_all_positive_pct": 20.0,
            "group_length_max_median_ratio_mean": 3.2, "length_completion_mean": 900.0,
            "length_completion_max": 4096.0, "stop_reason_length_pct": 12.0,
        },
        {
            "timing": "The bottleneck is waiting for data: 42 % of a step",
            "load": "The batch waits for its longest sample of a group: 3.2 times the median.",
            "rollout": "stale 70 %, all failed 24 %, all succeeded 5.9 %. Training starves",
            "lengths": "12 % are cut off at 4096 tokens",
        },
    ),
    "prime-rl": (
        {
            "time/step": 12.0, "time/wait_for_batch": 7.0, "time/forward_backward": 4.0,
            "progress/rollouts": 256.0, "off_policy/dropped": 32.0, "off_policy/mean": 2.1,
            "train/math/solved_none": 0.2, "train/math/solved_all": 0.1, "perf/mfu": 22.0,
        },
        {
            "timing": "The bottleneck is waiting for data: 58 % of a step; forward and backward 33 %.",
            "perf": "MFU is 22.0 %, below 30 %",
            "rollout": "62 % of the rollouts are used and carry a signal; lost: all failed 18 %",
        },
    ),
    "slime": (
        {
            "perf/rollout_time": 20.0, "perf/train_time": 9.0, "perf/step_time": 30.0,
            "perf/train_wait_time": 19.0, "perf/wait_time_ratio": 0.63,
            "rollout/dynamic_filter/drop_zero_std_0.0": 10.0, "rollout/dynamic_filter/drop_zero_std_1.0": 6.0,
            "rollout/response_len/mean": 300.0, "rollout/raw_reward": 0.4, "rollout/rewards": 0.0,
        },
        {
            "timing": "The bottleneck is rollout: 67 % of a step; training 30 %.",
            "rollout": "Lost in a step: all failed 10 groups, all succeeded 6 groups; of how many",
            "reward": "Score is 0.400, steady.",
        },
    ),
    "skyrl": (
        {
            "timing/step": 30.0, "timing/generate": 18.0, "timing/policy_train": 8.0, "async/keep_rate": 0.8,
            "async/staleness_mean": 0.7, "policy/final_loss": 0.1, "generate/avg_num_tokens": 400.0,
        },
        {
            "timing": "The bottleneck is generation: 60 % of a step; actor update 27 %.",
            "rollout": "80 % of the rollouts are used",
            "lengths": "Responses have 400 tokens on average",
        },
    ),
    "nemo-rl": (
        {
            "timing/train/total_step_time": 40.0, "timing/train/generation": 22.0,
            "timing/train/policy_training": 12.0, "train/baseline_reward/pct_0": 30.0,
            "train/baseline_reward/pct_1": 20.0, "performance/training_worker_idle_time_ratio": 0.55,
        },
        {
            "timing": "The bottleneck is generation: 55 % of a step; actor update 30 %.",
            "rollout": "all failed 30 %, all succeeded 20 %. Training starves: it waits 55 % of the time.",
        },
    ),
    "rlinf": (
        {
            "time/step": 10.0, "time/actor_training": 6.4, "time/rollout": 3.3,
            "env/episode_len": 150.0, "env/return": [1.0 + at / 10 for at in STEPS],
        },
        {"timing": "a step", "reward": "Episode return is"},
    ),
    "trl-grpo": (
        {
            "train/frac_reward_zero_std": 0.25, "train/completions/mean_length": 90.0,
            "train/completions/clipped_ratio": 0.4, "train/completions/max_length": 256.0,
            "train/reward": 0.8, "train/rewards/correct/mean": 0.6, "train/rewards/format/mean": 0.2,
        },
        {
            "rollout": "75 % of the rollouts are used and carry a signal; lost: equal rewards 25 %.",
            "lengths": "40 % are cut off at 256 tokens",
            "reward": "correct makes 75 % of it",
        },
    ),
}  # fmt: skip


@pytest.mark.parametrize("style", STYLES)
def test_each_pane_names_the_right_answer(style: str) -> None:
    """The sentence says what the numbers of the log come to, the first step left out."""
    series, wanted = STYLES[style]
    view = run(series, others={}, framework=style)
    for pane, words in wanted.items():
        found = answer_of(view, pane)
        assert found is not None, pane
        assert words in found.sentence


@pytest.mark.parametrize("style", STYLES)
def test_text_markdown_and_json_say_the_same(style: str) -> None:
    """Each form has the sentence, all facts, shares, phases and outcomes; derived ones have their formula."""
    view = run(STYLES[style][0], others={}, framework=style)
    for pane in STYLES[style][1]:
        report = pane_report(view, pane, NOW)
        found = report.pane.answer
        assert found is not None
        text = " ".join(line.text for line in answer_lines(found, 400))
        markdown = as_markdown(report).replace("\\", "")
        record = json.loads(json.dumps(as_record(report), default=str))["answer"]
        for out in (text, markdown):
            assert found.sentence in out
            assert all(one.text in out for one in found.facts)
            assert all(
                one.title in out for one in (*found.shares, *found.parts, *found.amounts, *found.bands)
            )
        assert [one["title"] for one in record["shares"]] == [one.title for one in found.shares]
        assert [one["title"] for one in record["amounts"]] == [one.title for one in found.amounts]
        assert found.formulas or not any(one.formula for one in found.facts)

"""Lines of labelled numbers, as home-made loops and some trainers print them."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rltui.logs.formats.interface import read_to_end
from rltui.logs.formats.printed_metrics import labelled_console
from rltui.logs.formats.printed_metrics.labelled_console import (
    FORMAT,
    MIN_UNCOUNTED,
    LabelledLines,
    holds_metrics,
)
from rltui.logs.formats.printed_metrics.line_items import items
from rltui.logs.formats.printed_metrics.printed_hparams import printed_hparams
from rltui.logs.formats.registry import REGISTRY
from rltui.metrics.frameworks.recognise import recognise
from rltui.metrics.resolve import MetricNames
from rltui.session.session import Session
from tests.support.logs.file_in_memory import MemFile, cut, points, read_in_pieces, read_whole
from tests.support.logs.live_logs import delivered_once

Rows = list[tuple[int, dict[str, object]]]


def read(text: str) -> Rows:
    """The records of a console."""
    lines = LabelledLines()
    return [row for line in text.split("\n") for row in lines.feed(line)]


@pytest.mark.parametrize(
    ("line", "step", "numbers"),
    [
        ("Episode 7 | Avg Reward: 8.45 | Win Rate: 12.5%", 7, {"Avg Reward": 8.45, "Win Rate": 12.5}),
        ("INFO:root:Episode: 7, Reward: -3", 7, {"Reward": -3.0}),
        ("[step 0007] SKIP rewards=[1,2] took=5s", 7,
         {"rewards/mean": 1.5, "rewards/min": 1.0, "rewards/max": 2.0, "took": 5.0}),
        ("2024-05-06 07:08:09,123 Learner INFO loss: 0.5, update: 7", 7, {"loss": 0.5}),
        ("after cycle=7 avg(utility)=2.5", 7, {"avg(utility)": 2.5}),
        ("TIMESTEP 7 / STATE explore / EPSILON 0.25 / REWARD -1", 7, {"EPSILON": 0.25, "REWARD": -1.0}),
        ("2024-05-06 07:08:09 - INFO - Eval num_timesteps=7, episode_reward=-0.5 +/- 0.25", 7,
         {"eval/episode_reward": -0.5}),
        ("GRPO iteration 7: reward=0.5", 7, {"reward": 0.5}),
        ("global_step=7, episodic_return=[23.]", 7, {"episodic_return": 23.0}),
        ("[INFO] Walker. Step: 7000. Mean Reward: 1.5. Training.", 7000, {"Mean Reward": 1.5}),
        ("fps total: 12 epoch: 1/10 frames: 7 ", 7, {"fps total": 12.0}),
        (" iteration   7/  100 | lm loss: 1.2E+01 | grad: 2.5 |", 7, {"lm loss": 12.0, "grad": 2.5}),
        ("Iter 7: Train loss 2.5, Learning Rate 1e-05", 7, {"Train loss": 2.5, "Learning Rate": 1e-05}),
        ("Epoch:[2/3](20/100), loss: 0.5", 120, {"loss": 0.5}),
        ("Epoch #7: test_reward: 195.5 ± 3.2, best_reward: 200.0 ± 0.0 in #2", 7,
         {"test_reward": 195.5, "best_reward": 200.0}),
        ("Episode: 7; Reward: -3,25; Loss: 0,5", 7, {"Reward": -3.25, "Loss": 0.5}),
        ("Step 1,500 reward: 12,345.5", 1500, {"reward": 12345.5}),
        ("step 7 return nan kl inf", 7, {"return": float("nan"), "kl": float("inf")}),
        ("Step 7 loss: tensor(0.5, device='cuda:0')", 7, {"loss": 0.5}),
        ("Episode 7: {'reward': np.float64(2.5), 'kl': 0.1}", 7, {"reward": 2.5, "kl": 0.1}),
        ("[info ] DQN: epoch=2 step=7 epoch=2 metrics={'loss': 0.5} step=7", 7, {"loss": 0.5}),
        ("statistics:[('average_q', nan), ('cumulative_steps', 7)]", 7, {"average_q": float("nan")}),
        ("update 7 average reward is 2.5", 7, {"average reward": 2.5}),
        ("step 7 | generation: 30.5s (50.0%)", 7, {"generation": 30.5}),
        ("Step 7 | Reward: 1.0 | GT Answer: 42", 7, {"Reward": 1.0}),
        ("step 7 | loss: 0.5 | correct answers: 12 | ground_truth_answer=3", 7,
         {"loss": 0.5, "correct answers": 12.0}),
        ("Step 7: loss=0.5, correct_answers=12, final_answers=5", 7,
         {"loss": 0.5, "correct_answers": 12.0, "final_answers": 5.0}),
        ("[ 1000 eps] reward: 3.5", 1000, {"reward": 3.5}),
        ("Gen 7: best=3.5 avg=1.25", 7, {"max_fitness": 3.5, "avg_fitness": 1.25}),
        ("Generation 7/50 | Best: -3.5 | Mean: 1.25 | species: 4", 7,
         {"max_fitness": -3.5, "avg_fitness": 1.25, "species": 4.0}),
        ("[007] loss 0.5 | reward 2.5", 7, {"loss": 0.5, "reward": 2.5}),
        ("[7] reward=2.5 loss=0.5", 7, {"reward": 2.5, "loss": 0.5}),
        ("(7) reward: 2.5, loss: 0.5", 7, {"reward": 2.5, "loss": 0.5}),
        ("7 loss: 0.5 reward: 2.5", 7, {"loss": 0.5, "reward": 2.5}),
        ("Finished episode 7 with a total reward of 2.50 in 11 steps", 7, {"total reward": 2.5}),
        ("第 7 回合, 奖励: 2.5", 7, {"奖励": 2.5}),
        ("第7轮 总奖励：2.5 探索率：0.5", 7, {"总奖励": 2.5, "探索率": 0.5}),
        ("エピソード7: 平均報酬: 2.5", 7, {"平均報酬": 2.5}),
        ("Bölüm 7/20, Ödül: 2.5", 7, {"Ödül": 2.5}),
        ("Эпизод 7, Награда: 2.5", 7, {"Награда": 2.5}),
        ("Episodio 7:  Precisión 42.5% → Pérdida 0.5", 7, {"Precisión": 42.5, "Pérdida": 0.5}),
        ("  更新   7/20  步数     7,168  批内平均奖励: 2.5", 7168, {"批内平均奖励": 2.5}),
        ("Episódio 7, Recompensa Total: 2.5 | Agente 1: 3.5 | Agente 2: 4.5", 7,
         {"Recompensa Total": 2.5, "Agente_1": 3.5, "Agente_2": 4.5}),
        ("Episodes:   7%|█   | 7/100 [00:01, reward=2.50, ts/ep=20]", 7, {"reward": 2.5, "ts/ep": 20.0}),
        ("[gsm8k_s13]   7/50 | loss=-0.5 | reward=2.5", 7, {"loss": -0.5, "reward": 2.5}),
        ("7/50 | loss=-0.5 | reward=2.5", 7, {"loss": -0.5, "reward": 2.5}),
        ("7/50 loss: -0.5 <reward: 2.5>", 7, {"loss": -0.5, "reward": 2.5}),
        ("7/50: loss -0.5 - reward 2.5", 7, {"loss": -0.5, "reward": 2.5}),
        ("7/50 - loss: -0.5 - reward: 2.5", 7, {"loss": -0.5, "reward": 2.5}),
        ("Epoch 2, global step 7: 'val_loss' reached 0.5 (best 0.5), saving model to 'x.ckpt' as top 1", 7,
         {"val_loss": 0.5}),
        ("Epoch 7/9: acc (higher is better) : 0.5, kl: 2", 7, {"acc": 0.5, "kl": 2.0}),
        # Readings of clocks and calendars are no metrics
        ("Mon Nov  3 10:37:15 2025 Episode 7 reward 3", 7, {"reward": 3.0}),
        ("Episode 7 reward 3 elapsed: 1 hr 20 min", 7, {"reward": 3.0}),
        ("Episode 7 reward 3 elapsed: 2 days, 1:20:03", 7, {"reward": 3.0}),
        ("Episode 7 reward 3 Time = 0 h 3 m 20 s", 7, {"reward": 3.0}),
        ("Episode 7 reward 3 date 03/11/2025 time 1700000000.5", 7, {"reward": 3.0}),
        # Several numbers behind a name; names behind a name
        ("[step 7/9] rewards=['0.5', '2.5'] loss=0.1", 7,
         {"rewards/mean": 1.5, "rewards/min": 0.5, "rewards/max": 2.5, "loss": 0.1}),
        ("step 7 return=[1. 3.]", 7, {"return/mean": 2.0, "return/min": 1.0, "return/max": 3.0}),
        ("[Update 7/9] Value(mean=0.5, std=2)KL=0.1", 7, {"Value mean": 0.5, "Value std": 2.0, "KL": 0.1}),
        ("Update 7/9 | Loss(P/V/E): -0.5/2.5/.1 | FPS: 3", 7,
         {"Loss P": -0.5, "Loss V": 2.5, "Loss E": 0.1, "FPS": 3.0}),
        ("step 7 min/mean/max = 1/2/3, kl/ref: 0.5/0.1", 7,
         {"min": 1.0, "mean": 2.0, "max": 3.0, "kl": 0.5, "ref": 0.1}),
        ("step 7/9 train/loss: 3/100 score: 2.5", 7, {"train/loss": 3.0, "score": 2.5}),
        ("Average Reward after 7 episodes: 2.5", 7, {"Average Reward": 2.5}),
        ("[Evaluator] Actor Steps = 7 | Episode Return = 2.5", 7, {"eval/Episode Return": 2.5}),
        ("Episode 7 | Agent 0: 2.5 | Player #1 reward: 3", 7, {"Agent_0": 2.5, "Player_1 reward": 3.0}),
        ("step 7 lr: 0.0000 Actor LR=0.00 score: 0.000 lr_mult 0.0", 7, {"score": 0.0, "lr_mult": 0.0}),
        ("[Drone 2] step 7 score 2.5", 7, {"drone_2/score": 2.5}),
        ("[eval] step=7  eval/mean_reward=2.5 score=1", 7, {"eval/mean_reward": 2.5, "eval/score": 1.0}),
        ("2024-05-06 07:08:09 [Train] Epoch 7, loss 0.5", 7, {"train/loss": 0.5}),
        ("ACTOR - Timestep: 7 | Episode return mean: 2.5", 7, {"actor/Episode return mean": 2.5}),
        ("Test:  epoch: 7, accuracy: 0.5", 7, {"test/accuracy": 0.5}),
        ("Total T: 7 Episode Num: 2 Episode T: 3 Reward: 2.5", 7, {"Episode T": 3.0, "Reward": 2.5}),
        # DrQ-v2 and rllte; TD-MPC2; Coach; Dreamer
        ("| eval | F: 14 | S: 7 | E: 1 | L: 500 | R: 2.5 | T: 0:00:42", 7,
         {"eval/episode_length": 500.0, "eval/episode_reward": 2.5}),
        ("eval   E: 1    I: 1,007    R: 2.5    S: 0.5    T: 0:00:10", 1007,
         {"eval/episode_reward": 2.5, "eval/episode_success": 0.5}),
        ("Training> Name=main/agent, Episode=1, Total reward=2.5, Steps=7, Training iteration=3", 7,
         {"train/Total reward": 2.5}),
        ("[7] train_return 2.5 / train_length 500.0 / fps 20.1", 7,
         {"train_return": 2.5, "train_length": 500.0, "fps": 20.1}),
        # trlx; `set_postfix`; a line behind a bar
        ("[losses/total: 0.5 | losses/kl: 0.1]:   3%|▏  | 7/90 [00:03<2:00:00,  1.2it/s]", 7,
         {"losses/total": 0.5, "losses/kl": 0.1}),
        ("Training:  3%|▏  | 7/90 [00:03<00:10, 1.2it/s, reward=[2.5], loss=1e-2]", 7,
         {"train/reward": 2.5, "train/loss": 0.01}),
        (" 3%|▏ | 90/100 [00:03<00:10, 1.2it/s]2024-05-06 07:08 [info] step=7 loss=0.5", 7, {"loss": 0.5}),
    ],
)  # fmt: skip
def test_a_line_is_taken_apart(line: str, step: int, numbers: dict[str, object]) -> None:
    """Counter, names and values; times, levels, spreads and units are none of them."""
    counters, found, *_ = items(line.strip())
    assert counters[0].value == step or counters[0].name == "step"
    assert repr(found) == repr(numbers) and counters[0].value == step


@pytest.mark.parametrize(
    ("line", "step", "numbers"),
    [
        ("Episode 7 finished after 20 timesteps with reward 2.5", 7, {"reward": 2.5}),
        ("Epoch 7: average reward of 2.5 over 10 episodes", 7, {"average reward": 2.5}),
        ("('Episode:', 7, 'Reward:', 2.5)", 7, {"Reward": 2.5}),
        ("[ 700/1000] reward: 2.5 loss: 0.1", 700, {"reward": 2.5, "loss": 0.1}),
        ("700/1000: episode: 9, lasted: 0.5s, episode reward: 2.5", 700, {"episode reward": 2.5}),
        ("Result for episode 7 of 9: Sum: 2, Average: 1", 7, {"episode_reward": 2.0, "reward_per_step": 1.0}),
        ("Eval num_timesteps=7, episode_reward=2.50 +/- 0.1", 7, {"eval/episode_reward": 2.5}),
        ("Avg reward over last 10 eps at step 7: 2.5", 7, {"Avg reward": 2.5}),
        ("Steps: 7k | Reward: 2.5", 7000, {"Reward": 2.5}),
        ("Steps: 700/9000 | Reward: 2.5", 700, {"Reward": 2.5}),
        ("Episode 7 | Steps: 20/200 | Reward: 2.5", 7, {"Steps": 20.0, "Reward": 2.5}),
        ("回合 7，奖励：2.5", 7, {"奖励": 2.5}),
        ("Épisode 7 : récompense = 2.5", 7, {"récompense": 2.5}),
        ("[step 7] rewards(c/r)=2.5/-1.5", 7, {"rewards chosen": 2.5, "rewards rejected": -1.5}),
    ],
)  # fmt: skip
def test_sentences_and_plain_counts_are_labelled_numbers(
    line: str, step: int, numbers: dict[str, object]
) -> None:
    """Units and words of a sentence are no part of a name."""
    counters, found, *_ = items(line)
    assert counters[0].value == step
    assert {name: found.get(name) for name in numbers} == numbers


_HEADED = (
    ["(episode, reward, loss)", *(f"({k}, {k}.5, 0.1)" for k in range(5))],
    ["episode, reward, loss", *(f"({k}, {k}.5, 0.1)" for k in range(5))],
    ["┃ Episode ┃ Reward ┃ Loss ┃", *(f"│ {k} │ {k}.5 │ 0.1 │" for k in range(5))],
    [f"+---+---+\n| episode | {k} |\n| reward | {k}.5 |\n+---+---+" for k in range(5)] + ["end"],
    [f"----  ---\nReturn  {k}.5\nexploration/num steps total  {k}\nEpoch  9\n----  ---" for k in range(1, 6)],
    [f"ID  Step  avgR  etc.\n-1  {k}  {k}.5" for k in range(5)],
    [f" ** Running generation {k} **\nPopulation's average fitness: {k}.5 stdev: 0.5" for k in range(5)],
)  # fmt: skip


@pytest.mark.parametrize("lines", _HEADED)
def test_rows_below_names_and_tables_one_below_the_other(lines: list[str]) -> None:
    """In brackets, in boxes, with nothing between two tables, with a last column that may be missing."""
    found = read("\n".join(lines))
    assert len(found) >= 4 and all(step + 0.5 in row.values() for step, row in found)


def test_a_console_filled_to_the_width_of_its_terminal_is_recognised() -> None:
    """Blanks are no content; nor does text between lines with the same names keep them from being found."""
    wide = "".join(
        f"Iteration {k}".ljust(9000) + f"\n| Name  | reward |\n| Value | {k}.5 |\n" for k in range(4)
    )
    assert holds_metrics(wide.encode())
    far = "".join(f"Episode {k} reward {k}.5\n" + "a sentence of an answer.\n" * 2000 for k in range(4))
    assert holds_metrics(far.encode())
    assert not holds_metrics(far.replace("reward", "page").replace("Episode", "Chapter").encode())


@pytest.mark.parametrize("plan", ["total_timesteps", "Total Steps"])
def test_a_printed_plan_is_no_step(plan: str) -> None:
    """It stays the same beside a counter, which then has it as its goal; a total that counts is the step."""
    lines = LabelledLines()
    text = "".join(f"{plan}: 9000 | timestep: {k}00 | reward: {k}.5\n" for k in range(1, 6))
    assert [row for line in text.split("\n") for row in lines.feed(line)] == [
        (100 * k, {"reward": k + 0.5}) for k in range(1, 6)
    ]
    assert lines.planned == 9000
    counting = "".join(f"{plan}: {k}000 | timestep: {k}00 | reward: {k}.5\n" for k in range(1, 6))
    assert [step for step, _ in read(counting)] == [1000 * k for k in range(1, 6)]


def test_blocks_below_a_counter_are_read_beside_lines_with_another_one() -> None:
    """MushroomRL: `Epoch 3 | J: 1.5`, and `Iteration 3:` above its values."""
    text = "".join(f"Iteration {k}:\n\trewards {k}.5 vf_loss [0.5]\nEpoch {k} | J: 2.5\n" for k in range(6))
    assert [(step, row["rewards"]) for step, row in read(text) if "rewards" in row] == [
        (k, k + 0.5) for k in range(6)
    ]


def test_a_remark_may_end_the_line_below_a_counter() -> None:
    """The counter stands in a sentence of the line above."""
    text = "".join(
        f"  Step {k}: making 2 answers to prompt 1/1...\n  Rewards: [{k}.0, 0.5] ({k % 3}/2 rendered)\n"
        for k in range(1, 6)
    )
    assert [(step, row["Rewards/max"]) for step, row in read(text)] == [(k, max(k, 0.5)) for k in range(1, 6)]


def test_a_record_over_two_lines_is_one_step() -> None:
    """The second line belongs to the counters of the first; it has several numbers behind one name."""
    text = "".join(
        f"[Update {k}/9] Step: {k}00/900 | FPS: {k} | ETA: 21:5{k}:50\n"
        f" └─ Win: 0.{k} | Loss(P/V): -0.{k}/{k}.5\n\n"
        for k in range(1, 6)
    )
    assert {(step, name) for step, row in read(text) for name in row} == {
        (100 * k, name) for k in range(1, 6) for name in ("FPS", "Win", "Loss P", "Loss V")
    }


@pytest.mark.parametrize("above", [True, False])
def test_blocks_of_several_learners_are_told_apart(above: bool) -> None:
    """`Agent 1:` stands above its counter, or below that of all; names are its own until the next one."""
    block = "== Agent {0} ==\nEpisode: {1}\nReward: {1}.5\n" if above else "Agent {0}:\n  Reward: {1}.5\n"
    text = "".join(
        f"Episode {k}\n" * (not above) + "".join(block.format(each, k + each) for each in (0, 1)) + "\n"
        for k in range(1, 6)
    )
    expected = {
        (k + each * above, f"agent_{each}/Reward", k + each + 0.5) for k in range(1, 6) for each in (0, 1)
    }
    assert {(step, name, value) for step, row in read(text) for name, value in row.items()} == expected
    assert MetricNames(None).name("agent_1/Reward").canonical == "reward.mean"


def test_names_of_loggers_and_levels_are_no_part_of_a_block() -> None:
    """`%(asctime)s - %(name)s - %(levelname)s - %(message)s` in front of each line below a counter."""
    said = "2025-10-28 01:00:04 - src.worker.train - INFO - "
    text = "".join(
        f"{said}✅ Training step #{k} complete:\n{said}   Total loss: 3.{k}\n{said}   Policy loss: 1.{k}\n"
        for k in range(1, 6)
    )
    assert {(step, *row) for step, row in read(text)} == {
        (k, name) for k in range(1, 6) for name in ("Total loss", "Policy loss")
    }


def test_a_bar_without_numbers_says_nothing() -> None:
    """Downloads, shards and evaluations run between the metrics."""
    for line in (
        "Loading shards:  50%|██ | 1/2 [00:01<00:01, 1.2s/it]",
        " 10%|█ | 5/50 [00:01<00:10, 4it/s]",
    ):
        assert items(line) == ([], {}, False, "")


def test_a_bar_that_is_drawn_again_is_one_point() -> None:
    """With its old numbers it is drawn for its rate alone."""
    bar = " 3%|▏ | {}/90 [00:03<00:10, 1.2it/s, reward={}]\r"
    text = "".join(bar.format(k, k // 2) for k in range(2, 12))
    assert read(text) == [(k, {"reward": k / 2}) for k in range(2, 12, 2)]


def test_bars_of_epochs_are_counted_on() -> None:
    """Each begins again where the last one was full; one that was stopped short is another attempt."""
    bar = " {}0%|▏ | {}/10 [00:03<00:10, 1.2it/s, loss={}.5]\r"
    full = [bar.format(k, k, k + epoch) for epoch in range(3) for k in range(0, 11, 5)]
    assert [step for step, _ in read("".join(full))] == [0, 5, 10, 10, 15, 20, 20, 25, 30]
    short = [bar.format(k, k, k + epoch) for epoch in range(2) for k in (1, 2, 3)]
    assert [step for step, _ in read("".join(short))] == [1, 2, 3, 1, 2, 3]


def test_a_tree_below_a_counter_is_read() -> None:
    """Its branches are no border of a box."""
    text = "".join(f"Iteration {k}:\n  ├─ reward: {k}.5\n  └─ kl: 0.{k}\n" for k in range(1, 6))
    assert sorted(read(text), key=lambda row: (row[0], *row[1])) == [
        row for k in range(1, 6) for row in ((k, {"kl": k / 10}), (k, {"reward": k + 0.5}))
    ]


KERAS = "".join(
    f"Epoch {k}/9\n"
    + "".join(f"{b}/2 ━━━━ 0s {b}ms/step - accuracy: 0.1 - loss: 0.{b}\b\b\b\r" for b in (1, 2))
    + f"2/2 ━━━━ 1s 2ms/step - accuracy: 0.25 - loss: 0.{k} - val_loss: 1.5\n"
    for k in range(1, 9)
)


def test_bars_of_keras_count_when_their_epoch_is_done() -> None:
    """keras/src/utils/progbar.py: one bar an epoch, drawn over itself."""
    assert {step for step, row in read(KERAS) if row.get("loss") == 0.1} <= {1}
    assert [(step, row["val_loss"]) for step, row in read(KERAS) if "val_loss" in row] == [
        (k, 1.5) for k in range(1, 9)
    ]


# pufferlib/pufferl.py; dowel/simple_outputs.py of garage; elegantrl/train/evaluator.py; pprint
PUFFER = "".join(
    f"""╭──────────────────────╮
│ PufferLib 3.0   CPU: 4.1%   GPU: 88.0% │
│  Summary         Value    Performance    Time         Losses       Value │
│  Env          breakout    Evaluate   1m 2s   23%      policy_loss  -0.25 │
│  Steps          {k}.5M    Forward       7s    8%      entropy       1.{k} │
│  Epoch              {k}                                               │
│  User Stats      Value    User Stats    Value                           │
│  episode_return  {k}.25   score      {k}.125                            │
╰──────────────────────╯
"""
    for k in range(1, 9)
)
GARAGE = "".join(
    f"2020 | [trpo] epoch #{k} | Saving snapshot...\n2020 | [trpo] epoch #{k} | Time 12.00 s\n"
    f"{'-' * 20}  ------\nEvaluation/AverageReturn  {k}.25\nTotalEnvSteps            {k}000\n"
    f"policy/KL   0.{k}\n{'-' * 20}  ------\n"
    for k in range(1, 9)
)
ELEGANT = "ID     Step    Time |    avgR   stdR |    expR   objC   etc.\n" + "".join(
    f"0  {k}.00e+03       {k} |-{k}.25  375.6 |   -1.42  81.65   0.00  -0.00\n| Evaluator: note\n"
    for k in range(1, 9)
)
_RULE, _LOG = "+-------+-----+-----+\n", "[2026-03-01 10:00:00,123][ learner_hook.py][line: 236][    INFO] "
DING = "".join(
    f"{_LOG}=== Training Iteration {k} Result ===\n{_LOG}\n{_RULE}| Name  | a_loss | lr_avg |\n{_RULE}"
    f"| Value | 0.{k} | 0.001 |\n{_RULE}{_RULE}| Name  | kl_avg |\n{_RULE}| Value | 1.{k} |\n{_RULE}\n"
    for k in range(1, 9)
)
# The same of release 0.5.3, in its file and on a console, among single episodes of evaluations
_FILE = "[2026-11-27 16:53:56][base_learner.py:360][INFO] [RANK0]: "
_RICH, _PLACE = "[11-27 16:53:56] INFO     ", "      base_learner.py:360\n"
_EPISODES = "".join(
    f"[EVALUATOR]env {k} finish episode, final reward: 8.0, current episode: {k}" for k in (1, 2)
)
DING_FILE = DING.replace(_LOG, _FILE).replace("Result ===\n", f"Result ===\n{_FILE}{_EPISODES}\n")
DING_RICH = (
    DING.replace(f"{_LOG}\n", f"{_RICH}{_PLACE}").replace(_LOG, _RICH).replace(" ===\n", f" ==={_PLACE}")
)
PRINTED = "".join(f"{{'a/loss': 0.{k},\n 'name': 'x',\n 'step': {k}}}\n" for k in range(1, 9))


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        (PUFFER, [
            (int((k + 0.5) * 1e6), {"policy_loss": -0.25, "entropy": 1 + k / 10, "episode_return": k + 0.25,
                                    "score": k + 0.125})
            for k in range(1, 9)
        ]),
        (GARAGE, [
            (1000 * k, {"Evaluation/AverageReturn": k + 0.25, "policy/KL": k / 10}) for k in range(1, 9)
        ]),
        (ELEGANT, [
            (1000 * k, {"Time": k, "avgR": -k - 0.25, "stdR": 375.6, "expR": -1.42, "objC": 81.65})
            for k in range(1, 9)
        ]),
        *[
            (log, [(k, {"a_loss": k / 10, "lr_avg": 0.001, "kl_avg": 1 + k / 10}) for k in range(1, 9)])
            for log in (f"{DING}end", f"{DING_FILE}end", f"{DING_RICH}end")
        ],
        (PRINTED, [(k, {"a/loss": k / 10}) for k in range(1, 9)]),
    ],
)  # fmt: skip
def test_a_printed_table_is_one_record(text: str, rows: Rows) -> None:
    """Boxes, rows below dashes, columns below names, dictionaries over lines: with the step within."""
    read_rows = [
        (step, {key: value for key, value in row.items() if key != "etc."}) for step, row in read(text)
    ]
    assert read_rows == rows


def test_trials_of_a_table_are_told_apart() -> None:
    """Ray Tune prints all of them again and again, most of them as they were; the first keeps its names."""
    head = "| Trial name | status  | loc      |   iter |    ts |   reward |"
    text = ""
    for k in range(1, 5):
        for name, reward in (("PPO_00000", k / 2), ("PPO_00001", k / 4)):
            row = f"| {name}  | RUNNING | 10.0.0.1 | {k:6} | {k}00 | {reward:8} |\n"
            text += f"{head}\n|------------+---------|\n{row}" + row * (k > 1)
    rows = read(text)
    assert [row for row in rows if len(row[1]) == 2 and "reward" in row[1]] == [
        (k, {"ts": 100.0 * k, "reward": k / 2}) for k in range(1, 5)
    ]
    others = [numbers for _, numbers in rows if "reward" not in numbers]
    assert others == [{"PPO_00001/ts": 100.0 * k, "PPO_00001/reward": k / 4} for k in range(1, 5)]


@pytest.mark.parametrize(
    ("line", "is_rounded"),
    [
        ("Episode {0} | Reward: {0}.25 | Loss: 0.{0}3 | lr: 0.00029999999", True),
        ("Episode {0} | Reward: {0}.25 | Loss: 0.{0}3123456789", False),
        ("Episode {0} | Score: {0}", False),
    ],
)
def test_few_digits_are_said_of_rounded_numbers_only(line: str, is_rounded: bool) -> None:
    """A console that prints whole numbers, or all digits of its numbers, is not called rounded."""
    text = "".join(f"{line.format(step)}\n" for step in range(1, 9))
    file = MemFile("train.log", text.encode())
    batch = FORMAT.open("train.log").read(file)
    assert ("rounded" in {problem.code for problem in batch.problems}) is is_rounded


@pytest.mark.parametrize(("short", "is_rounded"), [(8, False), (40, True)])
def test_few_digits_are_said_alike_however_a_console_is_read(short: int, is_rounded: bool) -> None:
    """All digits below a few short numbers are seen first, also by reads of single lines."""
    line = "Episode {0} | Score: {0} | Loss: {1}\n"
    text = "".join(line.format(k, 0.5 if k < short else 0.5 + k / 7) for k in range(80))
    file = MemFile("train.log", text.encode())
    for budget in (1, 40, 400, len(text) - 1, len(text), 1 << 20):
        reader = FORMAT.open("train.log")
        batches = [*read_to_end(reader, partial(reader.read, file, budget))]
        codes = {problem.code for batch in batches for problem in batch.problems}
        assert ("rounded" in codes) is is_rounded


def test_plan_of_two_counters_with_goals() -> None:
    """The goals of batches and epochs are multiplied; those of two counters of one training are not."""
    for line, planned in (
        ("[Update {0}/9] Step: {1}/900 | Reward: {0}.5", 900),
        ("Epoch {0}/9 Step: {2}/4 | Reward: {0}.5", 36),
    ):
        lines = LabelledLines()
        for number in range(16):
            list(lines.feed(line.format(number // 4 + 1, 20 * number + 20, number % 4 + 1)))
        assert lines.planned == planned


def test_roles_keep_evaluations_apart() -> None:
    """One name of two roles makes two series, and each counts its own steps."""
    text = "".join(
        f"[Learner] Actor Steps = {k}00 | Learner Steps = {k} | Loss = 0.{k}\n"
        f"[Actor] Actor Steps = {k}50 | Learner Steps = {k} | Episode Return = {k}\n"
        f"[Evaluator] Actor Steps = {k}25 | Learner Steps = {k} | Episode Return = -{k}\n"
        for k in range(1, 9)
    )
    rows = read(text)
    assert [(step, row["eval/Episode Return"]) for step, row in rows if "eval/Episode Return" in row] == [
        (100 * k + 25, -k) for k in range(1, 9)
    ]
    assert [step for step, row in rows if "learner/Loss" in row] == [100 * k for k in range(1, 9)]


def test_lines_count_from_their_third_step_and_none_is_lost() -> None:
    """Two lines may be anything; with the third all three are given."""
    line = "Episode {} | Reward: {}.5"
    assert read("\n".join(line.format(k, k) for k in (1, 2))) == []
    assert [step for step, _ in read("\n".join(line.format(k, k) for k in (1, 2, 3, 4)))] == [1, 2, 3, 4]


def test_values_below_a_counter_have_its_step() -> None:
    """A heading with the counter, a name and a value on each line; totals and durations are no heading."""
    block = "####\n  Learning iteration {0}/300 \n\n  Total steps: {0}00\n  Mean reward:  {0}.25\n"
    block += " Mean std: 0.5\n---\nETA: 00:01:09\n"
    rows = read("".join(block.format(k) for k in range(4)))
    assert [(step, row) for step, row in rows if "Mean reward" in row] == [
        (k, {"Mean reward": k + 0.25}) for k in range(4)
    ]
    assert {step for step, row in rows if "Mean std" in row} == {0, 1, 2, 3}
    assert {row["total_steps"] for _, row in rows if "total_steps" in row} == {0, 100, 200, 300}


@pytest.mark.parametrize(
    "text",
    [
        "\n".join(f"Downloading shard {k}/10: {k}0% at {k}.5 MB/s" for k in range(9)),
        "\n".join(f"2024-05-06 07:08:0{k} INFO served 1{k}, step {k} of it took 0.{k} s" for k in range(9)),
        "\n".join(f"Step {k}: multiply x by {k}, so the loss of {k} coins stays" for k in range(9)),
        "Epoch 1 | loss: 0.5\n" * 9,
        "\n".join(f"| Name | Step | Score |\n|---|---|---|\n| a{k} | b | c |" for k in range(9)),
        "\n".join(f"package-{k}==1.{k}.0\n------------ ---------\nsix          1.{k}.0" for k in range(9)),
        "step, loss and reward are shown below, in this order, for all\n1 2 3\n4 5 6\n7 8 9\n",
        'File "train.py", line 12, in step\n    reward = 0.5\n' * 9,
    ],
)  # fmt: skip
def test_other_text_is_none_of_it(text: str) -> None:
    """Downloads, servers, sentences, one step said again and again, tracebacks."""
    assert read(text) == [] and not holds_metrics(text.encode())


def test_answers_of_a_model_between_the_lines_are_none_of_it() -> None:
    """Once lines have counter and values, a counter alone is text, and what stands below it, too."""
    text = "".join(
        f"Epoch:[1/1]({k}/90), Reward: 0.{k}\nStep 1:\nscore = {k}.5\na = {k}\n\nStep 2:\nscore = 3\n"
        for k in range(1, 9)
    )
    assert all(set(row) == {"Reward"} for _, row in read(text))


def test_batches_of_epochs_are_counted_on() -> None:
    """A counter that begins again with each epoch makes one axis."""
    text = "\n".join(f"Epoch: {e} | Step: {s} | Loss: 0.{s}" for e in range(3) for s in range(4))
    steps = [step for step, _ in read(text)]
    assert steps == list(range(12))


PHASES = "".join(
    f"=== Iteration {rollout}/9 ===\n"
    + "".join(f"  [Update {update}/8] policy_loss: 0.{rollout}{update}\n" for update in range(1, 9))
    for rollout in range(1, 5)
)


def test_phases_are_counted_on() -> None:
    """Updates that begin again in each rollout go on; one of many is another training."""
    assert [step for step, _ in read(PHASES)] == [*range(1, 33)]
    alone = "".join(f"[Update {each}/4] loss: 0.5\n" for _ in range(3) for each in range(1, 5))
    assert [step for step, _ in read(alone)] == [*range(1, 13)]
    trainings = "".join(f"Update {each}/80 loss: 0.5\n" for _ in range(2) for each in range(1, 81))
    assert [step for step, _ in read(trainings)] == [*range(1, 81)] * 2


def test_an_epoch_alone_stands_where_its_steps_were_last() -> None:
    """Tianshou prints evaluations by epoch, between bars that count steps of the environment."""
    text = "".join(
        f"Epoch #{e}: 11it [00:05, env_step={e}000, rew={e}.5]\nEpoch #{e}: test_reward: {e}.25 ± 0.5\n"
        for e in range(1, 5)
    )
    found = [(step, row["test_reward"]) for step, row in read(text) if "test_reward" in row]
    assert found == [(1000, 1.25), (2000, 2.25), (3000, 3.25), (4000, 4.25)]


def test_a_return_of_one_letter_is_found_in_its_colours() -> None:
    """tdmpc2/common/logger.py colours each label, so that no word stands before the number."""
    label = "\x1b[34m{}:\x1b[0m "
    e, i, r, t = map(label.format, "EIRT")
    text = "".join(
        f" \x1b[34mtrain\x1b[0m   {e}{k}   {i}{k},000   {r}{k}.5   {t}0:00:09\n" for k in range(1, 6)
    )
    assert holds_metrics(text.encode())
    assert read(text) == [(1000 * k, {"train/episode_reward": k + 0.5}) for k in range(1, 6)]


def test_a_console_of_such_lines_is_recognised_behind_other_output(tmp_path: Path) -> None:
    """By its lines, not by its head."""
    lines = "".join(f"Episode {k}\tAverage Score: {k}.25\n" for k in range(1, 20))
    (tmp_path / "train.log").write_text("loading\n" * 3000 + lines)
    (tmp_path / "notes.txt").write_text("the reward is 5\n" * 50)
    delivered = delivered_once([tmp_path])
    assert delivered.runs() == {"train": ["train.log"]} and len(delivered.points["train.log"]) == 19


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"Episode {k} | Reward: {k}.5\n" for k in range(1, 9)).join(("```\n", "```\n")),
        "| Episode | Reward | Note |\n|---|---:|---|\n"
        + "".join(f"| {k} | {k}.5 | 0.25 |\n" for k in range(1, 9)),
        "| Episode | Reward |\n|---|---:|\n" + "".join(f"| {k} | {k}.5 |\n" for k in range(1, 9)),
        "".join(f"- **Episode {k}**: Reward = {k}.5\n" for k in range(1, 9)),
    ],
)
def test_a_log_pasted_into_markdown_is_read(tmp_path: Path, text: str) -> None:
    """From a block, a table and a list, below a heading; a README with the same text is no log."""
    for name in ("training_log.md", "README.md"):
        (tmp_path / name).write_text(f"# The run of Monday, 3.5 hours\n\n{text}")
    views = Session.load([tmp_path]).ordered()
    assert [tuple(view.run.sources) for view in views] == [("training_log.md",)]
    found = read_whole(FORMAT, MemFile("training_log.md", (tmp_path / "training_log.md").read_bytes()))
    rewards = [(step, value) for tag, step, _, value in points(found) if tag == "Reward"]
    assert rewards == [(k, k + 0.5) for k in range(1, 9)]


def test_notes_without_metrics_are_no_problem(tmp_path: Path) -> None:
    """A diary may have the name of a log."""
    (tmp_path / "training_log.md").write_text(
        "# Monday\n\nThe reward rose from -699 to -545 over 3000 steps.\n"
    )
    assert not delivered_once([tmp_path]).problems


def test_it_is_no_run_of_its_own_beside_a_proper_log(tmp_path: Path) -> None:
    """Beside, above or below a log of another format it says again what that says."""
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "metrics.jsonl").write_text(
        "".join(f'{{"step": {k}, "loss": 0.{k}123456}}\n' for k in range(1, 20))
    )
    lines = "".join(f"Step {k} | Loss: 0.{k:02d} | Time: 1.5s\n" for k in range(1, 20))
    for place in ("nohup.out", "run/logs/trainer.log"):
        path = tmp_path / place
        path.parent.mkdir(exist_ok=True)
        path.write_text(lines)
    delivered = delivered_once([tmp_path])
    assert list(delivered.runs()) == ["run"]


CONSOLE = "".join(
    f"Episode {k} | Reward: {k}.5\r\nwarning: {k}\nbest score: {k}\n" for k in range(1, 30)
).encode()
CONSOLE += (KERAS + PUFFER + GARAGE + ELEGANT + PRINTED).encode()


_BATCH = (
    "GRPO Iteration:  {k} Epoch:  0 Microbatch:  {part} / 3\n[MEM cuda:1][after step] alloc={part}.25 GB\n"
)
_EVALUATED = (
    "GRPO Iteration {k}, Epoch 0, Evaluating...\n"
    "Processed prompts: 100%|█| 1319/1319 [00:34<00:00, 38.73it/s, est. input: 66.24, output: {k}.5]\n"
    "Question: text\nhistogram:  {{'both rewards 1': {k}, 'format reward 1 and answer reward 0': 38}}\n"
    "Share of correct examples:  0.{k}\n"
)
ITERATIONS = "".join(
    "".join(_BATCH.format(k=k, part=part) for part in range(3)) + _EVALUATED.format(k=k) for k in range(1, 9)
)


@given(st.lists(st.integers(0, len(ITERATIONS)), max_size=6))
def test_values_below_an_evaluation_are_those_of_it(cuts: list[int]) -> None:
    """Parts of a batch, a bar of the sampler, and counts of answers are no values, however cut."""
    data = ITERATIONS.encode()
    assert holds_metrics(data)
    batches = read_in_pieces(FORMAT, "loop_log.txt", cut(data, cuts))
    assert [(tag, step, value) for tag, step, _, value in points(batches)] == [
        ("eval/Share of correct examples", k, k / 10) for k in range(1, 9)
    ]


@pytest.mark.parametrize("text", ["", "Model saved.\n", "==== update ====\ntook 3 seconds in total\n"])
def test_values_after_those_of_an_evaluation_are_of_the_training(text: str) -> None:
    """The heading of an evaluation names the values below it until other text follows them."""
    rows = read(
        "".join(
            f"Iteration {k}, evaluating...\nrunning\naccuracy: 0.{k}\n{text}loss: 0.25\n" for k in range(1, 9)
        )
    )
    role = "" if text else "eval/"
    for key in ("eval/accuracy", f"{role}loss"):
        assert [step for step, numbers in rows if key in numbers] == [*range(1, 9)]


def test_lines_above_values_are_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of values without a counter above them cost few more lines than they are."""
    parsed: list[str] = []
    monkeypatch.setattr(labelled_console, "items", lambda text: parsed.append(text) or items(text))
    lines = [f"note {k}, b\n" * 30 + f"n{k % 16} loss: 0.5\n" for k in range(240)]
    assert not labelled_console._holds_lines_far_apart("".join(lines).encode())
    assert len(parsed) <= 240 + 360
    assert labelled_console._holds_lines_far_apart(ITERATIONS.encode())


UNCOUNTED = b"loading\n" + b"".join(b"reward: %d.5, loss: 0.25\n" % k for k in range(1, 20))


@given(st.lists(st.integers(0, len(UNCOUNTED)), max_size=6))
def test_any_cut_of_lines_without_a_counter_gives_the_same_points(cuts: list[int]) -> None:
    """Their numbers are their steps, however the bytes arrive."""
    found = points(read_in_pieces(FORMAT, "train.log", cut(UNCOUNTED, cuts)))
    assert found == points(read_whole(FORMAT, MemFile("train.log", UNCOUNTED)))
    assert [(step, value) for tag, step, _, value in found if tag == "reward"] == [
        (k, k + 0.5) for k in range(1, 20)
    ]


def test_lines_without_a_counter_are_counted_and_said_to_be() -> None:
    """Enough lines with the same names, one of them typical; none where another line has a counter."""
    whole = read_whole(FORMAT, MemFile("train.log", UNCOUNTED))
    assert "counted-steps" in {problem.code for problem in whole.problems}
    few = "reward: 1.5, loss: 0.25\n" * (MIN_UNCOUNTED - 1)
    assert read(few) == []
    assert read("requests: 3, bytes: 70\n" * 30) == []
    assert read("reward: 3.5\n" * 30) == []
    counted = read("".join(f"step {k} reward: 1.5, loss: 0.25\n{few}" for k in range(1, 9)))
    assert {step for step, _ in counted} == set(range(1, 9))
    lines = ["loss: 0.5 lr: 0.1\n" * 10 + f"eval_loss: {k}.5 eval_acc: 0.5\n" for k in range(9)]
    assert [step for step, numbers in read("".join(lines)) if "eval_loss" in numbers] == [*range(10, 91, 10)]


REPORT = (
    "[2023-01-15 12:05:31,110][00305] Fps is (10 sec: {}, 60 sec: 50.5, 300 sec: nan). Total num frames: {}. "
)
REPORT += "Throughput: 0: {}, 1: 12.5. Samples: {}. Policy #0 lag: (min: {}, avg: {}, max: {})\n"
RETURN = "[2023-01-15 12:05:31,111][00305] Avg episode reward: [(0, '{}'), (1, '4.127')]\n"
SAMPLE_FACTORY = "\x1b[36m" + REPORT.format("nan", 0, "nan", 0, *3 * ["-1.0"])
for k in range(1, 12):
    lag = 3 * ["-1.0"] if k < 5 else ["0.0", "0.5", "2.0"]
    SAMPLE_FACTORY += REPORT.format(f"{k}00.5", k * 4096, "20.5", k * 1024, *lag) + RETURN.format(f"-{k}.5")
    SAMPLE_FACTORY += (
        "[2023-01-15 12:05:32,000][00390] Updated weights for policy 0, policy_version 9 (0.0015)\n"
    )


def test_reports_of_sample_factory_are_rewritten_as_labelled_numbers() -> None:
    """The shortest period and the first policy count; what is not known yet, nan and -1.0, is no value."""
    rows = read(SAMPLE_FACTORY)
    assert sorted((step, row) for step, row in rows if "Fps" not in row) == [
        (k * 4096, {"Avg episode reward": -k - 0.5}) for k in range(1, 12)
    ]
    reports = [(step, row) for step, row in rows if "Fps" in row]
    rates = [
        (k * 4096, {"Fps": 100 * k + 0.5, "Throughput": 20.5, "Samples": 1024.0 * k}) for k in range(1, 12)
    ]
    lag = {"Policy lag min": 0.0, "Policy lag avg": 0.5, "Policy lag max": 2.0}
    assert reports == [*rates[:4], *((step, row | lag) for step, row in rates[4:])]


@pytest.mark.parametrize(
    "data", [CONSOLE, PHASES.encode(), SAMPLE_FACTORY.encode()], ids=["lines", "phases", "reports"]
)
@given(shares=st.lists(st.floats(0, 1), max_size=8))
def test_any_cut_gives_the_same_points(data: bytes, shares: list[float]) -> None:
    """However the bytes arrive; steps that are counted on do not depend on the looks in which they came."""
    whole = points(read_whole(FORMAT, MemFile("train.log", data)))
    cuts = [int(share * len(data)) for share in shares]
    assert len(whole) > 30 and points(read_in_pieces(FORMAT, "train.log", cut(data, cuts))) == whole


def test_keys_of_such_reports_tell_their_framework_and_their_metrics() -> None:
    """As those of its event files do, before the first update of weights as well."""
    early = {key for _, row in read(SAMPLE_FACTORY) if "Policy lag avg" not in row for key in row}
    for keys in (early, {key for _, row in read(SAMPLE_FACTORY) for key in row}):
        label = recognise(keys).label
        names = MetricNames(label)
        assert label == "sample-factory"
        assert all(names.name(key).recognised for key in keys)


def test_a_line_without_its_end_is_not_read() -> None:
    """It may be cut inside a number."""
    data = b"".join(b"step %d loss: 0.%d25\n" % (k, k) for k in range(1, 9))
    batch = read_whole(FORMAT, MemFile("a.log", data + b"step 9 loss: 0.9"))
    assert batch.step.tolist() == list(range(1, 9)) and "torn-tail" in {each.code for each in batch.problems}


def test_a_dictionary_behind_a_counter_is_none_of_the_trainer() -> None:
    """Hugging Face's Trainer adds its epoch to each row; a loop of one's own says its step before it."""
    own = "".join(f"Episode {k}: {{'reward': {k}.5, 'loss': 0.{k}}}\n" for k in range(1, 9)).encode()
    known = REGISTRY.recognise("a.log", own)
    assert known is not None and known.name == "labelled"
    assert len(read_whole(known, MemFile("a.log", own)).step) == 16


def test_proper_formats_are_asked_first() -> None:
    """A console with dictionaries or tables is read by what they say."""
    known = REGISTRY.recognise("a.log", b"step:1 - actor/pg_loss:0.5\n" * 3)
    assert known is not None and known.name == "console"


@pytest.mark.parametrize(
    ("lines", "planned"),
    [
        ([f"Episode {n}/500 | Reward: {n}.5" for n in range(1, 9)], 500),
        ([f"Epoch:[{e}/2]({n}/100), loss: 0.5" for e in (1, 2) for n in (50, 100)], 200),
        ([f"Epoch:[{e}]({n}/100), loss: 0.5" for e in (1, 2) for n in (50, 100)], 0),
        ([f"train: {n}%|█| {n}/100 [00:01<00:02, 1.0it/s, reward={n}.5]" for n in range(1, 9)], 100),
        ([f"Phase {p} step {n}/4 loss: 0.5" for p in (1, 2, 3) for n in range(1, 5)], 0),
        ([f"step {n}0/900 return: 0.5" for n in range(3, 9)] + ["[eval] step 5/5 return: 1"] * 3,
         900),
        ([f"Episode {n} | Reward: {n}.5" for n in range(1, 9)], 0),
    ],
)  # fmt: skip
def test_planned_steps_of_counters(lines: list[str], planned: int) -> None:
    """`12/500` plans 500 steps, epochs times batches where both are said; one begun again none."""
    file = MemFile("console.log", "\n".join([*lines, ""]).encode())
    totals = [text.body for text in read_whole(FORMAT, file).texts if text.kind == "total-steps"]
    assert int(totals[-1] if totals else 0) == planned


def test_a_bar_for_each_epoch_counts_on() -> None:
    """The last batch of an epoch stands again in the next one's bar (Lightning)."""
    lines = []
    for epoch in range(3):
        for batch in (*((10,) if epoch else ()), 5, 10):
            loss = 1 / (epoch + 1 - (batch == 10 and len(lines) % 4 == 3) + batch / 100)
            lines.append(
                f"Epoch {epoch}: 50%|###  | {batch}/10 [00:20<02:19, 2.5it/s, loss={loss:.4f}, v_num=0]"
            )
        lines.append(
            f"Epoch {epoch}, global step {10 * epoch + 10}: 'val' reached 0.5 (best 0.5), saving model to 'x'"
        )
    found = read("\n".join(lines))
    assert {step for step, _ in found} >= {5, 10, 15, 20, 25, 30}
    assert all(numbers.keys() == {"loss"} for _, numbers in found)
    alone = [
        f"Epoch {epoch}: 100%|##| 10/10 [00:20<00:00, 2.5it/s, loss=0.{9 - epoch}]" for epoch in range(5)
    ]
    assert [step for step, _ in read("\n".join(alone))] == [10, 20, 30, 40, 50]


def test_a_coarse_line_before_its_fine_one_stands_at_the_last_step() -> None:
    """Epoch 3 begins with a line that names no step yet: it stands where epoch 2 had come to."""
    lines = [f"Epoch {k}, step {100 * k}, loss: 0.{k}\nEpoch {k + 1} val_loss: 1.{k}" for k in range(1, 6)]
    steps = [step for step, numbers in read("\n".join(lines)) if "val_loss" in numbers]
    assert steps == [100, 200, 300, 400, 500]


def test_steps_of_deepspeed_chat() -> None:
    """The score stands some lines below the losses of its step; evaluations of rewards say what is better."""
    lines = []
    for step in range(4):
        lines += [
            f"Epoch: 0 | Step: {step} | PPO Epoch: 1 | Actor Loss: 0.{step}5 | Critic Loss: 0.1",
            f"End-to-End => Latency: 9.{step}s, TFLOPs: 5.4, Samples/sec: 3.3, Time/seq 0.30s",
            "Generation => Latency: 5.1s, Per-token Latency 20.3 ms, TFLOPs: 2.4, Answer Seq. Length: 256",
            "Training   => Latency: 3.1s, TFLOPs: 10.4",
            "Actor Model Parameters => 1.316 B, Critic Model Parameters => 0.331 B",
            f"Average reward score: -{step}.5 | EMA reward score: -{step}.25",
            "-" * 60,
        ]
    scores = [
        (step, row["EMA reward score"]) for step, row in read("\n".join(lines)) if "EMA reward score" in row
    ]
    assert scores == [(step, -step - 0.25) for step in range(4)]
    timed = [row["End-to-End latency"] for _, row in read("\n".join(lines)) if "End-to-End latency" in row]
    assert timed == [9.0, 9.1, 9.2, 9.3]


def test_steps_of_deepspeed() -> None:
    """It prints its schedule and its timers itself; other ranks repeat the steps of the first one."""
    at, lines = "[2026-03-01 10:01:00,1] [INFO] ", []
    for step in range(10, 60, 10):
        lines += [
            *(f"Epoch: 0, Step: {step}, Rank: {rank}, loss = {step + rank}.5" for rank in (1, 0)),
            f"{at}[logging.py:96:log_dist] [Rank 0] step={step}, skipped=0, lr=[9.6e-06], mom=[(0.9, 0.95)]",
            f"{at}[timer.py:199:stop] epoch=0/micro_step={2 * step}/global_step={step}, "
            "RunningAvgSamplesPerSec=15.5, CurrSamplesPerSec=15.75, MemAllocated=4.5GB",
        ]
    whole: dict[int, dict[str, object]] = {}
    for step, row in read("\n".join(lines)):
        whole.setdefault(step, {}).update(row)
    expected = {"skipped": 0, "lr": 9.6e-06, "RunningAvgSamplesPerSec": 15.5, "CurrSamplesPerSec": 15.75}
    expected["MemAllocated"] = 4.5
    assert whole == {step: {"loss": step + 0.5, **expected} for step in range(10, 60, 10)}


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        (
            "[Iteration {k}]: Train/NumEpisodes = {k}\n[Iteration {k}]: Train/AverageReturns = 1.5",
            "Train/NumEpisodes",
        ),
        ("[INFO] X. Step: {k}. Mean Reward: 0.5. Not Training. ELO: {k}.", "ELO"),
        (
            "{pad}Steps Env: {k} Log: 1\n{pad}Episode sum_reward: {k}.0\n{pad}Train v_loss: 0.5",
            "Episode sum_reward",
        ),
        ("{k}000: mean episode reward={k}.0", "mean episode reward"),
    ],
)
def test_lines_of_frameworks(line: str, expected: str) -> None:
    """dopamine/metrics/console_collector.py, mlagents/trainers/stats.py, brax/training/logger.py."""
    text = "\n".join(line.format(k=k, pad=" " * 20) for k in range(1, 6))
    found = [row[expected] for _, row in read(text) if expected in row]
    assert found == [1, 2, 3, 4, 5]


@pytest.mark.parametrize(
    ("line", "hparams"),
    [
        (
            "{'LR': 0.00025, 'ENV_NAME': 'CartPole-v1', 'GAMMA': 0.99, 'DEBUG': True}",
            {"LR": 0.00025, "ENV_NAME": "CartPole-v1", "GAMMA": 0.99, "DEBUG": True},
        ),
        (
            "args: Namespace(env_id='Pong-v5', lr=-1e-4, hidden=[64, 64], device=device('cpu'), cuda=False)",
            {"env_id": "Pong-v5", "lr": -1e-4, "hidden": [64, 64], "cuda": False},
        ),
        (
            "Args(env_id='Hopper-v4', seed=1, torch_deterministic=True, gamma=0.99)",
            {"env_id": "Hopper-v4", "seed": 1, "torch_deterministic": True, "gamma": 0.99},
        ),
        ("Dropout(p=0.1, inplace=False, a=1, b='c')", None),
        ("{'loss': 0.5, 'grad_norm': 1.5, 'reward': 0.25, 'epoch': 0.5}", None),
        ("{'loss': '0.5', 'grad_norm': '1.5', 'reward': '0.25', 'epoch': '0.5'}", None),
        ("{'a': 'b'}", None),
        ("{'level': 'info', 'event': 'done', 'episode': 7, 'reward': 2.5}", None),  # of a structured logger
        ("{" * 5000, None),
        ("Namespace(lr=__import__('os').system('true'), a=1, b=2, c='x')", None),
    ],
)
def test_settings_that_a_loop_prints_are_hyperparameters(
    line: str, hparams: dict[str, object] | None
) -> None:
    """A dictionary or a namespace with words or switches, in one line; nothing in it is evaluated."""
    assert printed_hparams(line) == hparams


def test_printed_settings_come_before_metrics(tmp_path: Path) -> None:
    """Of a console the first such line counts, however it is cut; a later one is part of the output."""
    lines = ["{'env_id': 'CartPole-v1', 'lr': 0.001, 'seed': 1, 'cuda': False}"]
    lines += [f"Episode {k} | Avg Reward: {k + 0.5}" for k in range(1, 9)]
    lines += ["{'env_id': 'Pong-v5', 'lr': 0.1, 'seed': 2, 'cuda': True}"]
    (tmp_path / "train.log").write_text("\n".join(lines) + "\n")
    (view,) = Session.load([tmp_path]).runs.values()
    assert view.run.hparams == {"env_id": "CartPole-v1", "lr": 0.001, "seed": 1, "cuda": False}
    assert view.run.points == 8


def test_nested_names_below_a_step_have_those_above_them() -> None:
    """YAML below a counter, as EasyR1 prints it: entries of one name in several groups are several series."""
    block = (
        "Step {0}\nactor:\n  pg_loss: 0.{0}\ncritic:\n  rewards:\n    mean: {0}.5\n  score:\n    mean: -{0}\n"
    )
    rows = read("".join(map(block.format, range(1, 6))))
    merged: dict[str, object] = {}
    for step, numbers in rows:
        merged |= numbers if step == 2 else {}
    assert merged == {"actor/pg_loss": 0.2, "critic/rewards/mean": 2.5, "critic/score/mean": -2.0}


@pytest.mark.parametrize(
    "row", ["Эпизод {0}, Награда: {0}.5\n", "Bölüm {0}, Ödül: {0}.5\n", "第{0}回合 奖励：{0}.5\n"]
)
def test_a_console_in_another_language_is_a_log(row: str) -> None:
    """Words with other letters than those of ASCII are recognised in capitals, too."""
    assert holds_metrics("".join(map(row.format, range(9))).encode())


def test_values_with_a_dictionary_among_them_are_those_of_the_counter_above() -> None:
    """The counter is in a sentence on the line before; the name of the dictionary is no other text."""
    lines = [
        f"2026-01-02 03:0{k}:00,123 - train - INFO - rollout batch {k} generated, length: 256\n"
        f"2026-01-02 03:0{k}:09,123 - train - INFO - rl_loss: 0.{k}, d: {{'n': 8, 'total_reward': {k}.0}}\n"
        for k in range(1, 6)
    ]
    data = "".join(lines).encode()
    assert holds_metrics(data)
    found = points(read_whole(FORMAT, MemFile("rl.log", data)))
    assert [(step, value) for tag, step, _, value in found if tag == "rl_loss"] == [
        (k, k / 10) for k in range(1, 6)
    ]
    assert [value for tag, _, _, value in found if tag == "total_reward"] == [1.0, 2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("at LR 1, LRs, clr: 2\nREWARD 3", ["LR", "REWARD"]),
        ("Episode 1 episodes_left R: -3 CoRReCt incorrect", ["Episode", "R:", "CoRReCt"]),
        ("9 Награда награды Ödül ödül", ["Награда", "награды", "Ödül", "ödül"]),
        ("step 3 took 5 s", []),
    ],
)
def test_telling_words_are_found_in_any_case(text: str, words: list[str]) -> None:
    """Those that are words of their own are not found within others, and all in the order of the text."""
    data, found = text.encode(), []
    telling = labelled_console._TellingWords(data)
    while (at := telling.next_from(found[-1] + 1 if found else 0)) is not None:
        found.append(at)
    assert [data[at:].decode().split()[0] for at in found] == words
